"""The test receiver on the pages: created, set to fail, and its list of received requests."""

import asyncio
import html
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from tests.events.webhooks.rest import is_busy
from tests.interfaces.pages.records.test_act import form_of, sent
from tests.interfaces.pages.records.test_browse import SCRIPT, rows, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.programs import program
from tests.support.receivers import Receiver
from tests.support.shop import Shop
from wmsd.events.webhooks.receiver_rules import KEPT

NEW = "/companies/1/webhooks/new-receiver"
HOOK = "/companies/1/webhooks/1"
RECEIVER = f"{HOOK}/receiver"
PROGRAMS = {"shell": "sh", "js": "node", "python": sys.executable, "php": "php"}
FILES = {"shell": "check.sh", "js": "check.js", "python": "check.py", "php": "check.php"}


@pytest.fixture
async def visitor(shop: Shop) -> AsyncIterator[Visitor]:
    """Sign in a platform admin at a shop whose webhooks are sent."""
    await shop.world.sender.start()
    yield await signed_in(shop.world)
    await shop.world.sender.stop()


async def settled(visitor: Visitor) -> None:
    quiet = 0
    while quiet < 5:
        await asyncio.sleep(0.03)
        quiet = 0 if is_busy(visitor.world.sender) else quiet + 1


async def later(visitor: Visitor, seconds: float) -> None:
    visitor.world.clock.advance(seconds)
    await visitor.world.sender.tick()
    await settled(visitor)


async def make(visitor: Visitor) -> Seen:
    done = await sent(visitor, NEW)
    assert done.goes_to == f"{RECEIVER}?done=new-receiver"
    return await visitor.get(done.goes_to)


async def order(visitor: Visitor, notes: str = "") -> None:
    lines = [{"article_id": 1, "quantity": 1}]
    body = {"partner_id": 1, "warehouse_id": 1, "lines": lines, **({"notes": notes} if notes else {})}
    events = ["sales_order.created", "stock.updated"]
    await visitor.world.call("POST", "/api/sales-orders", body, status=201, events=events)
    await settled(visitor)


async def answers(visitor: Visitor, what: str) -> Seen:
    token = (await visitor.get(RECEIVER)).form_token
    return await visitor.post(RECEIVER, {"form_token": token, "act": "answers", "answers": what})


async def come(visitor: Visitor) -> list[list[str]]:
    """Return signature, event, record, number, attempt and reply of each received request, the newest first."""
    return [cells[1:7] for cells in rows(await visitor.get(RECEIVER))]


def recipes(seen: Seen) -> dict[str, str]:
    found = re.findall(r'<pre class="code" id="(\w+)" tabindex="0">(.*?)</pre>', seen.text, re.DOTALL)
    return {name: html.unescape(text) for name, text in found}


async def test_from_making_it_to_a_delivery_that_failed_and_came_again(visitor: Visitor) -> None:
    seen = await make(visitor)
    assert "Test receiver created." in text_of(seen.text)
    await order(visitor)
    assert await come(visitor) == [
        ["valid", "stock.updated", "stock 1", "2", "1", "200"],
        ["valid", "sales_order.created", "sales_order 1", "1", "1", "200"],
    ]
    message_for = await answers(visitor, "failure")
    assert "Answer changed. The receiver answers 500." in text_of((await visitor.get(message_for.goes_to)).text)
    await order(visitor)
    assert [each[5] for each in await come(visitor)] == ["500", "500", "200", "200"]
    await answers(visitor, "success")
    await later(visitor, 31)
    assert [each[3:] for each in await come(visitor)][:2] == [["4", "2", "200"], ["3", "2", "200"]]
    assert "Duplicate:" in text_of((await visitor.get(RECEIVER)).text)
    log = rows(await visitor.get(f"{HOOK}/deliveries"))
    assert {each[4] for each in log} == {"delivered"}


async def test_one_that_plays_being_gone_is_switched_on_again(visitor: Visitor) -> None:
    await make(visitor)
    await answers(visitor, "gone")
    await order(visitor)
    seen = text_of((await visitor.get(RECEIVER)).text)
    assert "This webhook is off, so nothing is sent. The receiver answered 410 Gone. Switch the webhook on" in seen
    listed = text_of((await visitor.get("/companies/1/webhooks")).text)
    assert "off The receiver answered 410 Gone." in listed
    assert "webhook" not in text_of((await visitor.get("/today")).text).lower().replace(
        "failed webhook deliveries", ""
    )
    await answers(visitor, "success")
    done = await sent(visitor, f"{HOOK}/switch-on")
    followed = await visitor.get(done.goes_to)
    assert followed.goes_to == f"{RECEIVER}?done=switch-on"
    assert "The webhook is on again." in text_of((await visitor.get(followed.goes_to)).text)
    await settled(visitor)
    assert "valid" in (await come(visitor))[0]


async def test_its_test_its_change_and_its_end(visitor: Visitor) -> None:
    await make(visitor)
    done = await sent(visitor, f"{HOOK}/test")
    assert done.goes_to == f"{HOOK}/deliveries/1?done=test"
    shown = text_of((await visitor.get(done.goes_to)).text)
    assert "The test arrived. The receiver answered with 200." in shown
    assert "The test receiver accepted the delivery." in shown
    assert [each[1] for each in await come(visitor)] == ["webhook.test"]
    changed = await sent(visitor, f"{HOOK}/change", name="Mine")
    assert (await visitor.get((await visitor.get(changed.goes_to)).goes_to)).heading == "Mine"
    refused = await sent(visitor, f"{HOOK}/change", url="https://example.com/hook")
    assert (refused.status, "create another webhook for a real receiver" in refused.text) == (422, True)
    gone = await sent(visitor, f"{HOOK}/remove")
    assert gone.goes_to == "/companies/1/webhooks?done=remove"
    assert (await visitor.get(RECEIVER)).status == 404


@pytest.mark.parametrize("notes", ["", 'It\'s "quoted" \\ $HOME `x` %s {0} é 漆\u2028', "long " * 800])
async def test_each_recipe_finds_the_signature_valid(visitor: Visitor, tmp_path: Path, notes: str) -> None:
    """Each recipe runs as printed on the page, with its real values, in its own language."""
    await make(visitor)
    await order(visitor, notes)
    place = f"{RECEIVER}/1"
    found = recipes(await visitor.get(place))
    kept = (await visitor.get(f"{place}/body.json")).text
    (tmp_path / "body.json").write_text(kept, encoding="utf-8")
    assert json.loads(kept)["data"]["notes"] == (notes or None)
    assert set(found) == {*PROGRAMS, "curl"}
    for name, language in PROGRAMS.items():
        assert run(tmp_path, language, FILES[name], found[name]) in ("valid", given(found["js"])), name
    (timestamp,) = re.findall(r'const timestamp = "([0-9]+)"', found["js"])
    spoilt = {name: text.replace(timestamp, str(int(timestamp) + 1)) for name, text in found.items()}
    for name, language in PROGRAMS.items():
        assert run(tmp_path, language, FILES[name], spoilt[name]) not in ("valid", given(found["js"])), name


def run(folder: Path, language: str, file: str, text: str) -> str:
    (folder / file).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [program(language), file], cwd=folder, capture_output=True, text=True, timeout=60, encoding="utf-8"
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.strip()


def given(text: str) -> str:
    found = re.search(r'const given = "(.*?)"', text)
    assert found
    return found[1]


async def test_the_curl_line_sends_the_same_to_a_program_of_ones_own(visitor: Visitor, tmp_path: Path) -> None:
    await make(visitor)
    await order(visitor, "It's $HOME")
    found = recipes(await visitor.get(f"{RECEIVER}/1"))["curl"]
    body = (await visitor.get(f"{RECEIVER}/1/body.json")).text
    async with Receiver() as receiver:
        line = found.replace("http://127.0.0.1:3000/", receiver.url("/200"))
        (tmp_path / "send.sh").write_text(line, encoding="utf-8")
        process = await asyncio.create_subprocess_exec(
            program("sh"), "send.sh", cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        await process.communicate()
    (received,) = receiver.received
    assert received.body.decode() == body
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature", "x-webhook-event"):
        assert f"{name}: {received.headers[name]}" in found.lower() or received.headers[name] in found


async def test_another_secret_signs_with_both_and_the_old_request_says_so(visitor: Visitor) -> None:
    await make(visitor)
    await order(visitor)
    token = (await visitor.get(RECEIVER)).form_token
    done = await visitor.post(RECEIVER, {"form_token": token, "act": "secret"})
    assert "The old secret is also used until" in text_of((await visitor.get(done.goes_to)).text)
    old = await visitor.get(f"{RECEIVER}/1")
    assert (recipes(old), "The secret has changed since this request arrived." in text_of(old.text)) == ({}, True)
    await order(visitor)
    assert "valid" in recipes(await visitor.get(f"{RECEIVER}/3"))["js"]


async def test_what_comes_is_never_markup(visitor: Visitor) -> None:
    await make(visitor)
    await order(visitor, SCRIPT)
    for path in (f"{RECEIVER}/1", f"{HOOK}/deliveries/1", RECEIVER, f"{HOOK}/deliveries"):
        seen = await visitor.get(path)
        assert (seen.status, SCRIPT in seen.text) == (200, False), path
    kept = await visitor.get(f"{RECEIVER}/1/body.json")
    assert kept.headers["Content-Disposition"] == 'attachment; filename="body.json"'
    assert kept.headers["Content-Type"] == "application/octet-stream"


async def test_a_large_body_makes_no_heavy_page(visitor: Visitor) -> None:
    await make(visitor)
    lines = [{"article_id": 1, "quantity": 0.001} for _ in range(900)]
    body = {"partner_id": 1, "warehouse_id": 1, "lines": lines}
    made = await visitor.world.send("POST", "/api/sales-orders", body)
    assert made.status == 201, made.raw
    await settled(visitor)
    for path in (f"{RECEIVER}/1", f"{HOOK}/deliveries/1"):
        seen = await visitor.get(path)
        assert len(seen.text.encode()) < 90_000, path
    assert "stores the first 64 kB" in text_of((await visitor.get(f"{RECEIVER}/1")).text)


async def test_the_form_sent_twice_makes_one(visitor: Visitor) -> None:
    fields = form_of(await visitor.get(NEW))
    first, second = await asyncio.gather(visitor.post(NEW, fields), visitor.post(NEW, fields))
    assert first.goes_to == second.goes_to == f"{RECEIVER}?done=new-receiver"
    assert len((await visitor.world.call("GET", "/api/webhooks")).body["data"]) == 1


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [({"answers": "never"}, "answers"), ({"act": "secret", "form_token": "x"}, None), ({}, "answers")],
)
async def test_a_form_that_is_wrong_changes_nothing(
    visitor: Visitor, typed: Mapping[str, str], wrong: str | None
) -> None:
    await make(visitor)
    token = (await visitor.get(RECEIVER)).form_token
    seen = await visitor.post(RECEIVER, {"form_token": token, **typed})
    assert seen.status == (422 if wrong else 403)
    assert (
        await visitor.post(RECEIVER, {"form_token": token, "answers": "gone"}, site="cross-site")
    ).status == 403
    assert await visitor.world.rows("SELECT answers FROM webhook_receivers") == [("success",)]


async def test_who_may_only_read_changes_nothing_and_strangers_see_nothing(shop: Shop) -> None:
    admin = Visitor(shop.world)
    await shop.world.new_user("admin2@example.com", "platform-admin")
    await admin.sign_in("admin2@example.com", "correct horse battery")
    await make(admin)
    reader = await signed_in(shop.world, "ACME", abilities=["webhooks:read"])
    seen = await reader.get(RECEIVER)
    assert (seen.status, "Answer of the receiver" in seen.text, "Remove" in seen.text) == (200, False, False)
    for fields in ({"answers": "gone"}, {"act": "secret"}):
        refused = await reader.post(RECEIVER, {**fields, "form_token": seen.form_token})
        assert (refused.status, "webhooks:write" in refused.text) == (403, True)
    assert (await reader.get(NEW)).status == 403
    assert (await reader.post(NEW, {"form_token": seen.form_token})).status == 403
    await shop.world.new_company("OTHER")
    for path in (RECEIVER, f"{RECEIVER}/1", f"{RECEIVER}/1/body.json", f"{HOOK}/deliveries/1"):
        assert (await reader.get(path.replace("companies/1", "companies/2"))).status == 404
        assert (await Visitor(shop.world).get(path)).status in (302, 303)
    assert (await admin.get(RECEIVER.replace("companies/1", "companies/2"))).status == 404


async def test_nothing_of_it_is_in_the_api(visitor: Visitor) -> None:
    """The API has only the functions of every webhook; received requests are displayed on the pages."""
    await make(visitor)
    for path in ("/api/v2/webhooks/1/receiver", "/api/webhooks/1/receiver"):
        assert (await visitor.world.send("GET", path)).status == 404


async def test_a_full_receiver_makes_no_heavy_page(visitor: Visitor) -> None:
    await make(visitor)
    await order(visitor)
    database = await visitor.world.database()
    copy = """
        INSERT INTO webhook_received
        SELECT NULL, subscription_id, delivery_id, event_id, at, headers, body, body_bytes, has_valid_signature,
            answered
        FROM webhook_received WHERE id = 1
    """
    for _ in range(KEPT - 2):
        await database.write(lambda tx: tx.execute(copy))
    seen = await visitor.get(RECEIVER)
    assert len(rows(seen)) == KEPT
    assert len(seen.text.encode()) < 80_000
