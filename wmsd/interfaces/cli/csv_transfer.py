"""`wmsd import`, `wmsd export`."""

import shutil
import sys
import textwrap
from contextlib import closing
from tempfile import SpooledTemporaryFile
from typing import IO

import click

from wmsd.app.csv_rows import Unreadable
from wmsd.app.csv_transfer import KINDS, DryRun, export_csv, import_beside
from wmsd.app.installation import Installation
from wmsd.base.importing import CellError, ImportRefused, Outcome
from wmsd.base.validation import check
from wmsd.db.staging import Staging
from wmsd.db.statistics import refresh_statistics
from wmsd.interfaces.cli import stock_changes
from wmsd.interfaces.cli.command_line import CommandLine, fail, installed, json_option, note, say
from wmsd.interfaces.cli.company_data import company_database
from wmsd.interfaces.cli.import_progress import ShownProgress
from wmsd.stock.counting import CountOutcome
from wmsd.stock.schema import Reason

MOST_ERRORS_SHOWN = 50
SPOOLED_BYTES = 16 * 1024 * 1024
"""The bytes of an export in memory; a larger one is in a temporary file. So a slow reader holds up nothing."""
KINDS_NAMED = "\b\n" + textwrap.fill(f"KIND is one of {', '.join(KINDS)}.", 76, break_on_hyphens=False)
"""Wrapped here, because click would break the names at their hyphens."""


@click.command("import", epilog=KINDS_NAMED)
@click.argument("kind", type=click.Choice(list(KINDS)), metavar="KIND")
@click.argument("file", type=click.File("rb"), metavar="FILE.csv")
@click.option("--company", "code", required=True, metavar="CODE", help="The company.")
@click.option("--dry-run", is_flag=True, help="Check everything, change nothing.")
@click.option("--complete", is_flag=True, help="stock-count: what the file leaves out was not found.")
@click.option("--reason", metavar="TEXT", help="stock-count: why, for the ledger.  [default: stock count]")
@json_option
@installed
def import_command(
    command_line: CommandLine,
    kind: str,
    file: IO[bytes],
    code: str,
    dry_run: bool,
    complete: bool,
    reason: str | None,
    as_json: bool,
) -> None:
    """Import a CSV file with records of one KIND; `-` reads standard input.

    The first line names the columns, which are the field names of the resource. Columns such as client_code,
    partner_code, article_code and warehouse_code refer to other records by their codes. A row with a known code
    changes that record; a row with a new code creates one. When a column is missing, that field stays as it is.
    Stock rows say how much there is now. Sales orders have a row for each line, and are moved to the status of
    their rows. All rows are imported, or none; each error is shown with its row and column.

    A stock-count may name lots and serials. Then the rows of an article in a warehouse must list all that is
    there: lots and serials that they leave out are removed from stock. With --complete, articles without a row
    count 0 in each warehouse that the file names. The import shows what it changes; look at that first, with
    --dry-run.
    """
    options = _options(kind, complete=complete or None, reason=reason)
    if command_line.folder.is_made and not dry_run:
        command_line.folder.check_room()

    async def find(installation: Installation) -> Staging:
        return (await company_database(installation, code)).staging()

    with command_line.beside() as borrow, closing(command_line.run_with(borrow, find)) as staging:
        try:
            outcome = _take_in(staging, kind, file, dry_run, options)
        except Unreadable as error:
            fail([f"{file.name}: {error}"])
        except ImportRefused as refused:
            _refuse(refused.outcome, as_json)
        except DryRun as dry:
            outcome = dry.outcome
        except KeyboardInterrupt:
            fail(["Interrupted: nothing was imported."])
    shown = {"created": outcome.created, "updated": outcome.updated, "unchanged": outcome.unchanged}
    changed = outcome.changed if isinstance(outcome, CountOutcome) else None
    if changed and not as_json:
        stock_changes.show(changed, "counted")
        click.echo()
    told = {} if changed is None or not as_json else stock_changes.as_json(changed, "counted")
    say({"kind": kind, **shown, "dry_run": dry_run, **told}, as_json)
    if dry_run:
        note("Nothing was changed: this was a dry run.")


def _options(kind: str, **given: object) -> dict[str, object]:
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in KINDS[kind].options:
            kinds = [other for other in KINDS if name in KINDS[other].options]
            raise click.UsageError(f"--{name} goes with {', '.join(kinds)} only.")
    if "reason" in options:
        check(Reason, {"reason": options["reason"]})
    return options


def _take_in(staging: Staging, kind: str, file: IO[bytes], dry_run: bool, options: dict[str, object]) -> Outcome:
    with ShownProgress(kind, file) as progress:
        outcome = import_beside(staging, KINDS[kind], progress.lines(), dry_run, progress, **options)
    staging.write(refresh_statistics)
    return outcome


def _refuse(outcome: Outcome, as_json: bool) -> None:
    errors = outcome.errors
    if as_json:
        say(
            {"errors": [{"row": e.line or None, "column": e.column, "message": e.sentence} for e in errors]},
            as_json,
        )
    sentences = [f"{_where(error)}: {error.sentence}." for error in errors]
    more = len(sentences) - MOST_ERRORS_SHOWN
    sentences = sentences[:MOST_ERRORS_SHOWN] + ([f"… and {more} more."] if more > 0 else [])
    fail([*sentences, "Nothing was imported. Mend the rows above and import the whole file again."])


def _where(error: CellError) -> str:
    row = f"row {error.line}" if error.line else ""
    return ", ".join(part for part in (row, error.column) if part)


@click.command("export", epilog=KINDS_NAMED)
@click.argument("kind", type=click.Choice(list(KINDS)), metavar="KIND")
@click.option("--company", "code", required=True, metavar="CODE", help="The company.")
@installed
def export_command(command_line: CommandLine, kind: str, code: str) -> None:
    """Write all records of one KIND as CSV on standard output.

    `wmsd import` takes the file back unchanged.
    """

    with SpooledTemporaryFile(SPOOLED_BYTES, "w+", encoding="utf-8", newline="") as spool:

        async def work(installation: Installation) -> int:
            database = await company_database(installation, code)
            return await database.read_long(lambda tx: export_csv(tx, KINDS[kind], spool))

        count = command_line.run(work)
        spool.seek(0)
        shutil.copyfileobj(spool, sys.stdout)
    sys.stdout.flush()
    note(f"{count} rows.")
