"""`wmsd user`, `wmsd token`."""

import base64
import json
import re
import urllib.request
from contextlib import closing
from typing import Any

import pytest

from tests.support.command import EMAIL, PASSWORD, Home, at_a_terminal
from wmsd.contract.access import ABILITY_SETS
from wmsd.db.engine.sqlite import sqlite3

WRONG_LENGTH = "password must have from 10 to 1024 characters."


def user(home: Home, email: str) -> dict[str, Any]:
    (found,) = [row for row in home.ok("user", "list", "--json").json if row["email"] == email]
    return dict(found)


def make(home: Home, email: str, *arguments: str) -> dict[str, Any]:
    done = home.ok("user", "create", email, "--password-stdin", "--json", *arguments, stdin=f"{PASSWORD}\n")
    assert isinstance(done.json, dict)
    return done.json


def claims(token: str) -> dict[str, Any]:
    part = token.split(".")[1]
    read = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    assert isinstance(read, dict)
    return read


def test_users_of_each_role(shared: Home) -> None:
    assert (
        make(shared, "Boss@Example.com", "--role", "company-admin", "--company", "ACME")["email"]
        == "boss@example.com"
    )
    assert user(shared, "boss@example.com") == {
        "id": 2,
        "email": "boss@example.com",
        "name": "Boss@Example.com",
        "role": "company-admin",
        "companies": ["ACME"],
        "abilities": ["*"],
        "disabled": False,
    }
    make(shared, "reader@example.com", "--role", "member", "--company", "ACME", "--name", "Rita")
    reader = user(shared, "reader@example.com")
    assert (reader["name"], reader["role"], reader["companies"]) == ("Rita", "member", ["ACME"])
    assert all(ability.endswith(":read") for ability in reader["abilities"])
    make(shared, "clerk@example.com", "--role", "member", "--company", "ACME", "--ability", "stock:read")
    assert user(shared, "clerk@example.com")["abilities"] == ["stock:read"]
    make(shared, "dock@example.com", "--role", "member", "--ability", "warehouse", "--ability", "webhooks:read")
    (dock,) = [each for each in ABILITY_SETS if each.name == "warehouse"]
    assert set(user(shared, "dock@example.com")["abilities"]) == {*dock.abilities, "webhooks:read"}
    (line,) = [line for line in shared.ok("user", "list").out.splitlines() if EMAIL in line]
    assert " ".join(line.split()[3:]) == "platform-admin all everything in these companies no"


def test_a_user_without_a_company_is_told_so(shared: Home) -> None:
    arguments = ("user", "create", "alone@example.com", "--role", "member", "--password-stdin")
    done = shared.ok(*arguments, stdin=PASSWORD)
    assert done.err.endswith(
        "alone@example.com has no company yet, so the user sees no data. To add a company: wmsd user "
        "change alone@example.com --add-company CODE\n"
    )
    assert "no company yet" not in shared.run(*arguments, stdin=PASSWORD).err


def test_a_user_is_named_by_any_form_of_its_address(shared: Home) -> None:
    made = make(shared, "jose\u0301@müller.example", "--role", "company-admin", "--company", "ACME")
    assert made["email"] == "josé@xn--mller-kva.example"
    for email in ("josé@müller.example", "JOSE\u0301@xn--mller-kva.example"):
        assert shared.ok("user", "show", email, "--json").json["email"] == made["email"]
        said = shared.refusals("user", "create", email, "--role", "company-admin", "--company", "ACME", "--link")
        assert said == [f"EMAIL {email} is taken by another user."]
    shared.ok("user", "delete", "josé@müller.example", "--yes")


def test_a_user_is_invited_without_a_password(shared: Home) -> None:
    create = ("user", "create", "Invited@example.com", "--name", "Ina", "--role", "member", "--company", "ACME")
    done = shared.ok(*create, "--ability", "stock:read", "--link")
    assert re.fullmatch(r"http://127\.0\.0\.1:8480/welcome\?code=[\w-]{40,}\n", done.out)
    assert done.err.splitlines()[1:] == [
        "Send this link only to invited@example.com: anyone who has the link can choose the password. "
        "The link works once, for 7 days.",
        "No server is running. The link works while a server runs.",
        "A link with http://127.0.0.1:8480 opens only on this machine. For other machines, replace this "
        "address with the address at which they reach wmsd, or set server.listen first.",
    ]
    shown = shared.ok("user", "show", "invited@example.com", "--json").json
    assert (shown["name"], shown["companies"], shown["abilities"]) == ("Ina", ["ACME"], ["stock:read"])
    assert (shown["password"], bool(shown["link_until"])) == (False, True)
    assert shared.refused(*create, "--link") == "EMAIL Invited@example.com is taken by another user."
    assert "not both" in shared.misunderstood(*create, "--link", "--password-stdin")


def test_links_begin_with_the_public_url(shared: Home) -> None:
    set_so = {"WMSD_SERVER_PUBLIC_URL": "https://Lager.Müller.example/"}
    create = ("user", "create", "public@example.com", "--role", "member", "--company", "ACME", "--link")
    done = shared.ok(*create, env=set_so)
    assert done.out.startswith("https://lager.xn--mller-kva.example/welcome?code=")
    assert "opens only on this machine" not in done.err
    renewed = shared.ok("user", "reset-password", "public@example.com", env=set_so)
    assert renewed.out.startswith("https://lager.xn--mller-kva.example/welcome?code=")


def test_the_link_opens_at_the_running_server_and_programs_get_it_with_the_user(shared: Home) -> None:
    create = (
        "user",
        "create",
        "by-program@example.com",
        "--role",
        "member",
        "--company",
        "ACME",
        "--link",
        "--json",
    )
    with shared.serving() as server:
        made = shared.ok(*create).json
        assert (made["email"], made["role"]) == ("by-program@example.com", "member")
        assert made["link"].startswith(f"{server.address}/welcome?code=")
        with urllib.request.urlopen(made["link"]) as page:
            assert "by-program@example.com" in page.read().decode()


def test_what_is_not_a_good_user(shared: Home) -> None:
    before = shared.ok("user", "list", "--json").json
    for arguments, sentences in (
        ([EMAIL, "--role", "platform-admin"], [f"EMAIL {EMAIL} is taken by another user."]),
        ([EMAIL.upper(), "--role", "platform-admin"], [f"EMAIL {EMAIL.upper()} is taken by another user."]),
        (["nobody", "--role", "platform-admin"], ["EMAIL must be an e-mail address."]),
        (
            ["x@y", "--role", "platform-admin", "--company", "ACME"],
            ["--company must be empty: a platform admin may use every company."],
        ),
        (
            ["x@y", "--role", "member", "--company", "Else Ltd"],
            [
                "--company Else is not a company of this installation.",
                "--company Ltd is not a company of this installation.",
            ],
        ),
        (
            ["x@y", "--role", "company-admin", "--company", "ACME", "--ability", "stock:read"],
            ["--ability must be empty: an admin has all abilities."],
        ),
        (
            [EMAIL, "--role", "member", "--company", "ACME", "--company", "NOBODY", "--ability", "stock:steal"],
            [
                "--ability stock:steal is not an ability of this platform; the nearest is stock:read.",
                f"EMAIL {EMAIL} is taken by another user.",
                "--company NOBODY is not a company of this installation.",
            ],
        ),
    ):
        assert (
            shared.refusals("user", "create", *arguments, "--password-stdin", stdin=f"{PASSWORD}\n") == sentences
        )
    assert shared.ok("user", "list", "--json").json == before
    assert shared.misunderstood("user", "create", "x@y").startswith("Error: Missing option '--role'.")
    assert "'root' is not one of" in shared.misunderstood("user", "create", "x@y", "--role", "root")
    assert "No such option" in shared.misunderstood("user", "create", "x@y", "--role", "member", "--password", "x")


@pytest.mark.parametrize("password", [b"", b"\n", b"short\n", b"x" * 1025])
def test_a_password_of_the_wrong_length(shared: Home, password: bytes) -> None:
    create = ("user", "create", "new@example.com", "--role", "platform-admin", "--password-stdin")
    assert shared.refused(*create, stdin=password) == WRONG_LENGTH
    assert shared.refused("user", "set-password", EMAIL, "--password-stdin", stdin=password) == WRONG_LENGTH


@pytest.mark.parametrize("password", ["1234567890", EMAIL, "Warehouse2026", "Olga Pop Olga Pop"])
def test_a_password_that_is_easy_to_guess(shared: Home, password: str) -> None:
    create = ("user", "create", "olga@example.com", "--name", "Olga Pop", "--role", "platform-admin")
    given = f"{password.replace('admin@', 'olga@')}\n"
    easy = "password is too easy to guess: choose four unrelated words."
    assert shared.refused(*create, "--password-stdin", stdin=given) == easy
    if password != "Olga Pop Olga Pop":
        change = ("user", "set-password", EMAIL, "--password-stdin")
        assert shared.refused(*change, stdin=f"{password}\n") == easy


def test_a_password_that_is_not_text(shared: Home) -> None:
    refused = shared.refused("user", "set-password", EMAIL, "--password-stdin", stdin=b"\xff" * 12)
    assert refused == "password must be UTF-8 text."


def test_users_that_are_not_there(shared: Home) -> None:
    assert shared.refused("user", "disable", "no@example.com") == "There is no such user as no@example.com."
    arguments = ("user", "set-password", "no@example.com", "--password-stdin")
    assert shared.refused(*arguments, stdin=PASSWORD) == "There is no such user as no@example.com."


def test_a_disabled_user_gets_no_token(shared: Home) -> None:
    make(shared, "leaver@example.com", "--role", "platform-admin")
    assert shared.ok("user", "disable", "leaver@example.com").out == ""
    assert user(shared, "leaver@example.com")["disabled"] is True
    create = ("token", "create", "--ability", "*", "--user")
    assert shared.refused(*create, "leaver@example.com") == (
        "leaver@example.com is disabled. First enable the user: wmsd user enable leaver@example.com"
    )
    assert shared.refused(*create, "nobody@example.com") == "There is no such user as nobody@example.com."


def test_a_password_is_prompted_for_twice_and_not_shown(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    make(home, EMAIL, "--role", "platform-admin")
    answers = ["another password", "another password"]
    done = at_a_terminal(home, "user", "set-password", EMAIL, answers=answers)
    assert (done.code, done.out) == (0, "")
    rule, _, _ = done.err.partition("Password: ")
    assert "A password needs at least 10 characters and must not be easy to guess" in " ".join(rule.split())
    assert "The password again: " in done.err
    assert "another password" not in done.err
    assert f"{EMAIL} has a new password." in done.err


def test_without_a_terminal_nobody_is_asked(shared: Home) -> None:
    sentence = "Error: wmsd cannot ask for the password, because there is no terminal. Give --password-stdin."
    assert shared.misunderstood("user", "set-password", EMAIL) == sentence
    assert shared.misunderstood("user", "create", "new@example.com", "--role", "platform-admin") == (
        "Error: wmsd cannot ask for the password, because there is no terminal. Give --password-stdin, "
        "or --link for a link at which the user chooses a password."
    )


def test_the_token_alone_is_on_standard_output(shared: Home) -> None:
    done = shared.ok("token", "create", "--user", EMAIL, "--ability", "stock:read", "--name", "ERP")
    token = done.out.removesuffix("\n")
    assert token.count(".") == 2
    assert not set(token) & set(" \n")
    assert token not in done.err
    assert done.err.splitlines()[-1] == f"A token for {EMAIL}, valid for 90d. It is shown only now."
    listed = shared.ok("token", "list", "--json")
    assert token not in listed.out
    (row,) = [row for row in listed.json if row["name"] == "ERP"]
    assert (row["user"], row["abilities"], row["company_ids"], row["revoked_at"]) == (
        EMAIL,
        ["stock:read"],
        None,
        None,
    )
    assert "ERP" in shared.ok("token", "list").out


@pytest.mark.parametrize(
    ("expires", "seconds"), [("1h", 3600), ("36h", 36 * 3600), ("90d", 90 * 86400), ("3650d", 3650 * 86400)]
)
def test_a_token_lasts_as_long_as_was_asked(shared: Home, expires: str, seconds: int) -> None:
    done = shared.ok("token", "create", "--user", EMAIL, "--ability", "*", "--expires", expires)
    read = claims(done.out)
    assert read["exp"] - read["iat"] == seconds
    assert f"valid for {expires}." in done.err


def test_a_token_lasts_as_the_settings_say(shared: Home) -> None:
    env = {"WMSD_TOKENS_LIFETIME_DAYS": "7"}
    read = claims(shared.ok("token", "create", "--user", EMAIL, "--ability", "*", env=env).out)
    assert read["exp"] - read["iat"] == 7 * 86400


@pytest.mark.parametrize(
    "expires", ["", "0d", "-1d", "90", "d", "1w", "90 d", "1.5d", "3651d", "999999d", "9999999h"]
)
def test_a_time_that_is_none(shared: Home, expires: str) -> None:
    create = ("token", "create", "--user", EMAIL, "--ability", "*")
    assert shared.misunderstood(*create, f"--expires={expires}").startswith("Error: Invalid value for '--expires'")


def test_the_settings_say_how_long_a_token_may_last(shared: Home) -> None:
    create = ("token", "create", "--user", EMAIL, "--ability", "*", "--expires")
    short = {"WMSD_TOKENS_LIFETIME_DAYS": "7", "WMSD_TOKENS_MOST_DAYS": "30"}
    assert "valid for 30d." in shared.ok(*create, "30d", env=short).err
    refused = shared.run(*create, "721h", env=short)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.endswith("Error: Invalid value for '--expires': must be at most 30d (tokens.most_days).\n")
    assert "valid for 3651d." in shared.ok(*create, "3651d", env={"WMSD_TOKENS_MOST_DAYS": "36500"}).err


def test_a_token_never_goes_beyond_its_user(shared: Home) -> None:
    make(shared, "small@example.com", "--role", "member", "--company", "ACME", "--ability", "stock:read")
    shared.ok("company", "create", "OTHER", "--name", "Other")
    create = ("token", "create", "--user", "small@example.com", "--ability")
    shared.ok(*create, "stock:read", "--company", "ACME")
    for arguments, sentence in (
        (
            ["articles:write"],
            "A token of this user cannot have these abilities, because the user does not have them: "
            "articles:write. The user has: "
            "stock:read. To give the user more: wmsd user change small@example.com --ability stock:read --ability "
            "articles:write",
        ),
        (["stock:steal"], "--ability stock:steal is not an ability of this platform; the nearest is stock:read."),
        (["stock:read", "--company", "OTHER"], "--company OTHER is not a company that small@example.com may use."),
        (
            ["stock:read", "--company", "NOBODY"],
            "--company NOBODY is not a company of this installation.",
        ),
        (["stock:read", "--name", ""], "--name must have at least 1 character."),
        (["stock:read", "--name", "x" * 256], "--name must have at most 255 characters."),
        (["stock:read", "--name", "a\tb"], "--name must not contain control characters."),
    ):
        assert shared.refused(*create, *arguments) == sentence
    everything = shared.refused(*create, "*")
    assert everything.startswith(
        "A token of this user cannot have these abilities, because the user does not have them: articles:read, "
        "articles:write"
    )
    assert everything.endswith("To give the user more: wmsd user change small@example.com --ability '*'")
    shared.ok("user", "change", "small@example.com", "--ability", "stock:read", "--ability", "articles:write")
    shared.ok(*create, "articles:write")
    assert shared.misunderstood("token", "create", "--user", EMAIL) == "Error: Missing option '--ability'."


def test_a_token_is_revoked_once(shared: Home) -> None:
    shared.ok("token", "create", "--user", EMAIL, "--ability", "*", "--name", "short-lived")
    (row,) = [row for row in shared.ok("token", "list", "--json").json if row["name"] == "short-lived"]
    number = str(row["id"])
    assert shared.ok("token", "revoke", number).err.splitlines()[-1] == f"Token {number} is revoked."
    assert shared.ok("token", "revoke", number).err.splitlines()[-1] == f"Token {number} was already revoked."
    assert shared.refused("token", "revoke", "999999") == "There is no such token as 999999."
    for wrong in ("0", "-1", "one", "99999999999999999999"):
        assert shared.misunderstood("token", "revoke", "--", wrong).startswith("Error: Invalid value for 'ID'")


def test_a_user_is_parted_from_its_accounts_at_providers(shared: Home) -> None:
    make(shared, "linked@example.com", "--role", "member", "--company", "ACME")
    with closing(sqlite3.connect(shared.data / "platform.db")) as platform:
        platform.execute(
            "INSERT INTO sign_on_identities SELECT 'https://login.example.com', 'subject', id, created_at "
            "FROM users WHERE email = 'linked@example.com'"
        )
        platform.commit()
    told = shared.ok("user", "unlink", "linked@example.com").err
    assert "Accounts unlinked from linked@example.com: 1. No link, session or token was ended." in told
    assert (
        "unlinked from linked@example.com: 0. No link, session or token was ended."
        in shared.ok("user", "unlink", "Linked@example.com").err
    )
    assert shared.refused("user", "unlink", "no@example.com") == "There is no such user as no@example.com."


def test_a_second_factor_that_is_lost_is_taken_away(shared: Home) -> None:
    make(shared, "two@example.com", "--role", "member", "--company", "ACME")
    with closing(sqlite3.connect(shared.data / "platform.db")) as platform:
        platform.execute(
            "INSERT INTO second_factors (user_id, secret, is_on) "
            "SELECT id, 'sealed', 1 FROM users WHERE email = 'two@example.com'"
        )
        platform.commit()
    told = shared.ok("user", "remove-second-factor", "two@example.com").err
    assert "The second factor of two@example.com is removed." in told
    assert "had no second factor" in shared.ok("user", "remove-second-factor", "two@example.com").err
    assert shared.refused("user", "remove-second-factor", "no@example.com").startswith("There is no such user")
