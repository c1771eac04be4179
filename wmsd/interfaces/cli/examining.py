"""`wmsd doctor`."""

import sys
from dataclasses import asdict

import click

from wmsd.app import clock_watch
from wmsd.app.doctor import Findings, examine
from wmsd.app.site import Site
from wmsd.base.context import Company
from wmsd.base.problems import Problem
from wmsd.companies import store as companies
from wmsd.interfaces.cli.installation import Installation, fail, installed, json_option, note, say


@click.command("doctor")
@click.option("--company", "codes", multiple=True, metavar="CODE", help="Only this one; repeat it for several.")
@json_option
@installed
def doctor_command(installation: Installation, codes: tuple[str, ...], as_json: bool) -> None:
    """Prove that every company's figures are right.

    Every stock balance is the sum of its ledger and of the open reservations, every packaging balance that of its
    movements, every order holds and has shipped what its lines say, and the files are whole. Exits with 1, and
    names the records that differ, when that is not so. It only reads, and works beside a running server.
    """

    async def work(site: Site) -> list[tuple[Company, Findings | str]]:
        known = await site.platform.read(clock_watch.known)
        if known is not None and known.doubted_since is not None:
            note(f"{clock_watch.sentence(known.doubted_since, known.step)}.")
        every = await site.platform.read(companies.companies)
        chosen = [company for company in every if not codes or company.code in codes]
        unknown = sorted(set(codes) - {company.code for company in chosen})
        if unknown:
            fail([f"There is no company {code}." for code in unknown])
        return [(company, await _examine(site, company)) for company in chosen]

    found = installation.run(work)
    if as_json:
        say([_as_json(company, findings) for company, findings in found], as_json)
    else:
        for company, findings in found:
            _tell(company, findings)
    if any(isinstance(findings, str) or findings.differences for _, findings in found):
        sys.exit(1)


async def _examine(site: Site, company: Company) -> Findings | str:
    """What was found, or why the file cannot be looked at."""
    try:
        database = await site.files.get(company.id)
    except Problem:
        return site.files.failed[company.id]
    return await database.read_long(examine)


def _as_json(company: Company, findings: Findings | str) -> dict[str, object]:
    if isinstance(findings, str):
        return {"company": company.code, "ok": False, "error": findings}
    differences = [asdict(difference) for difference in findings.differences]
    return {"company": company.code, "ok": not differences, "rows": findings.rows, "differences": differences}


def _tell(company: Company, findings: Findings | str) -> None:
    if isinstance(findings, str):
        note(f"{company.code}: {findings}")
        return
    for difference in findings.differences:
        click.echo(
            f"{company.code}: {difference.promise}; but {difference.record}: "
            f"{difference.found} instead of {difference.expected}"
        )
    rate = round(findings.rows / findings.seconds) if findings.seconds else 0
    verdict = f"{len(findings.differences)} differences" if findings.differences else "everything is right"
    note(f"{company.code}: {verdict}; {findings.rows} rows, {rate} a second.")
