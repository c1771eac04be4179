"""Tests of which data folder a command uses. No data folder is created unless the user asks for it."""

import pytest

from tests.support.command import ANY_PORT, EMAIL, PASSWORD, Home

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
    ("user", "create", "stays@example.com", "--role", "platform-admin", "--password-stdin"),
    ("user", "list"),
    ("user", "disable", EMAIL),
    ("user", "set-password", EMAIL, "--password-stdin"),
    ("token", "create", "--user", EMAIL, "--ability", "*"),
    ("token", "list"),
    ("token", "revoke", "1"),
    ("token", "rotate-key", "--yes"),
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


@pytest.mark.parametrize("command", GOOD, ids=lambda command: " ".join(command[:2]))
def test_no_data_folder_is_made_silently(home: Home, command: tuple[str, ...]) -> None:
    sentence = home.refused(*command, stdin=f"{PASSWORD}\n")
    assert sentence.startswith(f"There is no wmsd data in {home.data}. Start `wmsd serve` there first")
    assert list(home.folder.iterdir()) == []


def test_config_and_version_make_nothing(home: Home) -> None:
    home.ok("config", "show")
    home.ok("config", "check", env=ANY_PORT)
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
