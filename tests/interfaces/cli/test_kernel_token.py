"""`wmsd kernel-token`, with and without a running server."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.command import Home, Server
from tests.support.forked import Done
from wmsd.db.engine.sqlite import connect

FORM = re.compile(r"wmsdk_[A-Za-z0-9_-]{43}")
STATS = "/api/kernel/v1/stats"


@pytest.fixture
def installation(home: Home) -> Home:
    home.ok("company", "create", "ACME", "--name", "Acme", "--all-modules", "--init")
    return home


def token_in(done: Done) -> str:
    token = done.out.removesuffix("\n")
    assert FORM.fullmatch(token)
    assert token not in done.err
    return token


def listed(home: Home) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = home.ok("kernel-token", "list", "--json").json
    return rows


def audited(home: Home) -> list[tuple[str, str]]:
    connection = connect(home.data / "platform.db", read_only=True)
    try:
        rows: list[tuple[str, str]] = connection.execute(
            "SELECT action, subject FROM audit WHERE action LIKE 'kernel-token%' ORDER BY id"
        ).fetchall()
    finally:
        connection.close()
    return rows


def test_the_token_is_shown_once(installation: Home) -> None:
    assert installation.ok("kernel-token", "list").err.splitlines()[-1] == (
        "No platform token yet. To create a token: wmsd kernel-token create"
    )
    done = installation.ok("kernel-token", "create")
    token = token_in(done)
    assert done.err.splitlines()[-1] == "The platform token. It is shown only now."
    shown = installation.ok("kernel-token", "list")
    assert token not in shown.out
    (row,) = listed(installation)
    assert row.pop("created_at")
    assert row == {"id": 1, "expires_at": None, "revoked_at": None, "accepted": True}
    for file in installation.data.rglob("*"):
        assert not file.is_file() or token.encode() not in file.read_bytes()


def test_a_second_one_is_refused_and_rotation_named(installation: Home) -> None:
    sentence = "There is no platform token to replace. To create one, run `wmsd kernel-token create`."
    assert installation.refused("kernel-token", "rotate") == sentence
    assert installation.refused("kernel-token", "rotate", "--at-once") == sentence
    installation.ok("kernel-token", "create")
    refused = installation.refused("kernel-token", "create")
    assert re.fullmatch(
        r"A platform token already exists, created at 20\S+Z\. To replace it, run `wmsd kernel-token rotate`\.",
        refused,
    )
    assert len(listed(installation)) == 1


def test_rotating_leaves_the_old_one_a_day(installation: Home) -> None:
    first = token_in(installation.ok("kernel-token", "create"))
    done = installation.ok("kernel-token", "rotate")
    assert token_in(done) != first
    assert done.err.splitlines()[-1] == (
        "The new platform token. It is shown only now. The previous platform token works for another 24 hours."
    )
    old, new = listed(installation)
    assert (old["accepted"], new["accepted"], new["expires_at"]) == (True, True, None)
    assert old["expires_at"][11:19] == new["created_at"][11:19]
    assert old["expires_at"][:10] > new["created_at"][:10]
    until = old["expires_at"]
    installation.ok("kernel-token", "rotate")
    assert listed(installation)[0]["expires_at"] == until


def test_rotating_at_once_leaves_none(installation: Home) -> None:
    installation.ok("kernel-token", "create")
    installation.ok("kernel-token", "rotate")
    done = installation.ok("kernel-token", "rotate", "--at-once", "--json")
    assert done.err.splitlines()[-1].endswith("All other platform tokens are now refused.")
    assert FORM.fullmatch(done.json["token"])
    assert (done.json["id"], set(done.json)) == (3, {"id", "token", "created_at"})
    assert [row["accepted"] for row in listed(installation)] == [False, False, True]


def test_a_token_is_revoked_once_and_another_made(installation: Home) -> None:
    assert FORM.fullmatch(installation.ok("kernel-token", "create", "--json").json["token"])
    done = installation.ok("kernel-token", "revoke", "1")
    assert (done.out, done.err.splitlines()[-1]) == ("", "Platform token 1 is revoked.")
    again = installation.ok("kernel-token", "revoke", "1")
    assert again.err.splitlines()[-1] == "Platform token 1 was already revoked."
    assert installation.refused("kernel-token", "revoke", "9") == "There is no such platform token as 9."
    for wrong in ("0", "-1", "one", "99999999999999999999"):
        said = installation.misunderstood("kernel-token", "revoke", "--", wrong)
        assert said.startswith("Error: Invalid value for 'ID'")
    installation.ok("kernel-token", "create")
    installation.ok("kernel-token", "rotate")
    installation.ok("kernel-token", "rotate", "--at-once")
    assert [row["accepted"] for row in listed(installation)] == [False, False, False, True]
    assert audited(installation) == [
        ("kernel-token.create", "1"),
        ("kernel-token.revoke", "1"),
        ("kernel-token.create", "2"),
        ("kernel-token.rotate", "3"),
        ("kernel-token.rotate at once", "4"),
    ]


@pytest.fixture
def server(shared: Home) -> Iterator[Server]:
    with shared.serving(env={"WMSD_LIMITS_REFUSED_PER_MINUTE": "100000"}) as server:
        yield server


def test_a_running_server_follows_within_a_second(shared: Home, server: Server) -> None:
    def soon(token: str, status: int) -> None:
        server.soon(STATS, lambda found, _: found == status, token=token, company=None)

    assert server.get(STATS, company=None)[0] == 401  # the token of an admin
    first = token_in(shared.ok("kernel-token", "create"))
    soon(first, 200)
    second = token_in(shared.ok("kernel-token", "rotate"))
    soon(second, 200)
    assert server.get(STATS, token=first, company=None)[0] == 200
    third = token_in(shared.ok("kernel-token", "rotate", "--at-once"))
    soon(first, 401)
    soon(second, 401)
    soon(third, 200)
    shared.ok("kernel-token", "revoke", "3")
    soon(third, 401)
    assert server.get("/api/articles", token=third)[0] == 401
    for token in (first, second, third):
        assert token not in server.log


def test_requests_are_counted_over_a_stop(shared: Home) -> None:
    token = token_in(shared.ok("kernel-token", "create"))
    seen = []
    for _ in range(2):
        with shared.serving() as server:
            server.get("/api/articles")
            seen.append(server.get(STATS, token=token, company=None)[1]["companies"][0]["requests"])
            assert server.stop() == 0
    assert seen[1]["count"] == seen[0]["count"] + 1
    assert seen[1]["since"] == seen[0]["since"]
