"""The arguments and options of every command, as its help names them."""

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from tests.interfaces.cli.command_options import OPTIONS
from tests.support.command import Home
from wmsd.interfaces.cli.main import wmsd


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command of the program."""
    context = click.Context(wmsd)
    for name in wmsd.list_commands(context):
        command = wmsd.get_command(context, name)
        if isinstance(command, click.Group):
            yield from ((name, below) for below in command.list_commands(context))
        else:
            yield (name,)


def test_the_table_has_every_command() -> None:
    assert set(commands()) == set(OPTIONS)


@pytest.mark.parametrize("command", OPTIONS, ids=" ".join)
def test_help_names_every_option(command: tuple[str, ...]) -> None:
    for flag in ("--help", "-h"):
        done = CliRunner(env={"COLUMNS": "200"}).invoke(wmsd, [*command, flag])
        assert (done.exit_code, done.stderr) == (0, "")
        text = " ".join(done.stdout.split())
        for option in (*OPTIONS[command], "--help"):
            assert option in text


@pytest.mark.parametrize("command", OPTIONS, ids=" ".join)
def test_an_unknown_option_is_not_understood(command: tuple[str, ...]) -> None:
    done = CliRunner().invoke(wmsd, [*command, "--no-such-option"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "No such option '--no-such-option'" in done.stderr


def test_options_that_the_help_does_not_name_are_not_suggested(home: Home) -> None:
    assert (
        home.misunderstood("import", "undo", "--company", "ACME", "--numbre")
        == "Error: No such option '--numbre'."
    )
    suggested = home.misunderstood("import", "articles", "x.csv", "--compani", "ACME")
    assert "Did you mean one of: '--company', '--complete', '--config'?" in suggested


def test_help_of_the_program_and_of_a_group(home: Home) -> None:
    done = home.run("--help")
    assert (done.code, done.err) == (0, "")
    for name, *_ in OPTIONS:
        assert f"\n  {name} " in done.out
    assert "set-password" in home.run("user", "--help").out


def test_an_unknown_command_is_not_understood(home: Home) -> None:
    assert home.run("help").out == home.run("--help").out
    assert home.run("help", "company", "create").out == home.run("company", "create", "--help").out
    assert home.misunderstood("help", "xyz") == "Error: No such command 'xyz'."
    assert home.misunderstood("comapny") == "Error: No such command 'comapny'. Did you mean 'company'?"
    assert home.misunderstood("restart").endswith("as a service: 'systemctl restart wmsd'.")
    assert home.misunderstood("restore") == "Error: No such command 'restore'. Did you mean 'backup restore'?"
    assert home.misunderstood("sales-order", "lst") == "Error: No such command 'lst'. Did you mean 'list'?"
    assert home.misunderstood("company", "xyz") == "Error: No such command 'xyz'."
    assert home.misunderstood("company", "create", "A") == "Error: Missing option '--name'."
    assert home.misunderstood("export", "articles", "my list.csv") == (
        "Error: The rows go to standard output. To write them to a file, use > 'my list.csv', not 'my list.csv'."
    )
    assert home.misunderstood("export", "articles", "-") == (
        "Error: Leave out `-`: the rows always go to standard output."
    )
    assert home.misunderstood("export", "recipes", "--company", "A").startswith("Error: Invalid value for")
    assert home.run().code == 2
