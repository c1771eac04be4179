"""The arguments and options of every command, as its help names them."""

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from tests.support.command import Home
from wmsd.interfaces.cli.main import wmsd

PLACE = ("--config FILE", "--data DIR")
ONE = ("--company CODE", "--json", *PLACE)
RECORDS = ("--sort", "--page", "--per-page", *ONE)
RECORD = ("--name TEXT", "--active / --no-active", *ONE)
LIST = ("--status", "--external-ref TEXT", "--code TEXT", "--updated-since TEXT", "--page", "--per-page", *ONE)
KINDS = (
    "KIND is one of articles, clients, partners, warehouses, stock, stock-count, sales-orders, purchase-orders, "
    "receptions, returns, counts, packaging-types, packaging-movements."
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
    ("serve",): ("--listen HOST:PORT", "--tls off|lan|files", "--demo", "--create", *PLACE),
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
        "--time-zone ZONE",
        "--over-receipt-pct P",
        *PLACE,
    ),
    ("company", "papers"): (
        "CODE",
        "--name TEXT",
        "--address-street TEXT",
        "--address-city TEXT",
        "--address-postal-code TEXT",
        "--address-country TEXT",
        "--tax-id TEXT",
        "--phone TEXT",
        "--label-size [label-sheet|label-a6|label-62x29|label-100x50|label-100x150]",
        "--logo FILE",
        "--no-logo",
        "--json",
        *PLACE,
    ),
    ("company", "rename"): ("CODE", "NEW_CODE", *PLACE),
    ("company", "delete"): (
        *("CODE", "--yes", "--archive-folder DIR", "--passphrase-file FILE", "--without-archive", "--json"),
        *PLACE,
    ),
    ("audit",): (
        *("--who TEXT", "--what TEXT", "--subject TEXT", "--company CODE", "--since TIME", "--until TIME"),
        *("--limit", "--follow", "--csv", "--json"),
        *PLACE,
    ),
    ("company", "export"): ("CODE", "FILE.tar.gz", "--freeze", "--passphrase-file FILE", "--json", *PLACE),
    ("company", "move"): (
        *("CODE", "--to TARGET", "--check TARGET", "--code CODE", "--operator CODE", "--target-config FILE"),
        *("--token-file FILE", "--passphrase-file FILE", "--json", *PLACE),
    ),
    ("company", "thaw"): ("CODE", *PLACE),
    ("company", "suspend"): ("CODE", "--reason TEXT", *PLACE),
    ("company", "resume"): ("CODE", *PLACE),
    ("company", "import"): (
        "FILE.tar.gz",
        "--code CODE",
        "--operator CODE",
        "--passphrase-file FILE",
        "--json",
        *PLACE,
    ),
    ("company", "clone"): ("CODE", "NEW_CODE", "--name TEXT", "--sandbox / --no-sandbox", "--json", *PLACE),
    ("company", "show"): ("CODE", "--json", *PLACE),
    ("company", "list"): ("--json", *PLACE),
    ("recovery", "list"): ("--done", "--json", *PLACE),
    ("recovery", "dismiss"): ("[ID]...", "--all", *PLACE),
    ("recovery", "confirm"): ("[ID]...", "--all", *PLACE),
    ("recovery", "end"): ("[ID]...", "--all", "--keep-users", "--yes", *PLACE),
    ("replica", "config"): ("REPLICA", *PLACE),
    ("replica", "status"): ("--json", *PLACE),
    ("replica", "restore"): ("REPLICA", "--litestream FILE", "--json", *PLACE),
    ("upgrade",): (
        "FILE",
        "--public-key FILE",
        "--sha256 HEX",
        "--only-rehearse",
        "--json",
        *PLACE,
    ),
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
    ("module", "enable"): ("COMPANY [MODULE...]", "--all", "--json", *PLACE),
    ("module", "disable"): ("COMPANY MODULE...", "--json", *PLACE),
    ("user", "create"): (
        "EMAIL",
        "--role [platform-admin|company-admin|member]",
        "--company CODE",
        "--name TEXT",
        "--ability A",
        "--link",
        "--password-stdin",
        "--json",
        *PLACE,
    ),
    ("user", "list"): ("--json", *PLACE),
    ("user", "show"): ("EMAIL", "--json", *PLACE),
    ("user", "change"): (
        "EMAIL",
        "--name TEXT",
        "--email NEW",
        "--role [platform-admin|company-admin|member]",
        "--add-company CODE",
        "--remove-company CODE",
        "--ability A",
        "--clear-abilities",
        *PLACE,
    ),
    ("user", "enable"): ("EMAIL", *PLACE),
    ("user", "delete"): ("EMAIL", "--yes", *PLACE),
    ("user", "reset-password"): ("EMAIL", *PLACE),
    ("user", "first-admin-link"): PLACE,
    ("user", "disable"): ("EMAIL", *PLACE),
    ("user", "unlink"): ("EMAIL", *PLACE),
    ("user", "remove-second-factor"): ("EMAIL", *PLACE),
    ("user", "set-password"): ("EMAIL", "--keep-tokens", "--password-stdin", *PLACE),
    ("token", "create"): ("--user EMAIL", "--ability A", "--company CODE", "--name TEXT", "--expires 90D", *PLACE),
    ("token", "list"): ("--json", *PLACE),
    ("token", "revoke"): ("ID", *PLACE),
    ("token", "rotate-key"): ("--yes", *PLACE),
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
    ("article", "list"): ("--search TEXT", "--code TEXT", "--barcode TEXT", *RECORDS),
    ("article", "show"): ("ARTICLE", *ONE),
    ("article", "create"): ("CODE", "--unit TEXT", "--client CODE", "--min-stock N", *RECORD),
    ("article", "change"): ("ARTICLE", "--code TEXT", "--barcodes TEXT", "--weight-kg N", *RECORD),
    ("partner", "list"): ("--type [CLIENT|FURNIZOR|TRANSPORTATOR]", "--active / --no-active", *RECORDS),
    ("partner", "show"): ("PARTNER", *ONE),
    ("partner", "create"): ("CODE", "--type [CLIENT|FURNIZOR|TRANSPORTATOR]", "--tax-id TEXT", *RECORD),
    ("partner", "change"): ("PARTNER", "--code TEXT", "--phone TEXT", *RECORD),
    ("client", "list"): ("--code TEXT", "--active / --no-active", *RECORDS),
    ("client", "show"): ("CLIENT", *ONE),
    ("client", "create"): ("CODE", "--tax-id TEXT", "--address-city TEXT", *RECORD),
    ("client", "change"): ("CLIENT", "--code TEXT", "--email TEXT", *RECORD),
    ("warehouse", "list"): ("--code TEXT", "--active / --no-active", *RECORDS),
    ("warehouse", "show"): ("WAREHOUSE", *ONE),
    ("warehouse", "create"): ("CODE", "--address-street TEXT", *RECORD),
    ("warehouse", "change"): ("WAREHOUSE", "--code TEXT", *RECORD),
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
    ("count", "list"): ("--warehouse CODE", *LIST),
    ("count", "show"): ("COUNT", *ONE),
    ("count", "status"): ("COUNT", "STATUS", *ONE),
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
    ("status",): ("--json", *PLACE),
    ("backup", "create"): ("[FILE]", "--folder DIR", "--passphrase-file FILE", "--json", *PLACE),
    ("backup", "list"): ("--folder DIR", "--json", *PLACE),
    ("backup", "verify"): ("[FILE]", "--folder DIR", "--passphrase-file FILE", "--json", *PLACE),
    ("backup", "schedule"): ("--run", "--json", *PLACE),
    ("backup", "restore"): (
        "FILE",
        "--company CODE",
        "--only-platform",
        "--anyway",
        "--yes",
        "--passphrase-file FILE",
        "--json",
        *PLACE,
    ),
    ("recovery-phrase", "create"): ("--json", *PLACE),
    ("recovery-phrase", "replace"): ("--yes", "--json", *PLACE),
    ("recovery-phrase", "check"): ("--passphrase-file FILE", *PLACE),
    ("recovery-phrase", "decline"): ("--yes", *PLACE),
    ("recovery-phrase", "list"): ("--json", *PLACE),
    ("doctor",): ("--company CODE", "--fix", "--dry-run", "--json", *PLACE),
    ("tls", "show"): ("--json", *PLACE),
    ("tls", "export"): ("FILE", *PLACE),
    ("alerts", "list"): ("--json", *PLACE),
    ("alerts", "test"): ("--json", *PLACE),
    ("alerts", "confirm"): ("CODE", *PLACE),
    ("logs",): (
        *("--since TIME", "--level [debug|info|warning|error]", "--company CODE", "--request ID"),
        *("--lines", "--follow", "--json"),
        *PLACE,
    ),
    ("support-bundle",): ("FILE", "--with-names", "--quick", "--lines", "--json", *PLACE),
    ("clock", "show"): ("--json", *PLACE),
    ("clock", "confirm"): PLACE,
    ("config", "show"): ("--json", *PLACE),
    ("config", "check"): PLACE,
    ("config", "init"): ("[FILE]",),
    ("service", "install"): ("--user", "--data", "--listen", "--program", "--offline", "--dry-run"),
    ("service", "status"): ("--json",),
    ("service", "uninstall"): (),
    ("completion", "install"): ("[bash|zsh|fish]",),
    ("completion", "show"): ("{bash|zsh|fish}",),
    ("licenses",): ("[NAME]", "--full", "--json"),
    ("version",): ("--json",),
}


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command of the program."""
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
