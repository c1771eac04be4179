"""`wmsd import`, `wmsd export`."""

import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, NoReturn

import click

from wmsd.base.decimal_marks import MARKS
from wmsd.base.plurals import count_of
from wmsd.contract.bulk_imports import ImportRefused, Outcome
from wmsd.contract.context import PROGRAM, Actor
from wmsd.contract.validation import validate_model
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.staging import Staging
from wmsd.db.sql.statistics import refresh_statistics
from wmsd.imports.csv_rows import NO_ROWS, Form, Unreadable
from wmsd.imports.disk_room import Room, staging_folder
from wmsd.imports.errors import Told, cells_to_ask, of_file
from wmsd.imports.file_form import DELIMITER_NAMES, ENCODINGS, Chosen, Guess, guess, lines_of
from wmsd.imports.file_kinds import KINDS, MODULE_OF, export_csv, import_beside
from wmsd.imports.preview import counts_of, errors_anyway, errors_for_people, evidence_of, form_in_words, preview
from wmsd.imports.store import Recording, TakenInAlready
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.files import import_undo, previews
from wmsd.interfaces.cli.files.errors_file import begin_errors_file, refuse_the_same, write_whole
from wmsd.interfaces.cli.files.import_progress import ShownProgress, progress_of
from wmsd.interfaces.cli.kit.audit_notes import audit_import
from wmsd.interfaces.cli.kit.command_line import CommandLine, fail, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.company_data import company_database, company_option, database_to_change, read_company
from wmsd.interfaces.cli.kit.subcommand_names import WithOthers
from wmsd.interfaces.cli.records import stock_changes
from wmsd.tenants.companies import actions as companies
from wmsd.warehouse.stock.counts import CountOutcome
from wmsd.warehouse.stock.schema import Reason

SPOOLED_BYTES = 16 * 1024 * 1024
"""The bytes of an export in memory; a larger one is in a temporary file. So a slow reader holds up nothing."""
KINDS_NAMED = "\b\n" + textwrap.fill(f"KIND is one of {', '.join(KINDS)}.", 76, break_on_hyphens=False)
"""Wrapped here, because click would break the names at their hyphens."""
OTHERS: Final = {"undo": import_undo.undo, "list": import_undo.show_list}
"""What stands in the place of a kind and is none."""
DELIMITERS: Final = {name: delimiter for delimiter, name in DELIMITER_NAMES.items()}
AS_GUESSED: Final = "  [default: as the file shows]"

Options = dict[str, Any]


@click.command("import", cls=WithOthers, others=OTHERS, epilog=KINDS_NAMED)
@click.argument("kind", type=click.Choice([*KINDS, *OTHERS]), metavar="KIND")
@click.argument("file", type=click.File("rb"), metavar="FILE.csv")
@company_option
@click.option("--decimal", type=click.Choice(MARKS), help=f"The decimal mark of the file.{AS_GUESSED}")
@click.option("--delimiter", type=click.Choice(list(DELIMITERS)), help=f"What separates cells.{AS_GUESSED}")
@click.option("--encoding", type=click.Choice(list(ENCODINGS)), help=f"How text is written.{AS_GUESSED}")
@click.option("--preview", "is_preview", is_flag=True, help="Show what would change, row by row; change nothing.")
@click.option("--dry-run", is_flag=True, help="Check and count only; change nothing.")
@click.option("--errors", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.csv",
              help="Also write the first 1000 errors to this file; without errors, its heading only.")  # fmt: skip
@click.option("--complete", is_flag=True, help="stock-count: what the file leaves out was not found.")
@click.option("--reason", metavar="TEXT", help="stock-count: why, for the ledger.  [default: stock count]")
@click.option("--by", hidden=True, help="Who asks for it at the pages.")
@click.option("--upload", hidden=True, help="The upload at the pages, which is taken in once.")
@click.option("--named", hidden=True, help="The name of the uploaded file.")
@click.option("--scratch", type=click.Path(path_type=Path), hidden=True, help="Where the rows wait, at the pages.")
@click.option("--most-growth", type=int, hidden=True, help="Bytes by which the company's file may grow.")
@click.option("--tell-progress", is_flag=True, hidden=True, help="Tell it in lines, for the server.")
@json_option
@with_installation
def import_command(
    command_line: CommandLine, /, kind: str, file: IO[bytes], code: str, as_json: bool, **given: Any
) -> None:
    """Import a CSV file with records of one KIND; `-` reads standard input.

    `wmsd import undo --company CODE` takes the last import back, and `wmsd import list` shows the last ones.

    The first line names the columns, which are the field names of the resource. Columns such as client_code,
    partner_code, article_code and warehouse_code refer to other records by their codes. A row with a known code
    changes that record; a row with a new code creates one. When a column is missing, that field stays as it is.
    Stock rows say how much there is now. Sales orders have a row for each line, and are moved to the status of
    their rows. All rows are imported, or none; each error is shown with its row and column.

    Delimiter, encoding and decimal mark are as the file shows, and the import says what it found. A number such as
    1.000 is never taken for 1 without --decimal point, nor 1,000 without --decimal comma.

    A stock-count may name lots and serials. Then the rows of an article in a warehouse must list all that is
    there: lots and serials that they leave out are removed from stock. With --complete, articles without a row
    count 0 in each warehouse that the file names. The import shows what it changes; look at that first, with
    --dry-run.
    """
    actor = PROGRAM if given["by"] is None else Actor(given["by"])
    options = _options(kind, complete=given["complete"] or None, reason=given["reason"])
    if given["errors"] is not None:
        refuse_the_same(given["errors"], file)
        begin_errors_file(given["errors"])
    folder = None if given["scratch"] is None else staging_folder(given["scratch"])
    changes_nothing = given["dry_run"] or given["is_preview"]
    if command_line.folder.is_made and not changes_nothing:
        command_line.folder.check_room()

    async def find(installation: Installation) -> Database:
        await _tell_module_off(installation, code, kind)
        return await (company_database if changes_nothing else database_to_change)(installation, code)

    def to_look(database: Database) -> Staging:
        """Only looks, and never keeps other writers waiting."""
        return database.staging(actor, not KINDS[kind].importing().checks_all, folder)

    with (
        command_line.beside() as borrow,
        progress_of(kind, file, given["tell_progress"]) as progress,
    ):
        database = command_line.run_with(borrow, find)
        try:
            with progress.source() as source:
                if given["is_preview"]:
                    with closing(to_look(database)) as staging:
                        _preview(staging, kind, source, progress, as_json, given, options)
                    return
                guessed = guess(source, KINDS[kind].columns, _chosen(given))
                if guessed.question is not None:
                    opened = partial(to_look, database)
                    errors = _errors_anyway(opened, kind, source, guessed.form, progress, options)
                    _ask(guessed.question, guessed, errors, given["errors"])
                room = Room(command_line.folder.path, given["most_growth"])
                here = (
                    partial(to_look, database)
                    if given["dry_run"]
                    else partial(database.staging, actor, folder=folder)
                )
                with closing(here()) as staging:
                    outcome = _import(staging, kind, source, guessed, progress, as_json, given, options, room)
        except Unreadable as error:
            if given["errors"] is not None:
                write_whole(of_file(error), given["errors"])
            fail([f"{file.name}: {error}{previews.how_to_choose(error)}"])
        except TakenInAlready:
            note("This upload was imported before.")
        except KeyboardInterrupt:
            fail(["Interrupted: nothing was imported."])
        else:
            if not given["dry_run"] and (outcome.created or outcome.updated):
                name = given["named"] or progress.file_name
                counts = counts_of(outcome)
                audit_import(command_line, borrow, f"import.run {kind}", code, name, counts, actor)
            if given["errors"] is not None:
                write_whole([], given["errors"])


async def _tell_module_off(installation: Installation, code: str, kind: str) -> None:
    """The pages refuse it. Here it may be meant: lists first, then the module."""
    company = await installation.platform.read(lambda tx: companies.company_of_code(tx, code))
    module = MODULE_OF.get(kind)
    if module is not None and module not in company.modules:
        note(
            f"Warning: the module {module} is off for {code}, so neither its pages nor programs show what is "
            f"imported. Switch it on: wmsd module enable {shlex.quote(code)} {module}"
        )


def _chosen(given: Options) -> Chosen:
    return Chosen(given["encoding"], DELIMITERS.get(given["delimiter"] or ""), given["decimal"])


def _preview(
    staging: Staging,
    kind: str,
    source: IO[bytes],
    progress: ShownProgress,
    as_json: bool,
    given: Options,
    options: Options,
) -> None:
    found = preview(staging, kind, source, _chosen(given), progress, **options)
    progress.end()
    progress.check_unchanged()
    if given["errors"] is not None:
        every = [*found.asked, *found.errors.first, *found.errors_of_file]
        write_whole(every, given["errors"], found.errors.more)
    previews.show(found, as_json, given["errors"])
    if not found.can_be_imported and not as_json:
        sys.exit(1)


def _import(
    staging: Staging,
    kind: str,
    source: IO[bytes],
    guessed: Guess,
    progress: ShownProgress,
    as_json: bool,
    given: Options,
    options: Options,
    room: Room,
) -> Outcome:
    _say_form(guessed)
    recording = Recording(kind, given["named"] or progress.file_name, given["upload"])
    try:
        try:
            with closing(progress.reading(lines_of(source, guessed.form.encoding), source)) as texts:
                outcome = import_beside(
                    staging,
                    KINDS[kind],
                    texts,
                    given["dry_run"],
                    progress,
                    guessed.form,
                    recording,
                    room,
                    None if given["upload"] is None else Outcome(),
                    **options,
                )
        except previews.DryRun as dry:
            outcome = dry.outcome
        staging.write(refresh_statistics)
    except ImportRefused as refused:
        progress.end()
        wrong = errors_for_people(staging, KINDS[kind], source, guessed.form, refused.outcome.errors)
        if given["errors"] is not None:
            write_whole(wrong.first, given["errors"], wrong.more)
        _refuse(wrong, as_json, given["errors"])
    progress.end()
    _say_outcome(kind, outcome, given["dry_run"], as_json)
    return outcome


def _errors_anyway(
    opened: Callable[[], Staging],
    kind: str,
    source: IO[bytes],
    form: Form,
    progress: ShownProgress,
    options: Options,
) -> Told:
    try:
        with closing(opened()) as staging:
            return errors_anyway(staging, KINDS[kind], source, form, progress, options)
    except StorageError:  # without room for a copy there is the question alone
        return Told()
    finally:
        progress.end()


def _ask(question: str, guessed: Guess, errors: Told, errors_file: Path | None) -> NoReturn:
    waiting = cells_to_ask(guessed)
    if errors_file is not None:
        write_whole([*waiting, *errors.first], errors_file, errors.more)
    first, second = previews.likely_first(guessed.evidence, guessed.form.decimal)
    beside = previews.beside_question(waiting, errors, errors_file)
    fail([f"{question} Say --decimal {first} or --decimal {second}.", *beside, "Nothing was imported."])


def _say_form(guessed: Guess) -> None:
    """What was guessed, unless the file is written as this program does it."""
    form = form_in_words(guessed.form)
    if form == {"encoding": "UTF-8", "delimiter": "comma", "decimal": "point"}:
        return
    note(previews.form_read(guessed.form, guessed.sample, evidence_of(guessed)))


def _say_outcome(kind: str, outcome: Outcome, dry_run: bool, as_json: bool) -> None:
    changed = outcome.changed if isinstance(outcome, CountOutcome) else None
    if changed and not as_json:
        stock_changes.show(changed, "counted")
        click.echo()
    told = {} if changed is None else stock_changes.as_json(changed, "counted")
    of_programs = {"dry_run": dry_run, **told} if as_json else {}
    say({"kind": kind, **counts_of(outcome), **of_programs}, as_json)
    if not outcome.rows:
        note(NO_ROWS)
    previews.note_similar_codes(outcome.alike)
    if dry_run:
        note("Nothing was changed: this was a dry run.")


def _options(kind: str, **given: object) -> dict[str, object]:
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in KINDS[kind].options:
            kinds = [other for other in KINDS if name in KINDS[other].options]
            raise click.UsageError(f"--{name} goes with {', '.join(kinds)} only.")
    if "reason" in options:
        validate_model(Reason, {"reason": options["reason"]})
    return options


def _refuse(errors: Told, as_json: bool, errors_file: Path | None) -> NoReturn:
    if as_json:
        say({"errors": [each.as_json() for each in errors.first], "errors_in_all": errors.in_all}, as_json)
    fail(
        [
            *previews.first_of(errors, errors_file),
            "Nothing was imported. Mend the rows above and import the whole file again.",
        ]
    )


def _refuse_file(_: click.Context, __: click.Parameter, files: tuple[str, ...]) -> None:
    if files == ("-",):
        raise click.UsageError("The rows go to standard output without `-`: leave it out.")
    if files:
        name = shlex.quote(files[0])
        raise click.UsageError(
            f"The rows go to standard output. To have them in a file, say > {name}, not {name}."
        )


@click.command("export", epilog=KINDS_NAMED)
@click.argument("kind", type=click.Choice(list(KINDS)), metavar="KIND")
@click.argument("files", nargs=-1, metavar="> FILE.csv", is_eager=True, expose_value=False, callback=_refuse_file)
@company_option
@with_installation
def export_command(command_line: CommandLine, kind: str, code: str) -> None:
    """Write all records of one KIND as CSV on standard output.

    `wmsd import` takes the file back unchanged.
    """

    with SpooledTemporaryFile(SPOOLED_BYTES, "w+", encoding="utf-8", newline="") as spool:
        count = read_company(command_line, code, lambda tx: export_csv(tx, KINDS[kind], spool))
        spool.seek(0)
        shutil.copyfileobj(spool, sys.stdout)
    sys.stdout.flush()
    note(f"{count_of(count, 'row')}.")
