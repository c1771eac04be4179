"""`wmsd company move`: one command for an installation on this machine, and two commands for another machine."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.backups import RECOVERY_WORDS, add_article, articles
from tests.support.command import EMAIL, Home, Server, first_day
from tests.support.mailbox import ALLOWED, open_mailbox

SECRET = "a secret that nobody guesses, ever"
ENVIRONMENT = {"WMSD_LIMITS_DATA_PER_MINUTE": "1000000", **ALLOWED}


@pytest.fixture
def acme(home: Home) -> Home:
    first_day(home)
    home.environment |= ENVIRONMENT
    for email in ("ana@example.com", "both@example.com"):
        home.ok(
            *("user", "create", email, "--role", "member", "--company", "ACME", "--password-stdin"),
            *("--ability", "articles:write", "--ability", "articles:read"),
            stdin="correct horse battery\n",
        )
    home.ok("import", "warehouses", "-", "--company", "ACME", stdin="code,name\nMAIN,Main\n")
    home.ok("site", "create", "ACME", "MAIN", "--name", "Dock 1")
    return home


@pytest.fixture
def elsewhere(home: Home, tmp_path: Path) -> Home:
    """Create another installation in a new process. Installations created in one process would have the same
    id.
    """
    (tmp_path / "elsewhere").mkdir()
    other = Home(home.program, tmp_path / "elsewhere", dict(ENVIRONMENT))
    other.run_fresh("company", "create", "OTHER", "--name", "Other", "--init", "--all-modules")
    other.ok(
        *("user", "create", "both@example.com", "--role", "member", "--company", "OTHER", "--password-stdin"),
        stdin="correct horse battery\n",
    )
    return other


def subscribed(server: Server, url: str) -> int:
    body = {"name": "R", "url": url, "events": ["*"], "secret": SECRET}
    status, made = server.send("POST", "/api/webhooks", body)
    assert status == 201
    return int(made["id"])


def open_items(shown: Any) -> dict[str, str | None]:
    return {each["what"]: each["to_do"] for each in shown["checks"] if each["done"] is not True}


def typed(home: Home, to_do: str) -> None:
    """Run a suggested command in the other installation."""
    words = shlex.split(to_do.removeprefix("there, "))
    assert words[0] == "wmsd"
    done = home.run(*words[1:])
    assert done.code == 0, done


def test_a_move_on_one_machine_is_one_act_and_its_list_is_ticked_off(acme: Home, elsewhere: Home) -> None:
    with open_mailbox() as mailbox, acme.serving() as server, elsewhere.serving() as new:
        hook = subscribed(server, mailbox.url)
        mailbox.delay = 1
        for code in ("A1", "A2", "A3"):
            add_article(server, code)
        moved = acme.ok("company", "move", "ACME", "--to", elsewhere.data, "--json").json
        assert server.send("POST", "/api/articles", {"code": "B", "name": "B"})[0] == 503
        assert articles(server) == ["A1", "A2", "A3"]
        left = open_items(moved)
        commands = [each for each in left.values() if each and each.startswith("wmsd ")]
        assert len(commands) == 5, left
        for command in commands:
            if "token create" in command:
                command = command.replace("EMAIL", "both@example.com").replace("ABILITY", "articles:read")
            typed(acme, command)  # each command names its installation by --data
        elsewhere.ok("token", "create", "--user", "ana@example.com", "--ability", "articles:write")
        token = elsewhere.ok("token", "create", "--user", "both@example.com", "--ability", "articles:read").out
        new.soon("/api/articles", lambda status, _: status == 200, token=token.strip(), company=2)
        checked = acme.run("company", "move", "ACME", "--check", elsewhere.data, "--json")
        assert [*open_items(checked.json)] == ["The company's id was 1, and is 2 in the other installation."], (
            checked
        )
        letters = mailbox.wait_for(3)
        assert sorted({int(each.headers["x-webhook-sequence"]) for each in letters}) == [1, 2, 3]
        assert len({each.headers["x-webhook-id"] for each in letters}) == len(letters) == 3
    assert hook == 1
    assert [path.name for path in elsewhere.data.iterdir() if path.name.startswith(".taking-over")] == []
    acme.ok("company", "delete", "ACME", "--yes")
    said = acme.refused("company", "move", "ACME", "--check", elsewhere.data)
    assert "no such company" in said
    assert elsewhere.run("doctor").code in (0, 3)


def test_without_a_server_too_and_a_failed_import_ends_the_freeze(acme: Home, elsewhere: Home) -> None:
    elsewhere.ok("company", "create", "ACME", "--name", "Another")
    done = acme.run("company", "move", "ACME", "--to", elsewhere.data)
    assert (done.code, "The company ACME already exists." in done.err) == (1, True)
    assert "ACME is not frozen: the company accepts changes again." in done.err
    moved = acme.run("company", "move", "ACME", "--to", elsewhere.data, "--code", "GUEST")
    assert (moved.code, "[x] ACME is in the other installation, as GUEST." in moved.out) == (0, True)
    assert (
        "[x] The last event from here is in the other installation."
    ) not in moved.out or "All records are in the other installation" in moved.out
    assert "GUEST" in elsewhere.ok("company", "list").out
    assert "wmsd company delete ACME" in moved.err


def test_to_another_machine_by_a_file_and_checked_over_its_api(acme: Home, elsewhere: Home) -> None:
    words = acme.write("words", f"{RECOVERY_WORDS}\n")
    words.chmod(0o600)
    with open_mailbox() as mailbox, acme.serving() as server, elsewhere.serving() as new:
        subscribed(server, mailbox.url)
        add_article(server, "A1")
        mailbox.wait_for(1)
        moved = acme.ok("company", "move", "ACME", "--to", "acme.tar.gz", "--passphrase-file", words)
        assert server.send("POST", "/api/articles", {"code": "B", "name": "B"})[0] == 503
        [command] = [line.strip() for line in moved.err.splitlines() if line.startswith("  wmsd company import")]
        token = acme.write("token-there", elsewhere.ok(*admin_token(elsewhere)).out)
        check = ("company", "move", "ACME", "--check", new.address, "--token-file", token, "--json")
        before = acme.run(*check)
        assert (before.code, [*open_items(before.json)]) == (
            1,
            [f"The token has no access to a company ACME at {new.address}."],
        )
        (elsewhere.folder / "acme.tar.gz").write_bytes((acme.folder / "acme.tar.gz").read_bytes())
        typed(elsewhere, command.replace("--passphrase-file FILE", f"--passphrase-file {words}"))
        new.soon("/api/companies", lambda _, told: len(told["data"]) == 2, token=token.read_text().strip())
        listed = acme.run(*check)
        assert listed.out, listed
        left = open_items(listed.json)
        assert left["The webhook R is off in the other installation."] == "wmsd webhook on 1 --company ACME"
        for what, to_do in left.items():
            if to_do and to_do.startswith("there, wmsd user create ana"):
                typed(elsewhere, to_do)
            elif what == "The webhook R is off in the other installation.":
                typed(elsewhere, str(to_do))
        done = acme.run(*check)
        told = {each["what"]: each["done"] for each in done.json["checks"]}
        assert (
            told["The last event from here is in the other installation."],
            told["The token has access to the company there."],
        ) == (True, True)
        assert told[
            "All records are in the other installation: 1 articles, 0 sales orders, 0 purchase orders, 0 "
            "receptions, 0 returns."
        ]
        assert False not in told.values()
        assert done.code == 0


def admin_token(home: Home) -> list[str]:
    home.ok(
        *("user", "create", EMAIL, "--role", "platform-admin", "--password-stdin"), stdin="correct horse battery\n"
    )
    return ["token", "create", "--user", EMAIL, "--ability", "*"]


def test_a_place_that_is_none_is_refused_before_anything_is_frozen(acme: Home, elsewhere: Home) -> None:
    (acme.folder / "empty").mkdir()
    for target, said in (
        ("https://wms.example.com", "wmsd cannot move a company over the network."),
        ("nowhere", "must be the data folder of another installation, or a file name that ends with"),
    ):
        assert said in " ".join(acme.run("company", "move", "ACME", "--to", target).err.split())
    assert "There is no wmsd data in" in acme.refused("company", "move", "ACME", "--to", "empty")
    assert "is this installation or a copy of it." in acme.refused("company", "move", "ACME", "--to", acme.data)
    said = acme.refused("company", "move", "ACME", "--check", elsewhere.data)
    assert "has no company that was imported from ACME of this installation." in said
    assert json.loads(acme.ok("company", "list", "--json").out)[0]["frozen_at"] is None
