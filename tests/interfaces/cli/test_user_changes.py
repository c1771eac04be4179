"""`wmsd user show`, `change`, `enable`, `delete`, `reset-password`, `first-admin-link`."""

import getpass
import shlex
import subprocess
from contextlib import closing
from typing import Any

import pytest

from tests.interfaces.cli.test_people import claims, make, user
from tests.support.command import EMAIL, PASSWORD, Home
from tests.support.forked import LONGEST
from wmsd.db.engine.sqlite import sqlite3

LAST = (
    f"{EMAIL} is the last platform admin who can sign in. Create another platform admin first: wmsd "
    "user create EMAIL --role platform-admin --link."
)


NOTHING = "No link, session or token was ended."


def rows(home: Home, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(home.data / "platform.db")) as platform:
        return list(platform.execute(sql, parameters))


def audited(home: Home, action: str, subject: str) -> list[tuple[Any, ...]]:
    sql = "SELECT actor, details FROM audit WHERE action = ? AND subject = ?"
    return rows(home, sql, action, subject)


def token_of(home: Home, email: str) -> str:
    return home.ok("token", "create", "--user", email, "--ability", "stock:read", "--name", "ERP").out.strip()


def test_a_user_is_shown_with_all_that_matters(shared: Home) -> None:
    make(shared, "shown@example.com", "--role", "member", "--company", "ACME", "--ability", "stock:read")
    token_of(shared, "shown@example.com")
    shown = shared.ok("user", "show", "Shown@example.com", "--json").json
    (token,) = shown.pop("tokens")
    assert (token["name"], token["abilities"], token["companies"], token["state"], token["last_used_at"]) == (
        *("ERP", ["stock:read"], None, "active"),
        None,
    )
    assert shown.pop("created_at")
    assert shown.pop("id")
    assert shown == {
        "email": "shown@example.com",
        "name": "shown@example.com",
        "role": "member",
        "companies": ["ACME"],
        "abilities": ["stock:read"],
        "disabled": False,
        "waiting_since": None,
        "waiting_role": None,
        "waiting_company_codes": [],
        "waiting_abilities": [],
        "password": True,
        "second_factor": False,
        "single_sign_on": [],
        "link_until": None,
        "created_by": f"command line, unix user {getpass.getuser()}",
        "sessions": [],
    }
    for_people = shared.ok("user", "show", "shown@example.com").out
    assert "created_by" in for_people
    assert "everything in these companies" in shared.ok("user", "show", EMAIL).out
    assert "sessions: none" in for_people
    assert "tokens: 1" in for_people
    assert shared.ok("user", "show", EMAIL, "--json").json["companies"] == "all"
    assert shared.refused("user", "show", "no@example.com") == "There is no such user as no@example.com."


def test_a_user_is_changed(shared: Home) -> None:
    shared.ok("company", "create", "SECOND", "--name", "Second")
    make(shared, "changed@example.com", "--role", "member", "--company", "ACME", "--ability", "stock:read")
    change = ("user", "change", "changed@example.com")
    shared.ok(*change, "--name", "Ana", "--add-company", "SECOND", "--remove-company", "ACME")
    found = user(shared, "changed@example.com")
    assert (found["name"], found["companies"], found["abilities"]) == ("Ana", ["SECOND"], ["stock:read"])
    shared.ok(*change, "--ability", "articles:read", "--ability", "sales-orders:read")
    assert user(shared, "changed@example.com")["abilities"] == ["articles:read", "sales-orders:read"]
    shared.ok(*change, "--ability", "office")
    assert "purchase-orders:write" in user(shared, "changed@example.com")["abilities"]
    shared.ok(*change, "--clear-abilities")
    assert all(each.endswith(":read") for each in user(shared, "changed@example.com")["abilities"])
    shared.ok(*change, "--email", "New@example.com", "--role", "company-admin")
    assert user(shared, "new@example.com")["role"] == "company-admin"
    ((actor, details),) = audited(shared, "user.change", "changed@example.com")[-1:]
    assert actor == f"command line, unix user {getpass.getuser()}"
    assert details == '{"email":{"before":"changed@example.com","after":"new@example.com"}}'


def test_what_is_given_says_what_waits_and_leads_to_the_link(shared: Home) -> None:
    """The audit of this installation does not say who chose the password, so the password is valid for ACME
    only.
    """
    shared.ok("company", "create", "WAITS", "--name", "Waits")
    make(shared, "rises@example.com", "--role", "member", "--company", "ACME", "--ability", "stock:read")
    change = ("user", "change", "rises@example.com")
    token = token_of(shared, "rises@example.com")
    with closing(sqlite3.connect(shared.data / "platform.db")) as platform:
        platform.execute("UPDATE users SET password_scope = '[1]' WHERE email = 'rises@example.com'")
        platform.commit()
    assert shared.ok(*change, "--name", "Ana").err.endswith(f"rises@example.com is changed. {NOTHING}\n")
    shared.ok("user", "reset-password", "rises@example.com")
    told = shared.ok(*change, "--ability", "stock:read", "--ability", "articles:read").err
    assert told.endswith(f"rises@example.com is changed. {NOTHING}\n")
    told = shared.ok(*change, "--role", "company-admin", "--add-company", "WAITS").err
    assert told.splitlines()[-3:] == [
        "rises@example.com is changed. No longer valid: the link to a new password. The link was "
        "created before the rights changed, and another person may have a copy.",
        "Not yet valid: the company WAITS, the role company-admin. rises@example.com must first sign in "
        "by single sign-on, or choose a password with a new link, because another person may know the "
        "present password.",
        "To create a password link: wmsd user reset-password rises@example.com",
    ]
    shown = shared.ok("user", "show", "rises@example.com", "--json").json
    assert shown["waiting_since"] > shown["created_at"]
    assert (shown["waiting_role"], shown["waiting_company_codes"]) == ("company-admin", ["WAITS"])
    with shared.serving() as server:
        assert server.get("/api/stock", token)[0] == 200
        assert [each["code"] for each in server.get("/api/companies", token)[1]["data"]] == ["ACME"]
    told = shared.ok(*change, "--remove-company", "WAITS", "--role", "member").err
    assert "Waiting" not in told, "the link is good for all that is left"
    shared.ok(*change, "--add-company", "WAITS")
    stdin = f"{PASSWORD}\n"
    shared.ok("user", "set-password", "rises@example.com", "--password-stdin", stdin=stdin)
    assert shared.ok("user", "show", "rises@example.com", "--json").json["waiting_since"] is None
    told = shared.ok(
        *change, "--role", "platform-admin", "--remove-company", "ACME", "--remove-company", "WAITS"
    ).err
    assert "Waiting" not in told


def test_who_changes_the_rights_of_somebody_who_is_invited_makes_another_link(shared: Home) -> None:
    create = ("user", "create", "invited-too@example.com", "--role", "member", "--company", "ACME", "--link")
    shared.ok(*create)
    done = shared.ok("user", "change", "invited-too@example.com", "--remove-company", "ACME")
    assert done.err.splitlines()[-2:] == [
        "invited-too@example.com is changed. No longer valid: the link to a new password. The link was "
        "created before the rights changed, and another person may have a copy.",
        "To create a password link: wmsd user reset-password invited-too@example.com",
    ]


def test_sudo_is_told_in_the_audit(shared: Home) -> None:
    make(shared, "sudo@example.com", "--role", "member", "--company", "ACME")
    shared.ok("user", "change", "sudo@example.com", "--name", "X", env={"SUDO_USER": "ana"})
    shared.ok("user", "change", "sudo@example.com", "--name", "Y", env={"SUDO_USER": "a\nb"})
    name = f"command line, unix user {getpass.getuser()}"
    assert [actor for actor, _ in audited(shared, "user.change", "sudo@example.com")] == [
        f"{name}, by sudo of ana",
        name,
    ]


def test_a_change_that_is_refused_changes_nothing_and_names_the_option(shared: Home) -> None:
    make(shared, "kept@example.com", "--role", "member", "--company", "ACME", "--ability", "stock:read")
    before = shared.ok("user", "list", "--json").json
    change = ("user", "change", "kept@example.com")
    for arguments, sentences in (
        (["--add-company", "NONE"], ["--add-company NONE is not a company of this installation."]),
        (["--remove-company", "NONE"], ["--remove-company NONE is not a company of this user."]),
        (["--ability", "everything"], ["--ability everything is not an ability of this platform."]),
        (
            ["--ability", "article:read"],
            ["--ability article:read is not an ability of this platform; the nearest is articles:read."],
        ),
        (["--name", ""], ["--name must have at least 1 character."]),
        (["--name", "Kept", "--email", EMAIL], [f"--email {EMAIL} is taken by another user."]),
        (["--name", "Kept", "--email", "nobody"], ["--email must be an e-mail address."]),
        (
            ["--role", "platform-admin", "--add-company", "ACME"],
            ["--add-company must be empty: a platform admin may use every company."],
        ),
    ):
        assert shared.refusals(*change, *arguments) == sentences
    assert shared.ok("user", "list", "--json").json == before
    admin = ("user", "change", EMAIL, "--ability", "stock:read")
    assert shared.refused(*admin) == "--ability must be empty: an admin has all abilities."
    assert "No changes given." in shared.misunderstood(*change)
    assert "not both" in shared.misunderstood(*change, "--ability", "stock:read", "--clear-abilities")


def test_who_is_disabled_is_let_in_again(shared: Home) -> None:
    make(shared, "back@example.com", "--role", "member", "--company", "ACME")
    token_of(shared, "back@example.com")
    shared.ok("user", "reset-password", "back@example.com")
    told = shared.ok("user", "disable", "Back@example.com").err
    assert (
        "back@example.com is disabled. No longer valid: the link to a new password. Tokens now refused: 1." in told
    )
    told = shared.ok("user", "disable", "back@example.com").err
    assert "back@example.com is already disabled. Nothing was changed." in told
    assert len(audited(shared, "user.disable", "back@example.com")) == 1
    assert shared.refused("user", "set-password", "back@example.com", "--password-stdin", stdin="x\n") == (
        "back@example.com is disabled. First enable the user: wmsd user enable back@example.com"
    )
    let_in = shared.ok("user", "enable", "back@example.com").err
    assert let_in.splitlines()[-1] == "back@example.com is enabled."
    assert user(shared, "back@example.com")["disabled"] is False
    again = shared.ok("user", "enable", "back@example.com").err
    assert "back@example.com is already enabled. No changes were made." in again
    assert len(audited(shared, "user.enable", "back@example.com")) == 1
    assert shared.refused("user", "enable", "no@example.com") == "There is no such user as no@example.com."


def test_who_never_chose_a_password_is_let_in_again_and_needs_a_link(shared: Home) -> None:
    """The link ended when the user was disabled."""
    shared.ok("user", "create", "never@example.com", "--role", "member", "--company", "ACME", "--link")
    shared.ok("user", "disable", "never@example.com")
    link = "To create a password link: wmsd user reset-password never@example.com"
    for sentence in (
        "never@example.com is enabled, but has no password yet.",
        "never@example.com is already enabled, but has no password yet. No changes were made.",
    ):
        assert shared.ok("user", "enable", "Never@example.com").err.splitlines()[-2:] == [sentence, link]
    shared.ok("user", "reset-password", "never@example.com")
    assert shared.ok("user", "enable", "never@example.com").err.splitlines()[-1] == sentence


def test_a_deleted_user_is_gone_and_its_audit_stays(shared: Home) -> None:
    made = make(shared, "gone@example.com", "--role", "member", "--company", "ACME", "--ability", "stock:read")
    with shared.serving() as server:
        token = token_of(shared, "gone@example.com")
        assert server.get("/api/stock", token)[0] == 200
        asked = shared.run("user", "delete", "gone@example.com", stdin="n\n")
        assert asked.code == 1
        assert "Delete gone@example.com?" in asked.err
        assert asked.wrong == ["Nothing was changed."]
        assert shared.run("user", "delete", "gone@example.com").wrong[0].startswith("There was no answer")
        assert shared.refused("user", "delete", "nobody@example.com").startswith("There is no such user")
        assert server.get("/api/stock", token)[0] == 200
        told = shared.ok("user", "delete", "gone@example.com", "--yes").err
        assert "gone@example.com is deleted. No longer valid: the password, 1 token." in told
        server.soon("/api/stock", lambda status, _: status == 401, token=token)
    for table in ("tokens", "user_companies", "sessions", "invitations", "second_factors"):
        assert rows(shared, f"SELECT count(*) FROM {table} WHERE user_id = ?", made["id"]) == [(0,)]
    assert len(audited(shared, "user.create member", "gone@example.com")) == 1
    ((actor, details),) = audited(shared, "user.delete", "gone@example.com")
    assert actor.startswith("command line, unix user ")
    assert '"role":{"before":"member","after":null}' in details
    assert shared.refused("user", "delete", "gone@example.com", "--yes").startswith("There is no such user")
    again = make(shared, "gone@example.com", "--role", "member", "--company", "ACME")
    assert again["id"] > made["id"]


@pytest.mark.parametrize(
    "command",
    [
        ("user", "disable", EMAIL),
        ("user", "delete", EMAIL, "--yes"),
        ("user", "change", EMAIL, "--role", "member", "--add-company", "ACME"),
    ],
    ids=lambda each: each[1],
)
def test_the_last_admin_stays(home: Home, command: tuple[str, ...]) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    make(home, EMAIL, "--role", "platform-admin")
    make(home, "second@example.com", "--role", "platform-admin")
    home.ok("user", "disable", "second@example.com")
    before = home.ok("user", "list", "--json").json
    of_role = "--role cannot be changed: " if command[1] == "change" else ""
    assert home.refused(*command) == of_role + LAST
    assert home.ok("user", "list", "--json").json == before
    if command[1] == "delete":  # the refusal comes before the confirmation question
        assert home.refused(*command[:-1]) == LAST
    home.ok("user", "enable", "second@example.com")
    home.ok(*command)


def test_who_is_the_last_admin_is_told_of_those_who_have_not_come_yet(home: Home) -> None:
    """Another admin would not help: the invited admin must open the link."""
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    invite, invited = ("--role", "platform-admin", "--link"), "o'neil@example.com"
    home.ok("user", "create", "boss@example.com", *invite)
    assert home.refused("user", "delete", "boss@example.com", "--yes") == (
        "boss@example.com is the last platform admin, and has no password yet. Create another platform "
        "admin first: wmsd user create EMAIL --role platform-admin --link."
    )
    home.ok("user", "create", invited, *invite)
    way = "must first open the password link and choose a password. To create a new link: wmsd user reset-password"
    assert home.refused("user", "disable", invited) == (
        "The platform admins o'neil@example.com and boss@example.com have no password yet. "
        f"boss@example.com {way} boss@example.com."
    )
    home.ok("user", "set-password", "boss@example.com", "--password-stdin", stdin=f"{PASSWORD}\n")
    told = (
        "boss@example.com is the only platform admin who can sign in. The platform admin o'neil@example.com "
        f"{way} {shlex.quote(invited)}."
    )
    assert home.refused("user", "disable", "boss@example.com") == told
    assert home.refused("user", "delete", "boss@example.com") == told
    assert home.refused("user", "change", "boss@example.com", "--role", "member") == (
        f"--role cannot be changed: {told}"
    )


def test_an_admin_by_single_sign_on_is_an_admin_who_can_sign_in(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    make(home, EMAIL, "--role", "platform-admin")
    make(home, "sso@example.com", "--role", "platform-admin")
    with closing(sqlite3.connect(home.data / "platform.db")) as platform:
        platform.execute("UPDATE users SET password_hash = '' WHERE email = 'sso@example.com'")
        platform.commit()
    assert home.refused("user", "disable", EMAIL) == (
        f"{EMAIL} is the only platform admin who can sign in. The platform admin sso@example.com must first "
        "open the password link and choose a password. To create a new link: "
        "wmsd user reset-password sso@example.com."
    )
    with closing(sqlite3.connect(home.data / "platform.db")) as platform:
        platform.execute(
            "INSERT INTO sign_on_identities SELECT 'https://login', 'x', id, created_at FROM users "
            "WHERE email = 'sso@example.com'"
        )
        platform.commit()
    home.ok("user", "disable", EMAIL)


def test_two_admins_who_shut_each_other_out_at_once(home: Home) -> None:
    """Of two concurrent commands that remove each other's admin, the second is refused."""
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    for email in (EMAIL, "second@example.com"):
        make(home, email, "--role", "platform-admin")
    commands = [("user", "delete", EMAIL, "--yes"), ("user", "disable", "second@example.com")]
    nowhere = subprocess.DEVNULL
    processes = [home.start(*each, stdout=nowhere, stderr=nowhere) for each in commands]
    assert sorted(process.wait(LONGEST) for process in processes) == [0, 1]
    active = "SELECT count(*) FROM users WHERE role = 'platform-admin' AND disabled_at IS NULL"
    assert rows(home, active) == [(1,)]


def test_a_forgotten_password_gets_a_link(shared: Home) -> None:
    make(shared, "forgot@example.com", "--role", "member", "--company", "ACME")
    done = shared.ok("user", "reset-password", "forgot@example.com")
    assert done.out.startswith("http://127.0.0.1:8480/welcome?code=")
    assert "No server is running." in done.err
    assert "Earlier links do not work any more." in done.err
    assert "anyone who has the link can choose the password. The link works once, for 7 days.\n" in done.err
    assert "opens only on this machine" in done.err
    in_the_lan = shared.ok(
        "user", "reset-password", "forgot@example.com", env={"WMSD_SERVER_LISTEN": "10.0.0.1:80"}
    )
    assert "this machine" not in in_the_lan.err
    assert shared.ok("user", "show", "forgot@example.com", "--json").json["link_until"]
    assert len(audited(shared, "user.link", "forgot@example.com")) == 2
    shared.ok("user", "disable", "forgot@example.com")
    assert "wmsd user enable forgot@example.com" in shared.refused("user", "reset-password", "forgot@example.com")


def test_a_lost_link_of_the_first_admin_is_made_anew(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    first, second = (home.ok("user", "first-admin-link").out for _ in range(2))
    assert first.startswith("http://127.0.0.1:8480/first-admin?code=")
    assert first != second
    assert len(rows(home, "SELECT value FROM secrets WHERE name = 'first-admin'")) == 1
    make(home, EMAIL, "--role", "platform-admin")
    refused = home.refused("user", "first-admin-link")
    assert refused.startswith("This installation already has an admin.")
    assert rows(home, "SELECT value FROM secrets WHERE name = 'first-admin'") == []


def test_a_token_says_nothing_of_an_e_mail_address(shared: Home) -> None:
    """A token stays valid when the address of its user changes."""
    make(shared, "moved@example.com", "--role", "member", "--company", "ACME", "--ability", "stock:read")
    token = token_of(shared, "moved@example.com")
    assert "moved@example.com" not in str(claims(token))
    with shared.serving() as server:
        shared.ok("user", "change", "moved@example.com", "--email", "elsewhere@example.com")
        assert server.get("/api/stock", token)[0] == 200
