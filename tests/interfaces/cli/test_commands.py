"""What all commands share: help, exit codes, and which data folder they act on."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.support.command import EMAIL, PASSWORD, Home
from wmsd import __version__
from wmsd.interfaces.cli.main import wmsd

PLACE = ("--config FILE", "--data DIR")
ONE = ("--company CODE", "--json", *PLACE)
LIST = ("--status", "--page", "--per-page", *ONE)
KINDS = (
    "KIND is one of articles, clients, partners, warehouses, stock, stock-count, purchase-orders, receptions, "
    "sales-orders, returns, packaging-types, packaging-movements."
)
CHANGING = (
    "--company CODE",
    "--article CODE",
    "--warehouse CODE",
    "--lot LOT",
    "--serial SERIAL",
    "--reason TEXT",
    "--dry-run",
    "--json",
    *PLACE,
)
OPTIONS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("serve",): ("--listen HOST:PORT", "--demo", *PLACE),
    ("company", "create"): (
        "CODE",
        "--name TEXT",
        "--operator CODE",
        "--sandbox",
        "--module M",
        "--all-modules",
        "--init",
        "--json",
        *PLACE,
    ),
    ("company", "change"): (
        "CODE",
        "--name TEXT",
        "--sandbox / --no-sandbox",
        "--requests-per-minute N",
        "--over-receipt-pct P",
        *PLACE,
    ),
    ("company", "show"): ("CODE", "--json", *PLACE),
    ("company", "list"): ("--json", *PLACE),
    ("operator", "create"): (
        "CODE",
        "--name TEXT",
        "--sandbox",
        "--webhooks / --no-webhooks",
        "--json",
        *PLACE,
    ),
    ("operator", "change"): (
        "CODE",
        "--name TEXT",
        "--sandbox / --no-sandbox",
        "--webhooks / --no-webhooks",
        *PLACE,
    ),
    ("operator", "list"): ("--json", *PLACE),
    ("module", "list"): ("COMPANY", "--json", *PLACE),
    ("module", "enable"): ("COMPANY MODULE...", "--json", *PLACE),
    ("module", "disable"): ("COMPANY MODULE...", "--json", *PLACE),
    ("user", "create"): (
        "EMAIL",
        "--role [platform-admin|company-admin|member]",
        "--company CODE",
        "--name TEXT",
        "--ability A",
        "--password-stdin",
        "--json",
        *PLACE,
    ),
    ("user", "list"): ("--json", *PLACE),
    ("user", "disable"): ("EMAIL", *PLACE),
    ("user", "set-password"): ("EMAIL", "--keep-tokens", "--password-stdin", *PLACE),
    ("token", "create"): ("--user EMAIL", "--ability A", "--company CODE", "--name TEXT", "--expires 90D", *PLACE),
    ("token", "list"): ("--json", *PLACE),
    ("token", "revoke"): ("ID", *PLACE),
    ("token", "rotate-key"): PLACE,
    ("key", "move"): ("[FILE]", "--back", *PLACE),
    ("key", "rotate"): PLACE,
    ("site", "create"): ("COMPANY WAREHOUSE", "--name TEXT", "--json", *PLACE),
    ("site", "list"): ("--json", *PLACE),
    ("site", "rotate"): ("COMPANY WAREHOUSE", "--at-once", "--json", *PLACE),
    ("site", "revoke"): ("COMPANY WAREHOUSE", *PLACE),
    ("kernel-token", "create"): ("--json", *PLACE),
    ("kernel-token", "rotate"): ("--at-once", "--json", *PLACE),
    ("kernel-token", "list"): ("--json", *PLACE),
    ("kernel-token", "revoke"): ("ID", *PLACE),
    ("import",): (
        "KIND",
        KINDS,
        "FILE.csv",
        "--company CODE",
        "--dry-run",
        "--complete",
        "--reason TEXT",
        "--json",
        *PLACE,
    ),
    ("export",): ("KIND", KINDS, "--company CODE", *PLACE),
    ("stock", "list"): (
        "--company CODE",
        "--warehouse CODE",
        "--article CODE",
        "--lots",
        "--page",
        "--per-page",
        "--json",
        *PLACE,
    ),
    ("stock", "adjust"): ("--by +N|-N", "--to N", *CHANGING),
    ("stock", "quarantine"): ("--quantity N", "--all", *CHANGING),
    ("stock", "release"): ("--quantity N", "--all", *CHANGING),
    ("stock", "ledger"): (
        "--company CODE",
        "--article CODE",
        "--warehouse CODE",
        "--lot LOT",
        "--serial SERIAL",
        "--document CODE",
        "--after ID",
        "--limit",
        "--json",
        *PLACE,
    ),
    ("sales-order", "list"): ("--partner CODE", *LIST),
    ("sales-order", "show"): ("ORDER", *ONE),
    ("sales-order", "status"): ("ORDER", "STATUS", "--packaging CODE=N", *ONE),
    ("purchase-order", "list"): ("--partner CODE", *LIST),
    ("purchase-order", "show"): ("ORDER", *ONE),
    ("purchase-order", "status"): ("ORDER", "STATUS", *ONE),
    ("reception", "list"): ("--purchase-order CODE", *LIST),
    ("reception", "show"): ("RECEPTION", *ONE),
    ("reception", "status"): ("RECEPTION", "STATUS", "--packaging CODE=N", *ONE),
    ("return", "list"): ("--partner CODE", "--sales-order CODE", *LIST),
    ("return", "show"): ("RETURN", *ONE),
    ("return", "status"): ("RETURN", "STATUS", "--disposition [RESTOC|CARANTINA|DISTRUS]", *ONE),
    ("packaging", "types"): ("--company CODE", "--json", *PLACE),
    ("packaging", "balances"): (
        "--company CODE",
        "--partner CODE",
        "--type CODE",
        "--page",
        "--per-page",
        "--json",
        *PLACE,
    ),
    ("packaging", "movements"): (
        "--company CODE",
        "--partner CODE",
        "--type CODE",
        "--since TIME",
        "--page",
        "--per-page",
        "--json",
        *PLACE,
    ),
    ("packaging", "record"): (
        "--company CODE",
        "--type CODE",
        "--partner CODE",
        "--direction [IN|OUT]",
        "--quantity N",
        "--occurred-at TIME",
        "--notes TEXT",
        "--json",
        *PLACE,
    ),
    ("webhook", "list"): ("--company CODE", "--json", *PLACE),
    ("webhook", "test"): ("ID", *ONE),
    ("webhook", "deliveries"): (
        "ID",
        "--status [pending|held|delivered|exhausted|skipped]",
        "--since TIME",
        "--before ID",
        "--limit",
        "--attempts",
        *ONE,
    ),
    ("webhook", "redeliver"): (
        "ID [DELIVERY]",
        "--since TIME",
        "--until TIME",
        "--failed",
        "--dry-run",
        *ONE,
    ),
    ("webhook", "on"): ("ID", "--company CODE", *PLACE),
    ("webhook", "off"): ("ID", "--company CODE", *PLACE),
    ("graphql", "schema"): (),
    ("billing",): ("COMPANY", "--month YYYY-MM", "--json", *PLACE),
    ("doctor",): ("--company CODE", "--json", *PLACE),
    ("clock", "show"): ("--json", *PLACE),
    ("clock", "confirm"): PLACE,
    ("config", "show"): ("--json", *PLACE),
    ("config", "check"): PLACE,
    ("version",): ("--json",),
}

GOOD: tuple[tuple[str, ...], ...] = (
    ("company", "create", "ACME", "--name", "Acme"),
    ("company", "change", "ACME", "--name", "Acme Ltd"),
    ("company", "list"),
    ("operator", "create", "OPS", "--name", "Ops"),
    ("operator", "change", "OPS", "--webhooks"),
    ("operator", "list"),
    ("module", "list", "ACME"),
    ("module", "enable", "ACME", "stock"),
    ("module", "disable", "ACME", "stock"),
    ("user", "create", EMAIL, "--role", "platform-admin", "--password-stdin"),
    ("user", "list"),
    ("user", "disable", EMAIL),
    ("user", "set-password", EMAIL, "--password-stdin"),
    ("token", "create", "--user", EMAIL, "--ability", "*"),
    ("token", "list"),
    ("token", "revoke", "1"),
    ("token", "rotate-key"),
    ("key", "rotate"),
    ("site", "list"),
    ("kernel-token", "create"),
    ("kernel-token", "rotate"),
    ("kernel-token", "list"),
    ("kernel-token", "revoke", "1"),
    ("import", "articles", "-", "--company", "ACME"),
    ("export", "articles", "--company", "ACME"),
    ("stock", "list", "--company", "ACME"),
    ("stock", "ledger", "--company", "ACME"),
    ("company", "show", "ACME"),
    *((kind, "list", "--company", "ACME") for kind in ("sales-order", "purchase-order", "reception", "return")),
    ("packaging", "types", "--company", "ACME"),
    ("packaging", "balances", "--company", "ACME"),
    ("packaging", "movements", "--company", "ACME"),
    ("webhook", "list", "--company", "ACME"),
    ("billing", "ACME"),
    ("doctor",),
)


def commands() -> Iterator[tuple[str, ...]]:
    """Every command of the program, as it is typed."""
    context = click.Context(wmsd)
    for name in wmsd.list_commands(context):
        command = wmsd.get_command(context, name)
        if isinstance(command, click.Group):
            yield from ((name, below) for below in command.list_commands(context))
        else:
            yield (name,)


def test_the_table_above_has_every_command() -> None:
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


def test_help_of_the_program_and_of_a_group(home: Home) -> None:
    done = home.run("--help")
    assert (done.code, done.err) == (0, "")
    for name, *_ in OPTIONS:
        assert f"\n  {name} " in done.out
    assert "set-password" in home.run("user", "--help").out


def test_an_unknown_command_is_not_understood(home: Home) -> None:
    assert home.misunderstood("comapny").startswith("Error: No such command 'comapny'.")
    assert home.misunderstood("company", "make").startswith("Error: No such command 'make'.")
    assert home.misunderstood("company", "create", "A") == "Error: Missing option '--name'."
    assert home.misunderstood("export", "recipes", "--company", "A").startswith("Error: Invalid value for")
    assert home.run().code == 2


def test_version(home: Home) -> None:
    done = home.run("version")
    assert (done.code, done.out, done.err) == (0, f"wmsd {__version__}\n", "")
    assert home.run("version", "--json").json == {"name": "wmsd", "version": __version__}


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
    assert "wmsd.companies.actions" in names
    assert not names & {"aiohttp", "uvloop", "apscheduler", "wmsd.purchase_orders.schema"}


@pytest.mark.parametrize("kind", ["sales-order", "purchase-order"])
def test_a_kind_of_document_does_not_import_the_others(home: Home, kind: str) -> None:
    rooms = {"sales-order": "wmsd.sales_orders", "purchase-order": "wmsd.purchase_orders"}
    others = {"wmsd.receptions", "wmsd.returns", "aiohttp", *rooms.values()} - {rooms[kind]}
    names = imported(home, kind, "list", "--company", "ACME")
    assert rooms[kind] in names
    assert not names & others


@pytest.mark.parametrize("command", GOOD, ids=lambda command: " ".join(command[:2]))
def test_no_data_folder_is_made_silently(home: Home, command: tuple[str, ...]) -> None:
    sentence = home.refused(*command, stdin=f"{PASSWORD}\n")
    assert sentence.startswith(f"There is no wmsd data in {home.data}. Start `wmsd serve` there first")
    assert list(home.folder.iterdir()) == []


def test_config_and_version_make_nothing(home: Home) -> None:
    home.ok("config", "show")
    home.ok("config", "check")
    home.run("version")
    assert list(home.folder.iterdir()) == []


def test_every_command_says_its_data_folder_and_works(home: Home) -> None:
    home.ok("company", "create", "FIRST", "--name", "First", "--init")
    stdin = {"user": f"{PASSWORD}\n", "import": "code,name\n"}
    for command in sorted(GOOD, key=lambda command: "disable" in command):
        home.ok(*command, stdin=stdin.get(command[0], ""))


def test_the_data_folder_may_be_named_by_flag_environment_or_file(home: Home) -> None:
    there = home.folder / "there"
    made = home.run("company", "create", "ACME", "--name", "Acme", "--init", "--data", there)
    assert (made.code, made.err.splitlines()[0]) == (0, f"Data folder: {there}")
    config = home.write("other.toml", f"[server]\ndata = '{there}'\n")
    for arguments, env in (
        (["--data", str(there)], {}),
        (["--data", "there"], {}),
        ([], {"WMSD_SERVER_DATA": "there"}),
        (["--config", str(config)], {}),
        ([], {"WMSD_CONFIG": str(config)}),
    ):
        done = home.run("company", "list", "--json", *arguments, env=env)
        assert [company["code"] for company in done.json] == ["ACME"]
        assert done.err == f"Data folder: {there}\n"
    assert not home.data.exists()


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
