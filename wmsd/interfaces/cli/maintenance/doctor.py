"""The command `wmsd doctor`."""

import os
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any, Final

import click

from wmsd.base.byte_sizes import size_text
from wmsd.base.plurals import count_of
from wmsd.contract.findings import Finding
from wmsd.data_folder.lending import read_only_view
from wmsd.data_folder.names import PLATFORM_FILE
from wmsd.data_folder.platform_loss import restoring_platform
from wmsd.db.engine.sqlite import bytes_on_disk
from wmsd.interfaces.cli.kit.audit_notes import audit_fixes
from wmsd.interfaces.cli.kit.command_line import (
    CommandLine,
    fail,
    json_option,
    note,
    say,
    say_text,
    with_installation_despite_errors,
)
from wmsd.interfaces.cli.kit.progress_bar import say_line
from wmsd.interfaces.cli.maintenance.findings import (
    diagnose_installation,
    find_data,
    finding_as_json,
    fix_findings,
    fix_indexes,
    print_findings,
    verdict_of_findings,
)
from wmsd.maintenance.backups.newest_backup import BackupsIn, newest_with
from wmsd.maintenance.doctor.examine import Examination, Report
from wmsd.maintenance.file_checks.company_checks import Findings
from wmsd.platform.admin_view.findings_file import diagnosis_as_json, report_as_json

MOST_PLACES: Final = 3
LOW_PRIORITY: Final = 10
SOMETHING_WRONG: Final = 1
ONLY_WARNINGS: Final = 3
"""The exit status if there are warnings and no errors. It is not 2, because click exits with 2 if it does not
understand the command line.
"""


@click.command("doctor")
@click.option(
    "--company",
    "codes",
    multiple=True,
    metavar="CODE",
    help="Check only this company; repeat the option for several.",
)
@click.option(
    "--fix",
    "is_fix",
    is_flag=True,
    help="Fix what can be fixed safely: permissions, leftover files, search indexes.",
)
@click.option("--dry-run", "is_dry_run", is_flag=True, help="With --fix: show the fixes, but change nothing.")
@click.option("--progress", "has_progress", is_flag=True, hidden=True, help="Report the progress to the server.")
@json_option
@with_installation_despite_errors
def doctor_command(
    command_line: CommandLine,
    codes: tuple[str, ...],
    is_fix: bool,
    is_dry_run: bool,
    has_progress: bool,
    as_json: bool,
) -> None:
    """Check the installation, and that all numbers of every company are right.

    The doctor checks that every stock balance is the sum of its ledger, and that its reserved part is the sum of
    the open reservations. Every packaging balance must be the sum of its movements. The reserved and shipped
    quantities of every order must match its lines. All files, also platform.db, must be undamaged and belong to
    this installation. The doctor also checks permissions, disks, the clock, the address and the certificate. Each
    finding says what to do.

    The command exits with 1 if there is an error, with 3 if there are only warnings, and with 0 if it finds
    nothing. Without --fix the command writes nothing, so you can run it while the server works, and on a read-only
    copy.
    """
    if is_dry_run and not is_fix:
        raise click.UsageError("Use --dry-run only with --fix.")
    if is_fix and codes:
        raise click.UsageError("--fix works on the whole installation. Leave out --company.")
    began = time.perf_counter()
    find_data(command_line)
    with read_only_view(command_line.folder) as borrow:
        examination = Examination(command_line.folder, borrow)
        examination.companies()
        if has_progress:
            _for_server(command_line, examination)
            return
        fixed: list[dict[str, Any]] = []
        if is_fix:
            fixed = fix_findings(diagnose_installation(command_line, examination, measured=False), is_dry_run)
            examination.companies()
            fixed += fix_indexes(examination, is_dry_run)
        reports = _examine(examination, codes)
        found = [] if codes else diagnose_installation(command_line, examination)
    audit_fixes(command_line, fixed)
    sums = _counted(reports, time.perf_counter() - began)
    if as_json:
        entries = [_as_json(report) for report in reports]
        say(entries if codes else [*entries, _installation(command_line, found, fixed, sums)], as_json)
    else:
        for report in reports:
            _print_findings(report)
        for report in reports:
            verdict = report.error if report.findings is None else _verdict(command_line, report, report.findings)
            note(f"{report.name}: {verdict}")
        if not codes:
            print_findings(found, is_dry_run=is_dry_run)
            note(f"Installation: {verdict_of_findings(found, all(report.is_right for report in reports))}.")
        note(
            f"Examined {count_of(sums['files'], 'file')} (companies: {sums['companies']}), "
            f"{count_of(sums['rows'], 'row')} and {size_text(sums['bytes'])}, in {sums['seconds']} s."
        )
    sys.exit(_status(reports, found))


def _counted(reports: Sequence[Report], seconds: float) -> dict[str, Any]:
    return {
        "files": len(reports),
        "companies": sum(report.file.name != PLATFORM_FILE for report in reports),
        "rows": sum(report.findings.rows for report in reports if report.findings is not None),
        "bytes": sum(bytes_on_disk(report.file) for report in reports),
        "seconds": round(seconds, 1),
    }


def _status(reports: Sequence[Report], found: Sequence[Finding]) -> int:
    if not all(report.is_right for report in reports) or any(finding.is_wrong for finding in found):
        return SOMETHING_WRONG
    return ONLY_WARNINGS if found else 0


def _installation(
    command_line: CommandLine, found: Sequence[Finding], fixed: list[dict[str, Any]], sums: dict[str, Any]
) -> dict[str, object]:
    """Return the last entry of the JSON output, which is about the installation. It has all fields of an entry
    about a file, and the additional fields `installation`, `fixed` and `counted`.
    """
    return {
        "company": None,
        "file": str(command_line.folder.path),
        "ok": not any(finding.is_wrong for finding in found),
        "rows": 0,
        "damage": [],
        "differences": [],
        "unproved": [],
        "installation": [finding_as_json(finding) for finding in found],
        "fixed": fixed,
        "counted": sums,
    }


def _examine(examination: Examination, codes: tuple[str, ...]) -> list[Report]:
    known = examination.codes
    if known is None and codes:
        return [examination.unknown(code) for code in codes]
    unknown = sorted(set(codes) - set((known or {}).values()))
    if unknown:
        fail([f"No company has the code {code}." for code in unknown])
    chosen = [each for each in examination.known_companies() if not codes or each[1] in codes]
    reports = [] if codes else [examination.platform()]
    with _progress(chosen) as companies:
        return [*reports, *(examination.company(*company) for company in companies)]


def _for_server(command_line: CommandLine, examination: Examination) -> None:
    """Examine all files at a low priority, and print lines of JSON for the server before and after each file."""
    os.nice(LOW_PRIORITY)
    companies = examination.known_companies()
    of = len(companies) + 1
    say_line({"name": PLATFORM_FILE, "done": 0, "all": of})
    say_line({"examined": report_as_json(examination.platform())})
    for done, (company_id, code) in enumerate(companies, start=1):
        say_line({"name": code or f"company {company_id}", "done": done, "all": of})
        say_line({"examined": report_as_json(examination.company(company_id, code))})
    say_line(diagnosis_as_json(diagnose_installation(command_line, examination)))


def _progress(chosen: list[tuple[int, str | None]]) -> Any:
    """Return a context that yields the companies. On a terminal, the context displays the progress."""
    if not sys.stderr.isatty():
        return nullcontext(chosen)
    return click.progressbar(
        chosen,
        label="Examining",
        show_pos=True,
        item_show_func=lambda company: company and (company[1] or f"company {company[0]}"),
        file=sys.stderr,
    )


def _as_json(report: Report) -> dict[str, object]:
    entry = {"company": report.company, "file": str(report.file), "ok": report.is_right}
    if report.findings is None:
        return {**entry, "error": report.error}
    found = report.findings
    return {
        **entry,
        "rows": found.rows,
        "damage": [asdict(each) for each in found.damages],
        "differences": [asdict(each) for each in found.differences],
        "unproved": [asdict(each) for each in found.unproved],
    }


def _print_findings(report: Report) -> None:
    if report.findings is None:
        return
    for damage in report.findings.damages:
        more = f" (and {len(damage.messages) - 1} more)" if len(damage.messages) > 1 else ""
        say_text(f"{report.name}: {report.file} is damaged, {damage.place}: {damage.messages[0]}{more}")
    for difference in report.findings.differences:
        say_text(
            f"{report.name}: {difference.promise}; but {difference.record}: "
            f"{difference.found} instead of {difference.expected}"
        )


def _verdict(command_line: CommandLine, report: Report, found: Findings) -> str:
    not_right = [
        count_of(len(found.differences), "difference") if found.differences else "",
        f"{count_of(len(found.unproved), 'check')} could not be run" if found.unproved else "",
    ]
    if found.damages:
        places = [damage.place for damage in found.damages]
        more = [f"{len(places) - MOST_PLACES} more places"] if len(places) > MOST_PLACES else []
        where = ", ".join([str(report.file), *places[:MOST_PLACES], *more])
        problems = "; ".join(filter(None, [f"damaged: {where}", *not_right]))
        if found.is_only_of_index:
            lost = "" if any(not_right) else ", and no records are lost"
            return f"{problems}. Only the search index is damaged: `wmsd doctor --fix` rebuilds it{lost}."
        return f"{problems}. Restore the file: {_restoring(command_line, report)}"
    if found.are_none:
        not_right = ["no errors"]
    rate = round(found.rows / found.seconds) if found.seconds else 0
    rows = f"{count_of(found.rows, 'row')}, {rate} a second" if found.rows else ""
    return "; ".join(filter(None, [*not_right, rows])) + "."


def _restoring(command_line: CommandLine, report: Report) -> str:
    """Return the command that restores the file of the report.

    If the code of a company is not known, the command restores everything.
    """
    data, backups = command_line.folder.path, command_line.backups
    if report.file == command_line.folder.platform_file:
        return restoring_platform(data, BackupsIn(backups))
    only = "" if report.company is None else f" --company {report.company}"
    return f"wmsd backup restore {newest_with(data, backups, report.company or PLATFORM_FILE)}{only}"
