"""`wmsd doctor`."""

import os
import sys
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any, Final

import click

from wmsd.app import clock_watch
from wmsd.app.doctor import Findings
from wmsd.app.examination import Examination, Report
from wmsd.app.oversight.kept_findings import PLATFORM, examined
from wmsd.interfaces.cli.command_line import CommandLine, fail, installed, json_option, note, say
from wmsd.interfaces.cli.progress_bar import say_line

MOST_PLACES: Final = 3
LOW_PRIORITY: Final = 10


@click.command("doctor")
@click.option("--company", "codes", multiple=True, metavar="CODE", help="Only this one; repeat it for several.")
@click.option("--progress", "has_progress", is_flag=True, hidden=True, help="Tell the server how far it is.")
@json_option
@installed
def doctor_command(command_line: CommandLine, codes: tuple[str, ...], has_progress: bool, as_json: bool) -> None:
    """Check that every company's figures are right.

    It checks that every stock balance is the sum of its ledger and of the open reservations, that every packaging
    balance is the sum of its movements, that every order has reserved and shipped what its lines say, and that the
    files are whole, platform.db too. It ends with a verdict for each file. When something is wrong, it names the
    records that differ and the tables that are damaged, and exits with 1. It only reads, and works beside a
    running server.
    """
    with command_line.beside() as borrow:
        examination = Examination(command_line.folder, borrow)
        if has_progress:
            _for_server(examination)
            return
        known = examination.clock()
        if known is not None and known.doubted_since is not None:
            note(f"{clock_watch.sentence(known.doubted_since, known.step)}.")
        reports = _examine(examination, codes)
    if as_json:
        say([_as_json(report) for report in reports], as_json)
    else:
        for tell in (_tell_findings, _tell_verdict):
            for report in reports:
                tell(report)
    if not all(report.is_right for report in reports):
        sys.exit(1)


def _examine(examination: Examination, codes: tuple[str, ...]) -> list[Report]:
    known = examination.companies()
    if known is None and codes:
        return [examination.unknown(code) for code in codes]
    unknown = sorted(set(codes) - set((known or {}).values()))
    if unknown:
        fail([f"There is no company {code}." for code in unknown])
    chosen: list[tuple[int, str | None]] = [(company_id, None) for company_id in examination.files()]
    if known is not None:
        chosen = [(company_id, code) for company_id, code in known.items() if not codes or code in codes]
    reports = [] if codes else [examination.platform()]
    with _progress(chosen) as companies:
        return [*reports, *(examination.company(*company) for company in companies)]


def _for_server(examination: Examination) -> None:
    """Tells the server of each file, before it is examined and after. Requests go first: at a low priority."""
    os.nice(LOW_PRIORITY)
    known = examination.companies()
    companies: list[tuple[int, str | None]] = (
        [(company_id, None) for company_id in examination.files()] if known is None else [*known.items()]
    )
    of = len(companies) + 1
    say_line({"name": PLATFORM, "done": 0, "all": of})
    say_line({"examined": examined(examination.platform())})
    for done, (company_id, code) in enumerate(companies, start=1):
        say_line({"name": code or f"company {company_id}", "done": done, "all": of})
        say_line({"examined": examined(examination.company(company_id, code))})


def _progress(chosen: list[tuple[int, str | None]]) -> Any:
    """On a terminal, shows how many files there are and which one is examined."""
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


def _tell_findings(report: Report) -> None:
    if report.findings is None:
        return
    for damage in report.findings.damages:
        more = f" (and {len(damage.messages) - 1} more)" if len(damage.messages) > 1 else ""
        click.echo(f"{report.name}: {report.file} is damaged, {damage.place}: {damage.messages[0]}{more}")
    for difference in report.findings.differences:
        click.echo(
            f"{report.name}: {difference.promise}; but {difference.record}: "
            f"{difference.found} instead of {difference.expected}"
        )


def _tell_verdict(report: Report) -> None:
    note(f"{report.name}: {report.error if report.findings is None else _verdict(report, report.findings)}")


def _verdict(report: Report, found: Findings) -> str:
    not_right = [
        _count(len(found.differences), "difference"),
        _count(len(found.unproved), "check") + " could not be made" if found.unproved else "",
    ]
    if found.damages:
        places = [damage.place for damage in found.damages]
        more = [f"{len(places) - MOST_PLACES} more places"] if len(places) > MOST_PLACES else []
        where = ", ".join([str(report.file), *places[:MOST_PLACES], *more])
        return "; ".join(filter(None, [f"damaged: {where}", *not_right])) + ". Restore it from a backup."
    if found.are_none:
        not_right = ["everything is right"]
    rate = round(found.rows / found.seconds) if found.seconds else 0
    counted = f"{found.rows} rows, {rate} a second" if found.rows else ""
    return "; ".join(filter(None, [*not_right, counted])) + "."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number > 1 else ''}" if number else ""
