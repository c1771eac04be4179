"""Code that all commands share: it finds and opens the installation, prints results, and reports failures."""

import asyncio
import functools
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, Concatenate, Final, NoReturn, ParamSpec, TypeVar

import click

from wmsd.base import timestamps
from wmsd.base.clock import SMALL_LEAP
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.data_folder.clock_watch import order_as_server
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.lending import Loan, beside_a_server
from wmsd.data_folder.messages import as_storage_error, check_folder, refuse_others, where_instead
from wmsd.db.engine.failures import STORAGE_FAILURES, StorageError
from wmsd.db.engine.transaction import Transaction
from wmsd.installation.open_installation import Installation, open_installation
from wmsd.interfaces.cli.kit.command_hints import complete_commands
from wmsd.interfaces.cli.kit.operations import at_the_command_line, typed_sentences
from wmsd.log.output import escape_controls
from wmsd.maintenance.backups.newest_backup import BackupsIn, brings_data_back
from wmsd.maintenance.upgrades.old_places import use_old_places
from wmsd.settings.all_settings import Settings
from wmsd.settings.paths import Layer
from wmsd.settings.sections.fields import SettingsError
from wmsd.settings.sources import layers_of, read_partial_settings, settings_of

P = ParamSpec("P")
Result = TypeVar("Result")
DEFAULT_CONFIG = Path("config.toml")
FAR_AHEAD: Final = (
    "The clock is far ahead of the time when a server last ran here. Changes by commands are dated "
    "{}. If the clock is right, run `wmsd clock confirm`: then changes get the time of the clock."
)


@dataclass(frozen=True, slots=True)
class CommandLine:
    settings: Settings
    folder: DataFolder
    config_file: Path | None
    layers: Sequence[Layer] = ()
    """The settings of each source: configuration file, environment, command line."""
    mistakes: Sequence[str] = ()
    """The errors in the settings. Settings with an error are left out of `settings`."""
    old_places: Sequence[str] = ()
    """Sentences about files that are still in the places of an earlier version. The sentences also say what to do.
    """
    two_places: Sequence[str] = ()
    """Sentences that warn if this installation's backups are in two folders. A server uses only one of these
    folders.
    """

    @property
    def backups(self) -> Path:
        return Path(self.settings.backup.folder)

    def run(self, work: Callable[[Installation], Awaitable[Result]]) -> Result:
        """Open the installation, run `work` with it, and return the result. The data folder must exist."""
        with self.beside() as loan:
            return self.run_with(loan, work)

    def read(self, unit: Callable[[Transaction], Result], is_again: bool = False) -> Result:
        """Return the result of a unit of work that reads `platform.db`.

        With `is_again`, do not print the path of the data folder again.
        """
        run = self.run_again if is_again else self.run
        return run(lambda installation: installation.platform.read(unit))

    def write(self, unit: Callable[[Transaction], Result], is_again: bool = False) -> Result:
        """Run the unit of work in `platform.db`, and return its result.

        With `is_again`, do not print the path of the data folder again.
        """
        run = self.run_again if is_again else self.run
        return run(lambda installation: installation.platform.write(unit))

    def run_again(self, work: Callable[[Installation], Awaitable[Result]]) -> Result:
        """Do the same as `run`, but do not print the path of the data folder again."""
        with beside_a_server(self.folder) as loan:
            return self.run_with(loan, work)

    @contextmanager
    def beside(self) -> Iterator[Loan | None]:
        """Print the path of the data folder. Then yield the connection to the running server, or None.

        A running server locks its files. A command must ask over this connection for each file that it uses, and
        the server releases the file. None means that there is no server, or that the server does not lock its
        files. If there is no server, none can start as long as the context is open.
        """
        self.find()
        with beside_a_server(self.folder) as loan:
            yield loan

    def run_with(self, loan: Loan | None, work: Callable[[Installation], Awaitable[Result]]) -> Result:
        """Open the installation, run `work` with it, and return the result.

        `loan` is the connection to a running server, which is asked to release each file that `work` uses. `loan`
        is None if no file needs to be released.
        """
        if loan is not None:
            loan.borrow(self.folder.platform_file)
        self.folder.open(backups=BackupsIn(self.backups))

        async def opened() -> Result:
            borrow = None if loan is None else loan.borrow
            opening = open_installation(self.settings, self.folder, borrow=borrow, who=at_the_command_line())
            async with opening as installation:
                platform, clock = installation.platform, installation.clock
                await order_as_server(platform, clock, is_running=loan is not None)
                done = await work(installation)
                if (moment := clock.ordering()) < clock.now() - SMALL_LEAP:
                    note(FAR_AHEAD.format(timestamps.to_text(moment)))
                return done

        return asyncio.run(opened())

    def find(self) -> None:
        """Print the path of the data folder. Raise StorageError if the folder has no wmsd data."""
        self.say_folder()
        self.check_made()

    def check_made(self) -> None:
        """Raise StorageError if the data folder holds no data."""
        self.folder.check_platform(BackupsIn(self.backups))
        if not self.folder.is_made:
            path = self.folder.path
            check_folder(path)
            if instead := where_instead(path):
                raise StorageError(f"There is no wmsd data in {path.resolve()}. {instead}")
            if back := brings_data_back(path, self.backups):
                raise StorageError(
                    f"There is no wmsd data in {path.resolve()}. Name another folder with --data. {back}"
                )
            raise StorageError(
                f"There is no wmsd data in {path.resolve()}. "
                "Start `wmsd serve` there first, use `wmsd company create CODE --name NAME --init`, or name "
                "another folder with --data."
            )

    def make_folder(self) -> None:
        """Create the data folder if it does not exist. Raise StorageError if this is not possible."""
        folder = self.folder
        if folder.is_made:
            return
        # imported here, because few commands need it
        from wmsd.maintenance.doctor.usable_folder import check_not_lost

        folder.check_platform(BackupsIn(self.backups))
        check_not_lost(folder, self.backups)
        folder.make_place()
        # without the lock, two commands would delete each other's unfinished files as leftovers
        folder.lock("no address")
        try:
            if not folder.is_made:
                folder.make()
        finally:
            folder.unlock()

    @contextmanager
    def explain_denied_access(self) -> Iterator[None]:
        """Explain a failure inside the context: if the data folder belongs to another user and access to it is
        denied, raise StorageError in place of PermissionError.
        """
        try:
            yield
        except PermissionError as error:
            folder = self.folder.path.absolute()
            if error.filename and Path(os.fsdecode(error.filename)).absolute().is_relative_to(folder):
                refuse_others(self.folder.path, error)
            raise

    def say_folder(self) -> None:
        self.say_path()
        for sentence in (*self.old_places, *self.two_places):
            note(sentence)

    def say_path(self) -> None:
        note(f"Data folder: {self.folder.path.resolve()}")


def with_installation(command: Callable[Concatenate[CommandLine, P], Result]) -> Callable[P, Result]:
    """Decorate a command: add --config and --data, pass a CommandLine as the first argument, and print one line
    for each error.
    """
    return _installed(command, _by_settings)


def with_installation_despite_errors(
    command: Callable[Concatenate[CommandLine, P], Result],
) -> Callable[P, Result]:
    """Decorate a command like `with_installation`, but run the command even if there are errors in the settings.
    The errors are printed.
    """
    return _installed(command, _by_what_can_be_read)


Flags = Mapping[tuple[str, str], str]


def _by_settings(file: Path | None, flags: Flags) -> CommandLine:
    """Read the settings, and return the CommandLine. Raise SettingsError if a setting is invalid.

    `flags` are the settings that the user gave as options.
    """
    layers = layers_of(file, flags)
    settings, replaced, two_of_data, two_of_backups = use_old_places(settings_of(layers), layers)
    if two_of_data:
        raise SettingsError("\n".join(two_of_data))
    folder = DataFolder(Path(settings.server.data))
    return CommandLine(settings, folder, file, layers, old_places=replaced, two_places=two_of_backups)


def _by_what_can_be_read(file: Path | None, flags: Flags) -> CommandLine:
    readable, layers, wrong = read_partial_settings(file, flags)
    settings, replaced, *two = use_old_places(readable, layers)
    wrong += [sentence for sentences in two for sentence in sentences]
    for sentence in wrong:
        note(f"Error in the settings: {sentence}")
    if wrong:
        note(
            "This command ignores the settings with errors and uses the others. A server cannot start until "
            "you correct the errors."
        )
    return CommandLine(settings, DataFolder(Path(settings.server.data)), file, layers, wrong, replaced)


def _installed(
    command: Callable[Concatenate[CommandLine, P], Result], read: Callable[[Path | None, Flags], CommandLine]
) -> Callable[P, Result]:
    @click.option(
        "--config",
        "config_file",
        metavar="FILE",
        type=click.Path(readable=False, path_type=Path),  # our own sentence explains why the file cannot be read
        envvar="WMSD_CONFIG",
        help="Configuration file.  [default: ./config.toml, if it exists]",
    )
    @click.option("--data", metavar="DIR", help="Data folder.  [default: ./data]")
    @functools.wraps(command)
    def wrapped(*args: Any, config_file: Path | None, data: str | None, **options: Any) -> Result:
        try:
            # A file that exists but cannot be read, such as a link to a disk that is not mounted, is reported.
            file = config_file or (DEFAULT_CONFIG if os.path.lexists(DEFAULT_CONFIG) else None)
            given = {"data": data, "listen": options.get("listen"), "tls": options.get("tls")}
            flags = {("server", key): value for key, value in given.items() if value is not None}
            command_line = read(file, flags)
            with command_line.explain_denied_access():
                return command(command_line, *args, **options)
        except Problem as problem:
            fail(typed_sentences(problem))
        except SettingsError as error:
            fail(str(error).splitlines())
        except StorageError as error:
            fail([" ".join(str(error).split())])  # the text from SQLite may have several lines
        except STORAGE_FAILURES as error:
            fail([str(as_storage_error(error))])
        except UnicodeEncodeError:
            fail(["An argument is not UTF-8 text."])
        except click.Abort:  # raised at a question, before any change
            note("")
            fail(["Interrupted: nothing was changed."])
        except KeyboardInterrupt:
            fail(["Interrupted. What the command has already changed stays changed."])

    return wrapped  # type: ignore[return-value]  # click adds the two options


def fail(sentences: Iterable[str]) -> NoReturn:
    """Print the error sentences, and exit with status 1."""
    with suppress(OSError):  # the exit status reports the failure as well
        for sentence in sentences:
            click.secho(
                f"wmsd: {escape_controls(complete_commands(sentence))}",
                err=True,
                fg="red" if sys.stderr.isatty() else None,
            )
    sys.exit(1)


def note(text: str, is_for_here: bool = True) -> None:
    """Print a note for the person at the terminal, on standard error.

    Output errors are ignored, because a note is not part of the result. With `is_for_here`, the commands in the
    text get the --data and --config of the running command.
    """
    with suppress(OSError):
        say_text(complete_commands(text) if is_for_here else text, err=True)


def say_text(text: str, err: bool = False) -> None:
    """Print text for people.

    Control characters are escaped, because names from other users must not control the terminal.
    """
    click.echo("\n".join(map(escape_controls, text.split("\n"))), err=err)


@contextmanager
def answer_needed_from(otherwise: str) -> Iterator[None]:
    """End the command with a hint if a question inside the context gets no answer.

    `otherwise` is the option that answers the question.
    """
    try:
        yield
    except click.Abort:
        if sys.stdin.isatty():
            raise
        end_line()
        fail([f"There was no answer, so nothing was changed. Without a terminal, give {otherwise}."])


def end_line() -> None:
    """Print a line break after a question if standard input is not a terminal.

    A terminal displays the line break that the user types.
    """
    if not sys.stdin.isatty():
        note("")


def say(shown: Mapping[str, Any] | list[dict[str, Any]], as_json: bool, empty: str = "The list is empty.") -> None:
    """Print a result: JSON for programs; for people, a table or one line for each field.

    `empty` is the sentence for people if the table has no rows.
    """
    if as_json:
        click.echo(json.dumps(shown, ensure_ascii=False, indent=2))
    elif isinstance(shown, list):
        _table(shown, empty)
    else:
        width = max(len(name) for name in shown)
        for name, value in shown.items():
            say_text(f"{name:<{width}}  {cell_text(value)}")


def say_token(shown: Mapping[str, Any], as_json: bool) -> None:
    """Print a new token. With `as_json`, print all fields of `shown` as JSON. Otherwise print only the token."""
    if as_json:
        say(shown, as_json)
    else:
        click.echo(shown["token"])


def _table(rows: list[dict[str, Any]], empty: str) -> None:
    if not rows:
        note(empty)
        return
    names = list(rows[0])
    table = [names, *([cell_text(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[place]) for line in table) for place in range(len(names))]
    for line in table:
        click.echo("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip())


def cell_text(value: Any) -> str:
    """Return the value as text on one line, without control characters."""
    return escape_controls(_in_words(value))


def _in_words(value: Any) -> str:
    if isinstance(value, dict):  # an address: its known parts
        value = [part for part in value.values() if part is not None]
    if value is None or value == []:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format(Decimal(repr(value)), "f")  # gives 0.000001 instead of 1e-06
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
