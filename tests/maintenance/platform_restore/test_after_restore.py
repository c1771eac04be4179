"""The day after a restore: the losses, and the access that may have come back, are reported as problems until each
is settled.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.backups import RECOVERY_WORDS, UNLIMITED, add_article, back_up, restore, sql
from tests.support.command import EMAIL, NO_BACKUPS, Home, Server, first_day
from tests.support.mailbox import ALLOWED, Mailbox, open_mailbox

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
LONGEST = 45.0
OTHER = "leaver@example.com"
ALL_ARE_USERS = {"user-unconfirmed"}


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with open_mailbox() as opened:
        yield opened


@pytest.fixture
def site(home: Home, mailbox: Mailbox) -> Home:
    """Create an installation with a webhook, a second user, and a token of a program."""
    first_day(home)
    home.environment.update({**ALLOWED, **UNLIMITED, **NO_BACKUPS})
    home.ok("user", "create", OTHER, "--role", "company-admin", "--company", "ACME", "--link")
    home.ok("token", "create", "--user", EMAIL, "--ability", "articles:read", "--name", "nightly sync")
    with home.serving() as server:
        hook = {"name": "ERP", "url": mailbox.url, "events": ["article.created"], "secret": SECRET}
        assert server.send("POST", "/api/webhooks", hook)[0] == 201
        assert server.get("/api/articles", token=token_of(home, "nightly"))[0] == 200
        add_article(server, "KEPT")
        until(lambda: len(mailbox.letters) == 1)
    mailbox.letters.clear()
    return home


def token_of(home: Home, name: str) -> str:
    return home.ok("token", "create", "--user", EMAIL, "--ability", "*", "--name", name).out.strip()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < end, "never came to hold"
        time.sleep(0.05)


def lose(site: Home) -> Path:
    """Delete the data folder, and return the archive that remains."""
    archive = back_up(site, f"{time.monotonic_ns()}.tar.gz")
    shutil.rmtree(site.data)
    return archive


def listed(site: Home, *options: str) -> dict[str, Any]:
    shown: dict[str, Any] = site.ok("recovery", "list", "--json", *options).json
    return shown


def open_now(site: Home) -> set[tuple[str, str, str]]:
    found = listed(site)
    return {(each["check"], each["subject"], each["name"]) for each in [*found["lost"], *found["access"]]}


def health(server: Server) -> tuple[str, Any]:
    body = server.get("/api/health", token="")[1]
    return body["status"], body["checks"].get("recovery")


def ids(site: Home, check: str, subject: str = "") -> list[str]:
    found = listed(site)
    return [
        str(each["id"])
        for each in [*found["lost"], *found["access"]]
        if each["check"] == check and subject in ("", each["subject"])
    ]


def test_the_list_has_exactly_what_is_lost(site: Home) -> None:
    archive = lose(site)
    done = site.ok("backup", "restore", archive)
    assert "until then, its webhook deliveries wait. `wmsd recovery list` lists what is lost." in done.err
    assert "wmsd does not know which access was revoked or disabled after " in done.err
    assert (
        "The list of tasks that the last restore requires does not exist yet" in site.run("doctor").out
    )  # before the first start
    assert open_now(site) == {
        ("token-lost", EMAIL, "command line"),
        ("token-lost", EMAIL, "nightly"),
        ("token-lost", EMAIL, "nightly sync"),
        ("credentials-lost", "ACME", "ERP"),
        ("user-unconfirmed", EMAIL, "platform-admin"),
        ("user-unconfirmed", OTHER, "company-admin"),
    }
    found = listed(site)
    used = {each["name"]: each["last_used_at"] for each in found["lost"]}
    assert used["nightly"] is not None
    assert used["nightly sync"] is None
    [hook] = [each for each in found["lost"] if each["check"] == "credentials-lost"]
    assert (hook["company_id"], hook["record_id"], hook["host"].split(":")[0]) == (1, 1, "127.0.0.1")


def test_everything_is_red_until_each_is_settled(site: Home, mailbox: Mailbox) -> None:
    archive = lose(site)
    restore(site, archive)
    with site.serving() as server:
        assert health(server) == ("degraded", {"ok": False, "degraded": True})
        assert "Tasks after a restore are not settled" in " ".join(site.run("status").wrong)
        until(lambda: ("credentials-lost", "ACME", "ERP") in open_now(site))
        token = token_of(site, "command line")
        assert server.get("/api/health", token=token)[1]["checks"]["recovery"]["open"] == 5
        findings = site.run("doctor", "--json").json[-1]["installation"]
        assert {each["check"] for each in findings if each["severity"] == "wrong"} == {
            *("token-lost", "credentials-lost", "user-unconfirmed")
        }
        until(lambda: "recovery" in alerts(site))

        for code in ("NEW-1", "NEW-2"):  # the deliveries wait, and use up no attempt
            assert server.send("POST", "/api/articles", {"code": code, "name": code}, token=token)[0] == 201
        until(lambda: len(waiting(server, token)) == 2)
        assert [each["attempts"] for each in waiting(server, token)] == [[], []]
        assert not mailbox.letters
        assert server.send("PATCH", "/api/webhooks/1", {"secret": SECRET}, token=token)[0] == 200
        until(lambda: len(mailbox.letters) == 2)
        until(lambda: not ids(site, "credentials-lost"))
        assert waiting(server, token) == []

        token_of(site, "nightly sync")
        site.ok("recovery", "dismiss", *ids(site, "token-lost"))
        assert {each[0] for each in open_now(site)} == ALL_ARE_USERS
        assert health(server)[0] == "degraded"
        site.ok("recovery", "confirm", *ids(site, "user-unconfirmed", EMAIL))
        site.ok("recovery", "end", *ids(site, "user-unconfirmed", OTHER))
        assert open_now(site) == set()
        assert health(server) == ("ok", None)
    users = {each["email"]: each["disabled"] for each in site.ok("user", "list", "--json").json}
    assert users == {EMAIL: False, OTHER: True}
    how = {(each["name"], each["done_as"]) for each in listed(site, "--done")["done"]}
    assert how == {
        ("command line", "renewed"),
        ("nightly", "dismissed"),
        ("nightly sync", "renewed"),
        ("ERP", "renewed"),
        ("platform-admin", "confirmed"),
        ("company-admin", "ended"),
    }


def alerts(site: Home) -> set[str]:
    return {each["kind"] for each in site.ok("alerts", "list", "--json").json["open"]}


def waiting(server: Server, token: str) -> list[Any]:
    found = server.get("/api/v2/webhooks/1/deliveries", token=token)[1]["data"]
    return [each for each in found if each["waits_because"] == "credentials_missing"]


def test_with_the_keys_only_access_is_to_be_confirmed(site: Home) -> None:
    words = site.write("words", f"{RECOVERY_WORDS}\n")
    archive = back_up(site, "--passphrase-file", words)
    shutil.rmtree(site.data)
    said = restore(site, archive, "--passphrase-file", words)
    [made_at] = {said["made_at"]}
    assert said["access_unknown_after"] == made_at
    with site.serving() as server:
        assert server.get("/api/articles")[0] == 200
        until(lambda: {each[0] for each in open_now(site)} == ALL_ARE_USERS)
        found = listed(site)
        assert found["access_unknown_after"] == made_at
        assert {each["subject"]: each["tokens"] for each in found["access"]} == {EMAIL: 3, OTHER: 0}
        site.ok("recovery", "end", "--keep-users", *ids(site, "user-unconfirmed", EMAIL))
        server.soon("/api/articles", lambda status, _: status == 401)
        site.ok("recovery", "confirm", "--all")
        assert health(server) == ("ok", None)
    assert not any(each["disabled"] for each in site.ok("user", "list", "--json").json)


def test_where_the_replaced_file_can_be_read_nothing_is_to_be_settled(site: Home) -> None:
    archive = back_up(site)
    site.ok("user", "disable", OTHER)
    assert restore(site, archive)["access_unknown_after"] is None
    assert open_now(site) == set()
    assert {each["email"] for each in site.ok("user", "list", "--json").json if each["disabled"]} == {OTHER}


def test_where_it_cannot_be_read_who_was_shut_out_is_back_and_listed(site: Home) -> None:
    archive = back_up(site)
    site.ok("user", "disable", OTHER)
    (site.data / "platform.db").write_bytes(b"damaged")
    restore(site, archive)
    assert ("user-unconfirmed", OTHER, "company-admin") in open_now(site)
    site.ok("user", "disable", OTHER)  # by the ordinary command
    assert ids(site, "user-unconfirmed", OTHER) == []


def test_end_all_spares_platform_admins(site: Home) -> None:
    restore(site, lose(site))
    site.ok("recovery", "end", "--all", "--yes")
    disabled = {each["email"]: each["disabled"] for each in site.ok("user", "list", "--json").json}
    assert disabled == {EMAIL: False, OTHER: True}
    assert ids(site, "user-unconfirmed") == ids(site, "user-unconfirmed", EMAIL)


def test_nothing_is_forgotten_by_a_restart_or_ticked_off_by_a_look(site: Home) -> None:
    restore(site, lose(site))
    before = open_now(site)
    for _ in range(2):
        with site.serving():
            assert open_now(site) == before


def test_status_is_red_before_the_first_start_and_good_when_all_is_settled(site: Home) -> None:
    restore(site, lose(site))
    [wrong] = [each for each in site.run("status").wrong if "after a restore are not settled" in each]
    assert "Tasks after a restore are not settled. Open entries in the list: 1." in wrong
    open_now(site)
    assert "Open entries in the list: 6." in " ".join(site.run("status").wrong)
    assert site.run("status", "--json").json["day after"] == "6 open: see wmsd recovery list"
    site.ok("recovery", "dismiss", "--all")
    site.ok("recovery", "confirm", "--all")
    assert site.ok("status").code == 0


def test_what_is_ticked_off_twice_is_ticked_off_once(site: Home) -> None:
    restore(site, lose(site))
    [entry] = ids(site, "user-unconfirmed", EMAIL)
    with site.serving(), ThreadPoolExecutor(2) as both:
        done = [*both.map(lambda _: site.ok("recovery", "confirm", entry).err, range(2))]
    assert sorted("Entries settled: 1." in each for each in done) == [False, True]
    assert sorted("These entries are already settled." in each for each in done) == [False, True]
    [[audited]] = sql(
        site.data / "platform.db", "SELECT count(*) FROM audit WHERE action LIKE 'recovery.confirm%'"
    )
    assert audited == 1


def test_what_is_no_entry_changes_nothing(site: Home) -> None:
    restore(site, lose(site))
    before = open_now(site)
    [lost, *_] = ids(site, "token-lost")
    [admin] = ids(site, "user-unconfirmed", EMAIL)
    assert "is not in the list" in site.refused("recovery", "confirm", admin, "999")
    assert "this entry is about something lost, not about access" in site.refused(
        "recovery", "confirm", admin, lost
    )
    assert "this entry is about access, not about something lost" in site.refused("recovery", "dismiss", admin)
    assert "last platform admin" in site.refused("recovery", "end", admin)
    assert "Give the IDs of entries" in site.misunderstood("recovery", "confirm")
    assert open_now(site) == before


def test_a_second_disaster_while_the_list_is_open(site: Home) -> None:
    """Credentials that were created since the first restore are lost again; an open entry stays one entry."""
    restore(site, lose(site))
    first = open_now(site)
    token_of(site, "nightly sync")
    site.ok("recovery", "confirm", *ids(site, "user-unconfirmed", OTHER))
    restore(site, lose(site))
    assert open_now(site) == first
    assert len(listed(site)["lost"]) == 4


def test_the_same_backup_again_over_an_open_list(site: Home) -> None:
    """The keys are those created after the first restore: tokens of the backup still do not work, and later tokens
    do not either.
    """
    archive = lose(site)
    restore(site, archive)
    first = open_now(site)
    token_of(site, "nightly sync")
    site.ok("recovery", "dismiss", *ids(site, "token-lost", EMAIL)[:1])
    site.ok("recovery", "confirm", *ids(site, "user-unconfirmed", OTHER))
    dismissed = first - open_now(site)
    assert restore(site, archive)["keys"] == "replaced"
    dismissed.remove(("token-lost", EMAIL, "nightly sync"))  # this token is not in the backup
    with site.serving() as server:
        until(lambda: ("credentials-lost", "ACME", "ERP") in open_now(site))
        assert open_now(site) == first - dismissed
        assert health(server)[0] == "degraded"


def test_a_new_installation_has_nothing_to_settle(home: Home) -> None:
    first_day(home)
    assert listed(home) == {"access_unknown_after": None, "lost": [], "access": [], "done": []}
    assert "There is nothing to do" in home.ok("recovery", "list").out + home.ok("recovery", "list").err
