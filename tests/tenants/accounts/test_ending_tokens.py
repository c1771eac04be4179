"""Tokens that expire soon are announced: in the list, on Today, and once in the log."""

import logging
import re
from datetime import timedelta
from pathlib import Path

import pytest

from tests.interfaces.pages.administering import LEAD, shown_once, signed_in_as
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import EMAIL, NOTHING, rows, signed_in, text_of
from tests.interfaces.pages.visitor import Visitor
from tests.support.world import PASSWORD, World
from wmsd.base import timestamps
from wmsd.db.engine.sqlite import connect
from wmsd.db.engine.transaction import Transaction
from wmsd.db.migrations import PLATFORM, migrate
from wmsd.tenants.accounts import ending_tokens

DAY = 86_400
BEFORE = 16
"""The schema version in which tokens do not have the column `renewed` yet."""
MEMBER = "ion@example.com"
TOLD_OF = "SELECT id FROM tokens WHERE told_days IS NOT NULL"
OTHERS = "UPDATE tokens SET expires_at = '2036-01-01T00:00:00.000Z'"
MANY = """
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :many)
    INSERT INTO tokens (jti, user_id, name, abilities, created_at, expires_at)
    SELECT 'many' || n, 1, 'many', '[]', :now, :end FROM number
"""


@pytest.fixture
async def admin(world: World) -> Visitor:
    """Sign in a platform admin in an installation where no token expires soon."""
    visitor = await signed_in(world)
    await world.installation.platform.write(lambda tx: tx.execute(OTHERS))
    return visitor


async def made(visitor: Visitor, name: str, days: int, user: str = "") -> None:
    typed = {"name": name, "days": str(days), "user": user, "abilities:stock:read": "on"}
    shown_once(await sent(visitor, "/admin/tokens/new", **typed))


async def warnings(visitor: Visitor, query: str = "") -> dict[str, str]:
    """Return the warnings in the list of tokens, by the name of the token."""
    listed = {cells[0]: cells[5] for cells in rows(await visitor.get(f"/admin/tokens{query}"))}
    return {name: said for name, said in listed.items() if said != NOTHING}


async def on_today(visitor: Visitor) -> str:
    text = text_of((await visitor.get("/today")).text)
    found = re.search(r"(\d[0-9+ ]*) tokens expire within 14 days", text)
    return found[1] if found else ""


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.getMessage().startswith("the token ")]


async def later(visitor: Visitor, days: float, email: str = EMAIL) -> None:
    visitor.world.clock.advance(days * DAY)
    await visitor.sign_in(email, PASSWORD)


async def test_the_list_warns_before_the_end(admin: Visitor) -> None:
    for name, days in (("far", 20), ("near", 6), ("last", 1)):
        await made(admin, name, days)
    assert await warnings(admin) == {"near": "expires in 6 days", "last": "expires in 1 day"}
    seen = await admin.get("/admin/tokens?expires_within=14")
    assert [cells[0] for cells in rows(seen)] == ["last", "near"]
    assert '<b class="warn">expires in 6 days</b>' in seen.text
    await later(admin, 0.6)
    assert await warnings(admin) == {"near": "expires in 5 days", "last": "expires within a day"}
    await later(admin, 0.4)
    assert (await warnings(admin))["last"] == "has expired"
    assert list(await warnings(admin, "?expires_within=14")) == ["near"]
    assert (await admin.get("/admin/tokens?expires_within=x")).status == 422
    assert (await admin.get("/admin/tokens?expires_within=0")).status == 422


async def test_today_counts_them_for_those_who_can_mend_it(admin: Visitor) -> None:
    world = admin.world
    await world.new_company("OTHER")
    await world.new_user(LEAD, "company-admin", ["OTHER"])
    await world.new_user(MEMBER, "member", ["OTHER"], ["stock:read"])
    assert await on_today(admin) == ""
    await made(admin, "own", 5)
    await made(admin, "its", 5, MEMBER)
    lead, member = await signed_in_as(world, LEAD), await signed_in_as(world, MEMBER)
    await made(lead, "leads", 5)
    assert [await on_today(each) for each in (admin, lead, member)] == ["3", "2", "1"]
    assert 'href="/admin/tokens?expires_within=14"' in (await member.get("/today")).text
    for visitor, names in ((admin, {"own", "its", "leads"}), (lead, {"its", "leads"}), (member, {"its"})):
        assert set(await warnings(visitor, "?expires_within=14")) == names


async def test_a_token_whose_end_matters_to_nobody_is_not_counted(admin: Visitor) -> None:
    world = admin.world
    await world.new_company("OTHER")
    await world.new_user(MEMBER, "member", ["OTHER"], ["stock:read"])
    await made(admin, "revoked", 5)
    await made(admin, "of somebody shut out", 5, MEMBER)
    assert await on_today(admin) == "2"
    await world.installation.platform.write(
        lambda tx: tx.execute("UPDATE tokens SET revoked_at = :now WHERE name = 'revoked'", {"now": tx.timestamp})
    )
    await world.installation.platform.write(
        lambda tx: tx.execute("UPDATE users SET disabled_at = 'x' WHERE email = ?", (MEMBER,))
    )
    assert (await on_today(admin), await warnings(admin)) == ("", {})


async def test_a_program_that_has_signed_in_again_needs_no_warning(admin: Visitor) -> None:
    world = admin.world
    sign_in = {"email": EMAIL, "password": PASSWORD, "abilities": ["stock:read"], "device_name": "Shop"}
    for _ in range(2):
        assert (await world.send("POST", "/api/auth/token", sign_in, token="", company="")).status == 200
    await later(admin, 80)
    assert await on_today(admin) == "1"
    other = {**sign_in, "device_name": "Other"}
    assert (await world.send("POST", "/api/auth/token", other, token="", company="")).status == 200
    assert await on_today(admin) == "1"
    assert (await world.send("POST", "/api/auth/token", sign_in, token="", company="")).status == 200
    assert (await on_today(admin), await warnings(admin)) == ("", {})


async def test_when_the_newer_token_is_revoked_the_one_before_counts_again(admin: Visitor) -> None:
    world = admin.world
    sign_in = {"email": EMAIL, "password": PASSWORD, "abilities": ["stock:read"]}
    tokens = [
        (await world.send("POST", "/api/auth/token", sign_in, token="", company="")).body["token"]
        for _ in range(3)
    ]
    assert (await world.send("POST", "/api/auth/revoke", token=tokens[2], company="")).status < 300
    await later(admin, 80)
    assert await on_today(admin) == "1"
    assert (await world.send("POST", "/api/auth/revoke", token=tokens[0], company="")).status < 300
    assert await on_today(admin) == "1"
    assert (await world.send("POST", "/api/auth/revoke", token=tokens[1], company="")).status < 300
    assert await on_today(admin) == ""


def test_of_tokens_from_before_the_last_of_a_name_counts(tmp_path: Path) -> None:
    path = tmp_path / "platform.db"
    connection = connect(path, create=True)
    for script in PLATFORM.scripts()[:BEFORE]:
        connection.executescript(script.read_text(encoding="utf-8"))
    connection.execute(f"PRAGMA application_id = {PLATFORM.application_id}")
    connection.execute(f"PRAGMA user_version = {BEFORE}")
    connection.executescript("""
        INSERT INTO users (id, email, name, password_hash, role, abilities, created_at, updated_at)
        VALUES (1, 'a@x', 'A', '', 'member', '[]', '', ''), (2, 'b@x', 'B', '', 'member', '[]', '', '');
        INSERT INTO tokens (jti, user_id, name, abilities, created_at, expires_at, signed_in, revoked_at)
        VALUES ('1', 1, 'Shop', '[]', '', '', 1, NULL), ('2', 1, 'Shop', '[]', '', '', 1, NULL),
            ('3', 1, 'Shop', '[]', '', '', 1, 'x'), ('4', 1, 'Shop', '[]', '', '', 0, NULL),
            ('5', 1, 'Other', '[]', '', '', 1, NULL), ('6', 2, 'Shop', '[]', '', '', 1, NULL);
    """)
    connection.close()
    migrate(path, PLATFORM)
    connection = connect(path)
    renewed = [jti for (jti,) in connection.execute("SELECT jti FROM tokens WHERE renewed ORDER BY jti")]
    connection.close()
    assert renewed == ["1"]


async def test_the_log_tells_once_at_two_weeks_and_once_at_a_day(
    admin: Visitor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    world = admin.world
    await made(admin, "Shop", 20)
    await made(admin, "short", 3)
    await made(admin, "shortest", 1)
    for _ in range(2):
        await world.jobs.tell_of_ending_tokens()
    assert told(caplog) == []
    seen = {}
    for day in range(1, 21):
        world.clock.advance(DAY)
        for _ in range(2):
            await world.jobs.tell_of_ending_tokens()
        if told(caplog):
            seen[day] = [(each.split("(")[1].split(")")[0], each.split(", in ")[1]) for each in told(caplog)]
        caplog.clear()
    never = "; last used: never. Create a new token in time"
    assert seen == {
        2: [("short", f"1 day{never}")],
        6: [("Shop", f"14 days{never}")],
        19: [("Shop", f"1 day{never}")],
    }


async def test_a_clock_that_was_set_tells_nothing(admin: Visitor, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    await made(admin, "Shop", 20)
    world = admin.world
    await world.jobs.clock_watch.start()
    world.clock.set_forward(10 * DAY)
    await world.jobs.tell_of_ending_tokens()
    assert told(caplog) == []
    assert await world.installation.platform.read(lambda tx: tx.rows(TOLD_OF)) == []


async def test_a_hundred_thousand_tokens_are_counted_by_their_index(admin: Visitor) -> None:
    """The longest count stops at a hundred, and the query reads only the index of the tokens that expire soon."""
    platform = admin.world.installation.platform
    plans: list[str] = []

    def fill(tx: Transaction) -> None:
        end = timestamps.to_text(tx.now + timedelta(days=5))
        tx.execute(MANY, {"many": 5000, "now": tx.timestamp, "end": end})
        for sql in (ending_tokens.BY_END, ending_tokens.BY_USER, ending_tokens.OF_ONE):
            names = {name: None for name in ("now", "until", "own", "within") if f":{name}" in sql}
            plans.extend(str(row[3]) for row in tx.rows(f"EXPLAIN QUERY PLAN {sql}", names))

    await platform.write(fill)
    assert await on_today(admin) == "100+"
    read = [plan for plan in plans if " tokens " in f"{plan} "]
    assert [plan.partition(" (")[0] for plan in read] == [
        "SEARCH tokens USING INDEX tokens_ending",
        "SEARCH tokens USING INDEX tokens_by_user",
        "SEARCH tokens USING INDEX tokens_by_user",
    ]
