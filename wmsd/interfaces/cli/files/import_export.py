"""The commands `wmsd import` and `wmsd export`."""

import os
import secrets
import shlex
import shutil
import stat
import sys
import textwrap
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
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
from wmsd.imports.csv_rows import Unreadable
from wmsd.imports.disk_space import Room, staging_folder
from wmsd.imports.errors import FirstErrors, Wrong, cells_to_ask, of_file, write_errors
from wmsd.imports.file_form import DELIMITER_NAMES, ENCODINGS, Chosen, Guess, guess, lines_of
from wmsd.imports.file_kinds import KINDS, MODULE_OF, export_csv, import_beside
from wmsd.imports.preview import counts_of, errors_anyway, errors_for_people, evidence_of, form_in_words, preview
from wmsd.imports.store import AlreadyImported, Recording
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.files import import_undo, previews
from wmsd.interfaces.cli.files.import_progress import ProgressLines, ShownProgress
from wmsd.interfaces.cli.kit.audit_notes import audit_import
from wmsd.interfaces.cli.kit.command_line import CommandLine, fail, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.company_data import company_database, company_option, database_to_change, read_company
from wmsd.interfaces.cli.kit.subcommand_names import WithOthers
from wmsd.interfaces.cli.records import stock_changes
from wmsd.tenants.companies import actions as companies
from wmsd.warehouse.stock.counts import CountOutcome
from wmsd.warehouse.stock.schema import Reason

SPOOLED_BYTES = 16 * 1024 * 1024
"""How many bytes of an export are kept in memory; a larger export goes to a temporary file.

The export is complete before it is printed, so a slow reader does not block the database.
"""
KINDS_NAMED = "\b\n" + textwrap.fill(f"KIND is one of {', '.join(KINDS)}.", 76, break_on_hyphens=False)
"""The line of the help that lists the kinds.

The line is wrapped here, because click would break the names at their hyphens.
"""
OTHERS: Final = {"undo": import_undo.undo, "list": import_undo.show_list}
"""The subcommands of `wmsd import`. The user types the name of a subcommand in place of a KIND."""
DELIMITERS: Final = {name: delimiter for delimiter, name in DELIMITER_NAMES.items()}
AS_GUESSED: Final = "  [default: detected from the file]"

Options = dict[str, Any]


@click.command("import", cls=WithOthers, others=OTHERS, epilog=KINDS_NAMED)
@click.argument("kind", type=click.Choice([*KINDS, *OTHERS]), metavar="KIND")
@click.argument("file", type=click.File("rb"), metavar="FILE.csv")
@company_option
@click.option("--decimal", type=click.Choice(MARKS), help=f"The decimal mark of the file.{AS_GUESSED}")
@click.option("--delimiter", type=click.Choice(list(DELIMITERS)), help=f"The character between cells.{AS_GUESSED}")
@click.option("--encoding", type=click.Choice(list(ENCODINGS)), help=f"The text encoding of the file.{AS_GUESSED}")
@click.option("--preview", "is_preview", is_flag=True, help="Show what would change, row by row; change nothing.")
@click.option("--dry-run", is_flag=True, help="Check and count only; change nothing.")
@click.option("--errors", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.csv",
              help="Also write the first 1000 errors to this file; without errors, only its header.")  # fmt: skip
@click.option("--complete", is_flag=True, help="stock-count: articles without a row in the file count 0.")
@click.option("--reason", metavar="TEXT", help="stock-count: the reason in the ledger.  [default: stock count]")
@click.option("--by", hidden=True, help="The user of the pages who started the command.")
@click.option("--upload", hidden=True, help="The upload in the browser, which is imported only once.")
@click.option("--named", hidden=True, help="The name of the uploaded file.")
@click.option(
    "--scratch",
    type=click.Path(path_type=Path),
    hidden=True,
    help="The folder for rows that wait, in the browser.",
)
@click.option("--most-growth", type=int, hidden=True, help="Bytes by which the company's file may grow.")
@click.option("--tell-progress", is_flag=True, hidden=True, help="Report the progress in lines, for the server.")
@json_option
@with_installation
def import_command(
    command_line: CommandLine, /, kind: str, file: IO[bytes], code: str, as_json: bool, **given: Any
) -> None:
    """Import a CSV file with records of one KIND; `-` reads standard input.

    `wmsd import undo --company CODE` undoes the last import, and `wmsd import list` lists the latest imports.

    The first line names the columns, which are the field names of the resource. Columns such as client_code,
    partner_code, article_code and warehouse_code refer to other records by their codes. A row with a known code
    changes that record; a row with a new code creates one. When a column is missing, that field stays as it is. A
    stock row states the quantity that is in stock now. A sales order has one row for each of its lines, and these
    rows contain its status. Either all rows are imported or none; each error is reported with its row and column.

    wmsd detects the delimiter, the encoding and the decimal mark from the file, and reports them. To read 1.000 as
    1, use --decimal point. To read 1,000 as 1, use --decimal comma.

    A stock-count may name lots and serials. In this case the rows of an article in a warehouse must list all its
    lots and serials there. Lots and serials that are left out are removed from stock. With --complete, articles
    without a row count 0 in each warehouse that the file names. Use --dry-run first to see what the import
    changes.
    """
    actor = PROGRAM if given["by"] is None else Actor(given["by"])
    options = _options(kind, complete=given["complete"] or None, reason=given["reason"])
    errors_file = given["errors"]
    begin_errors_file(errors_file, file)
    folder = None if given["scratch"] is None else staging_folder(given["scratch"])
    changes_nothing = given["dry_run"] or given["is_preview"]
    if command_line.folder.is_made and not changes_nothing:
        command_line.folder.check_space()

    async def find(installation: Installation) -> Database:
        await _warn_module_off(installation, code, kind)
        return await (company_database if changes_nothing else database_to_change)(installation, code)

    def to_look(database: Database) -> Staging:
        """Return a staging area for a preview or a dry run. If possible, the staging area only reads the database,
        so that other writers do not wait.
        """
        return database.staging(actor, not KINDS[kind].importing().checks_all, folder)

    shown = (ProgressLines if given["tell_progress"] else ShownProgress)(kind, file)
    with command_line.beside() as loan, closing(shown) as progress:
        database = command_line.run_with(loan, find)
        try:
            with progress.source() as source:
                if given["is_preview"]:
                    with closing(to_look(database)) as staging:
                        _preview(staging, kind, source, progress, as_json, given, options)
                    return
                guessed = guess(source, KINDS[kind].columns, _chosen(given))
                if guessed.questions:
                    _ask(partial(to_look, database), kind, source, guessed, progress, options, errors_file)
                room = Room(command_line.folder.path, given["most_growth"])
                here = to_look(database) if given["dry_run"] else database.staging(actor, folder=folder)
                with closing(here) as staging:
                    outcome = _import(staging, kind, source, guessed, progress, as_json, given, options, room)
        except Unreadable as error:
            write_whole(of_file(error), errors_file)
            fail([f"{file.name}: {error}{previews.how_to_choose(error)}"])
        except AlreadyImported:
            note("This upload was imported before.")
        except KeyboardInterrupt:
            fail(["Interrupted: nothing was imported."])
        else:
            if not given["dry_run"] and (outcome.created or outcome.updated):
                name = given["named"] or progress.file_name
                counts = counts_of(outcome)
                audit_import(command_line, loan, f"import.run {kind}", code, name, counts, actor)
            write_whole([], errors_file)


async def _warn_module_off(installation: Installation, code: str, kind: str) -> None:
    """Warn if the module that the records belong to is off for the company.

    On the pages, such an import is refused. The command allows it, because a person may import first and switch on
    the module later.
    """
    company = await installation.platform.read(lambda tx: companies.company_of_code(tx, code))
    module = MODULE_OF.get(kind)
    if module is not None and module not in company.modules:
        note(
            f"Warning: the module {module} is off for {code}, so the pages and the API do not show the "
            f"imported records. To switch the module on: wmsd module enable {shlex.quote(code)} {module}"
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
    progress.close()
    progress.check_unchanged()
    write_whole(found.wrong, given["errors"], found.errors.more)
    previews.show(found, as_json, given["errors"])
    if found.counts is None and not as_json:
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
        staging.write(refresh_statistics)
    except ImportRefused as refused:
        progress.close()
        wrong = errors_for_people(staging, KINDS[kind], source, guessed.form, refused.outcome.errors)
        write_whole(wrong.first, given["errors"], wrong.more)
        _refuse(wrong, as_json, given["errors"])
    progress.close()
    _say_outcome(kind, outcome, given["dry_run"], as_json)
    return outcome


def _ask(
    opened: Callable[[], Staging],
    kind: str,
    source: IO[bytes],
    guessed: Guess,
    progress: ShownProgress,
    options: Options,
    errors_file: Path | None,
) -> NoReturn:
    """Print the question about the decimal mark, and the errors that do not depend on the answer. Then end the
    command with status 1. `opened` opens a staging area.
    """
    errors = FirstErrors()  # without disk space for a copy, only the question is printed
    with suppress(StorageError), closing(opened()) as staging:
        errors = errors_anyway(staging, KINDS[kind], source, guessed.form, progress, options)
    progress.close()
    write_whole([*cells_to_ask(guessed), *errors.first], errors_file, errors.more)
    fail([*previews.question_sentences(guessed, errors, errors_file), "Nothing was imported."])


def _say_form(guessed: Guess) -> None:
    """Print the detected file format, unless it is the format that wmsd itself writes."""
    form = form_in_words(guessed.form)
    if form == {"encoding": "UTF-8", "delimiter": "comma", "decimal": "point"}:
        return
    note(previews.form_read(guessed.form, guessed.sample, evidence_of(guessed)))


def _say_outcome(kind: str, outcome: Outcome, dry_run: bool, as_json: bool) -> None:
    changed = outcome.changed if isinstance(outcome, CountOutcome) else None
    if changed and not as_json:
        stock_changes.show(changed, "counted")
        click.echo()
    stock_counts = {} if changed is None else stock_changes.as_json(changed, "counted")
    of_programs = {"dry_run": dry_run, **stock_counts} if as_json else {}
    say({"kind": kind, **counts_of(outcome), **of_programs}, as_json)
    previews.note_end(bool(outcome.rows), outcome.alike, "dry run" if dry_run else None)


def _options(kind: str, **given: object) -> dict[str, object]:
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in KINDS[kind].options:
            kinds = [other for other in KINDS if name in KINDS[other].options]
            raise click.UsageError(f"Use --{name} only with {', '.join(kinds)}.")
    if "reason" in options:
        validate_model(Reason, {"reason": options["reason"]})
    return options


def _refuse(errors: FirstErrors, as_json: bool, errors_file: Path | None) -> NoReturn:
    if as_json:
        say({"errors": [each.as_json() for each in errors.first], "errors_in_all": errors.in_all}, as_json)
    fail(
        [
            *previews.first_of(errors, errors_file),
            "Nothing was imported. Fix the rows above and import the whole file again.",
        ]
    )


def _refuse_file(_: click.Context, __: click.Parameter, files: tuple[str, ...]) -> None:
    if files == ("-",):
        raise click.UsageError("Leave out `-`: the rows always go to standard output.")
    if files:
        name = shlex.quote(files[0])
        raise click.UsageError(
            f"The rows go to standard output. To write them to a file, use > {name}, not {name}."
        )


@click.command("export", epilog=KINDS_NAMED)
@click.argument("kind", type=click.Choice(list(KINDS)), metavar="KIND")
@click.argument("files", nargs=-1, metavar="> FILE.csv", is_eager=True, expose_value=False, callback=_refuse_file)
@company_option
@with_installation
def export_command(command_line: CommandLine, kind: str, code: str) -> None:
    """Write all records of one KIND as CSV on standard output.

    `wmsd import` can read the file unchanged.
    """

    with SpooledTemporaryFile(SPOOLED_BYTES, "w+", encoding="utf-8", newline="") as spool:
        count = read_company(command_line, code, lambda tx: export_csv(tx, KINDS[kind], spool))
        spool.seek(0)
        shutil.copyfileobj(spool, sys.stdout)
    sys.stdout.flush()
    note(f"{count_of(count, 'row')}.")


REFUSED: Final = (
    "--errors would overwrite the imported file. Name another file.",
    "Nothing was imported.",
)


def refuse_the_same(path: Path, file: IO[bytes]) -> None:
    """End the command with status 1 if `path` and the imported `file` are the same file. The names may differ, for
    example because one of them is a link.
    """
    try:
        read, written = os.fstat(file.fileno()), path.stat()
    except (OSError, ValueError):  # the errors file does not exist yet, or the input is not a file
        return
    if stat.S_ISREG(read.st_mode) and os.path.samestat(read, written):
        fail(REFUSED)


def begin_errors_file(path: Path | None, file: IO[bytes]) -> None:
    """Empty the errors file before the import starts. Raise OSError if the file cannot be written.

    This removes the errors of an earlier run, and reports an unwritable file before any work. `file` is the
    imported file.
    """
    if path is None:
        return
    refuse_the_same(path, file)
    if path.is_file() or not path.exists():  # a device such as /dev/stdout is written once, at the end
        write_whole([], path)


def write_whole(errors: Iterable[Wrong], path: Path | None, more: int = 0) -> None:
    """Write the errors file completely, or leave the previous file unchanged. Raise OSError if writing fails.

    `more` is the number of further errors that were only counted. With `path` None, nothing is written.
    """
    if path is None:
        return
    path = path.resolve()  # a link stays a link, and its target is replaced
    if path.exists() and not path.is_file():  # a device such as /dev/stdout
        with path.open("w", encoding="utf-8", newline="") as file:
            write_errors(errors, file, more)
        return
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.new")
    try:
        with beside.open("x", encoding="utf-8", newline="") as file:
            if path.exists():
                beside.chmod(stat.S_IMODE(path.stat().st_mode))
            write_errors(errors, file, more)
        beside.replace(path)
    except OSError as error:
        # the name that the user gave, not the temporary name
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        beside.unlink(missing_ok=True)
