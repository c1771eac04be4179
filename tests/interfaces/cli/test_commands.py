"""The common behaviour of all commands: their imports, their output and their arguments."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import Home
from wmsd import __version__
from wmsd.db.migrations import COMPANY, PLATFORM


def test_version(home: Home) -> None:
    done = home.run("version")
    assert (done.code, done.out, done.err) == (0, f"wmsd {__version__}\n", "")
    schemas = {kind.name: len(kind.scripts()) for kind in (PLATFORM, COMPANY)}
    assert home.run("version", "--json").json == {"name": "wmsd", "version": __version__, "schemas": schemas}


def imported(home: Home, *arguments: str) -> set[str]:
    home.environment["PYTHONPROFILEIMPORTTIME"] = "1"
    return {line.rpartition("|")[2].strip() for line in home.run_fresh(*arguments).err.splitlines()}


@pytest.mark.parametrize("arguments", [("version",), ("--help",)], ids=" ".join)
def test_only_what_a_command_needs_is_imported(home: Home, arguments: tuple[str, ...]) -> None:
    names = imported(home, *arguments)
    assert "click" in names
    heavy = ("aiohttp", "pydantic", "sqlite3", "pysqlite3", "aiosqlite", "asyncio", "jwt", "argon2", "uvloop")
    assert [name for name in names if name.partition(".")[0] in heavy] == []


def test_reading_does_not_import_the_server(home: Home) -> None:
    names = imported(home, "company", "list")
    assert "wmsd.tenants.companies.actions" in names
    assert not names & {"aiohttp", "uvloop", "apscheduler", "wmsd.warehouse.purchase_orders.schema"}


SEARCHED = """
import click, gc
from wmsd.interfaces.cli.main import wmsd
begun = []
gc.callbacks.append(lambda phase, info: phase == "start" and begun.append(sum(gc.get_count())))
wmsd.resolve_command(click.Context(wmsd), ["company"])
kept = [[] for _ in range(3 * gc.get_threshold()[0])]
print(gc.isenabled(), begun != [], max(begun) < 2 * gc.get_threshold()[0])
"""
"""Imports a command, and then creates enough objects for a collection. It prints whether the collector is on,
whether there was a collection, and whether each one searched only the new objects.
"""


def test_the_collector_does_not_search_what_a_command_imports() -> None:
    done = subprocess.run([sys.executable, "-c", SEARCHED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "True"]


NAMED = """
import click, gc
from wmsd.interfaces.cli.main import wmsd
wmsd.get_command(click.Context(wmsd), "company")
print(gc.isenabled(), gc.get_freeze_count())
"""
"""Imports a command without running it, as a server does for a hint or a page of the guide."""


def test_a_server_that_names_commands_still_collects_its_garbage() -> None:
    done = subprocess.run([sys.executable, "-c", NAMED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "0"]


@pytest.mark.parametrize("kind", ["sales-order", "purchase-order"])
def test_a_kind_of_document_does_not_import_the_others(home: Home, kind: str) -> None:
    rooms = {"sales-order": "wmsd.warehouse.sales_orders", "purchase-order": "wmsd.warehouse.purchase_orders"}
    others = {"wmsd.warehouse.receptions", "wmsd.warehouse.returns", "aiohttp", *rooms.values()} - {rooms[kind]}
    names = imported(home, kind, "list", "--company", "ACME")
    assert rooms[kind] in names
    assert not names & others


@pytest.mark.parametrize(
    "command", ["export articles --company ACME", "company list --json", "version", "company --help"]
)
def test_an_output_that_is_full(shared: Home, command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = shared.run_fresh(*command.split(), stdout=full)
    assert done.code == 1
    assert done.err.splitlines()[-1] == "wmsd: Reading or writing failed: No space left on device."
    assert len(done.err.splitlines()) <= 2


def test_a_reader_that_goes_away(shared: Home) -> None:
    with shared.start("company", "list", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (process.wait(), process.stderr.read()) == (1, f"Data folder: {shared.data}\n")


def test_arguments_that_are_not_text(shared: Home) -> None:
    broken = b"caf\xe9@example.com".decode(errors="surrogateescape")
    for arguments in (
        ("user", "disable", broken),
        ("token", "create", "--user", broken, "--ability", "*"),
        ("company", "create", "X", "--name", broken),
        ("company", "create", "X", "--name", "X", "--module", broken),
        ("module", "enable", broken, "stock"),
        ("export", "articles", "--company", broken),
    ):
        assert shared.refused(*arguments)
