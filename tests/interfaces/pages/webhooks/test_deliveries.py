"""A webhook's log on the pages: its filters, one webhook delivery, and sending again the ones that the filters
find.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.events.webhooks.hooks import SECRET, Hooks, open_hooks
from tests.interfaces.pages.records.test_act import form_of, sent
from tests.interfaces.pages.records.test_browse import NOTHING, links, rows, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.authority import Authority, found_authority
from tests.support.receivers import MANNERS, answer
from wmsd.events.webhooks.deliveries import redelivery

HOOK = "/companies/1/webhooks/1"
LOG = f"{HOOK}/deliveries"
AGAIN = f"{LOG}/again"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return found_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
async def hooks(tmp_path: Path, authority: Authority) -> AsyncIterator[Hooks]:
    """Open a webhook with a real receiver."""
    async with open_hooks(tmp_path / "data", authority) as opened:
        await opened.subscribe("sales_order.created", "sales_order.status_changed", "stock.updated")
        yield opened


@pytest.fixture
async def visitor(hooks: Hooks) -> Visitor:
    return await signed_in(hooks.world)


async def outage(hooks: Hooks, orders: int = 2) -> None:
    """Create orders whose webhook deliveries all fail for good, after one order whose webhook delivery
    succeeded.
    """
    await hooks.shop.order()
    await hooks.settled()
    hooks.world.clock.advance(60)
    hooks.receiver.script = [MANNERS["/500"]] * (10 * orders)
    for _ in range(orders):
        await hooks.shop.order()
    await hooks.settled()
    for wait in (31, 121, 481, 1921) * orders:
        await hooks.later(wait)
    hooks.receiver.script = []
    hooks.world.clock.advance(60)


async def test_failed_tests_are_not_given_up(hooks: Hooks, visitor: Visitor) -> None:
    """A test has one attempt, and its failure loses nothing. The count of failed webhook deliveries links to their
    list.
    """
    hooks.receiver.script = [MANNERS["/500"]] * 2
    for _ in range(2):
        await hooks.world.call("POST", "/api/v2/webhooks/1/test")
    assert await hooks.statuses() == ["exhausted"] * 2
    await hooks.world.jobs.today.keep()
    today = await visitor.get("/today")
    assert rows(today)[0][10] == "0"
    assert given_up_in_log(await visitor.get("/companies/1/webhooks")) == "0"
    await outage(hooks)
    await hooks.world.jobs.today.keep()
    today = await visitor.get("/today")
    lost = rows(today)[0][10]
    assert int(lost) > 0
    assert given_up_in_log(await visitor.get("/companies/1/webhooks")) == lost
    link = f'<a href="/companies/1/webhooks">{lost}</a>'
    assert today.text.count(link) == 2, "of the house, and of the company"


async def test_the_log_takes_a_record_as_it_shows_it(hooks: Hooks, visitor: Visitor) -> None:
    await hooks.shop.order()
    await hooks.settled()
    for typed in ("sales_order+1", "sales_order:1"):
        assert numbers(await visitor.get(f"{LOG}?record={typed}")) == ["1"]
    assert (await visitor.get(f"{LOG}?record=nothing+1")).text.count("is neither the code of a document") == 1


async def test_a_redirect_says_that_nobody_follows_it(hooks: Hooks, visitor: Visitor) -> None:
    hooks.receiver.script = [answer(302, headers={"Location": "https://example.com/"})]
    await hooks.shop.order()
    await hooks.settled()
    for path in (LOG, f"{LOG}/1"):
        assert "wmsd does not follow redirects" in (await visitor.get(path)).text


def given_up_in_log(seen: Seen) -> str:
    return rows(seen)[0][6]


def numbers(seen: Seen) -> list[str]:
    return [cells[1] for cells in rows(seen)]


def hidden(seen: Seen) -> dict[str, str]:
    """Return the hidden fields of the page's last form."""
    form = re.findall(r'<form class="acts".*?</form>', seen.text, re.DOTALL)[-1]
    return dict(re.findall(r'<input type="hidden" name="(.*?)" value="(.*?)">', form))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=exhausted", ["6", "5", "4", "3"]),
        ("status=delivered", ["2", "1"]),
        ("event=stock.updated", ["6", "4", "2"]),
        ("event=stock.updated&status=delivered", ["2"]),
        ("record=SO-000002", ["3"]),
        ("record=+SO-000002+&event=stock.updated", []),
        ("record=sales_order:3", ["5"]),
        ("record=1", ["6", "4", "2", "1"]),
        ("until=2026-11-20T12:00:30", ["2", "1"]),
        ("since=2026-11-20T12:00:30&record=1", ["6", "4"]),
        ("since=2026-11-20T12:00:30&until=2026-11-20T12:00:45", []),
    ],
)
async def test_filters(hooks: Hooks, visitor: Visitor, query: str, found: list[str]) -> None:
    await outage(hooks)
    assert numbers(await visitor.get(f"{LOG}?{query}")) == found


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("record=nothing", "record"),
        ("record=" + "9" * 70, "record"),
        ("record=user:1", "record"),
        ("since=yesterday", "since"),
        ("until=2026-13-01T00:00", "until"),
        ("status=lost", "status"),
        ("event=lost", "event"),
    ],
)
async def test_a_filter_that_is_wrong_says_so_and_keeps_what_was_typed(
    visitor: Visitor, query: str, wrong: str
) -> None:
    for path in (LOG, AGAIN):
        seen = await visitor.get(f"{path}?{query}")
        assert seen.status == 422
        if path == LOG:
            assert f'id="{wrong}-error"' in seen.text
    assert "Send all" not in seen.text


async def test_a_long_log_has_pages_in_its_order(hooks: Hooks, visitor: Visitor) -> None:
    await hooks.world.import_csv("articles", "code,name\n" + "".join(f"N{n},Article\n" for n in range(3)))
    await hooks.subscribe("article.created", name="Second")
    await hooks.world.import_csv("articles", "code,name\n" + "".join(f"M{n},Article\n" for n in range(70)))
    await hooks.settled()
    first = await visitor.get("/companies/1/webhooks/2/deliveries?event=article.created")
    (after,) = links(first, "next")
    second = await visitor.get(after)
    assert numbers(first) + numbers(second) == [str(number) for number in range(70, 0, -1)]
    assert links(second, "next") == []


async def test_a_delivery_shows_each_attempt_as_it_was_sent(hooks: Hooks, visitor: Visitor) -> None:
    await outage(hooks, 1)
    seen = await visitor.get(f"{LOG}/3")
    text = text_of(seen.text)
    assert text.count("Request sent") == 5
    last = [each for each in hooks.received if each.headers["x-webhook-sequence"] == "3"][-1]
    for part in (
        *(last.headers["x-webhook-signature"], last.headers["webhook-signature"], "X-Webhook-Attempt: 5"),
        *(last.body.decode(), f"POST {hooks.receiver.url('/200')}", "Attempt 5 500", "exhausted"),
    ):
        assert part in text
    assert SECRET not in seen.text
    assert '<a href="/companies/1/sales-orders/2">sales_order 2</a>' in seen.text


async def test_one_is_sent_again_once_however_often_the_form_is_sent(hooks: Hooks, visitor: Visitor) -> None:
    await outage(hooks, 1)
    before = len(hooks.received)
    fields = hidden(await visitor.get(f"{LOG}/3"))
    done = await asyncio.gather(visitor.post(f"{LOG}/3", fields), visitor.post(f"{LOG}/3", fields))
    assert [each.goes_to for each in done] == [f"{LOG}/3?done=again"] * 2
    await hooks.settled()
    await visitor.post(f"{LOG}/3", fields)
    await hooks.settled()
    assert len(hooks.received) == before + 1
    assert "wmsd is sending this delivery again." in (await visitor.get(done[0].goes_to)).text


async def test_those_chosen_are_sent_again_once(hooks: Hooks, visitor: Visitor) -> None:
    await outage(hooks)
    before = len(hooks.received)
    seen = await visitor.get(f"{LOG}?status=exhausted")
    (key,) = re.findall(r'name="idempotency_key" value="(.*?)"', seen.text)
    fields = {"form_token": seen.form_token, "idempotency_key": key, "delivery:3": "on", "delivery:5": "on"}
    for _ in range(2):
        done = await visitor.post(LOG, fields)
        assert done.goes_to == f"{LOG}?done=again"
        await hooks.settled()
    assert len(hooks.received) == before + 2


async def test_all_that_a_filter_finds_are_counted_and_then_sent_again(hooks: Hooks, visitor: Visitor) -> None:
    await outage(hooks)
    before = len(hooks.received)
    log = await visitor.get(f"{LOG}?status=exhausted&event=sales_order.created")
    (address,) = re.findall(r'href="(.*?)">Send all that match the filters again', log.text)
    seen = await visitor.get(address.replace("&amp;", "&"))
    text = text_of(seen.text)
    assert "2 deliveries to ERP" in text
    assert "Send all 2 again" in text
    assert len(hooks.received) == before, "looking sends nothing"
    fields = hidden(seen)
    hooks.world.clock.advance(1)
    first, second = await asyncio.gather(visitor.post(AGAIN, fields), visitor.post(AGAIN, fields))
    for done in (first, second):
        assert "2 webhook deliveries are being sent again." in text_of(done.text)
    await hooks.settled()
    sent_again = [each.headers["x-webhook-sequence"] for each in hooks.received[before:]]
    assert sorted(sent_again) == ["3", "5"]
    assert numbers(await visitor.get(f"{LOG}?status=exhausted")) == ["6", "4"]


async def test_what_is_many_goes_part_by_part(
    hooks: Hooks, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await outage(hooks)
    before = len(hooks.received)
    monkeypatch.setattr(redelivery, "AT_ONCE", 3)
    seen = await visitor.get(f"{AGAIN}?status=exhausted")
    assert "more than 3 deliveries" in text_of(seen.text)
    part = await visitor.post(AGAIN, hidden(seen))
    assert "3 webhook deliveries are being sent again. There are more" in text_of(part.text.partition("<main")[2])
    rest = await visitor.post(AGAIN, hidden(part))
    assert "One webhook delivery is being sent again." in text_of(rest.text)
    assert "Send the next" not in rest.text
    await hooks.settled()
    assert len(hooks.received) == before + 4


async def test_what_is_not_over_is_not_sent_again(hooks: Hooks, visitor: Visitor) -> None:
    hooks.receiver.script = [MANNERS["/500"]] * 2
    await hooks.shop.order()
    await hooks.settled()
    assert "Send all" not in (await visitor.get(f"{LOG}?status=pending")).text
    nothing = await visitor.get(AGAIN)
    assert (
        "No finished delivery matches these filters." in nothing.text,
        "Send all" in nothing.text,
    ) == (True, False)
    refused = await visitor.get(f"{AGAIN}?status=pending")
    assert refused.status == 422


async def test_who_may_only_read_sends_nothing_again(hooks: Hooks) -> None:
    await outage(hooks, 1)
    before = len(hooks.received)
    reader = await signed_in(hooks.world, "ACME", abilities=["webhooks:read"])
    log = await reader.get(LOG)
    assert "again" not in text_of(log.text)
    assert (
        "<button" not in (await reader.get(AGAIN)).text.partition('<div class="title">')[2].partition("</main")[0]
    )
    token = {"form_token": log.form_token}
    for path, fields in ((LOG, {"delivery:3": "on"}), (f"{LOG}/3", {}), (AGAIN, {"status": "exhausted"})):
        refused = await reader.post(path, {**token, **fields})
        assert (refused.status, "webhooks:write" in refused.text) == (403, True), path
    await hooks.settled()
    assert len(hooks.received) == before


async def test_deliveries_of_others_are_not_found(hooks: Hooks, visitor: Visitor) -> None:
    await outage(hooks, 1)
    await hooks.subscribe("article.created", name="Second")
    await hooks.world.new_company("OTHER")
    token = (await visitor.get(LOG)).form_token
    for path in (
        *(
            "/companies/1/webhooks/2/deliveries/3",
            "/companies/2/webhooks/1/deliveries/3",
            f"{LOG}/999999999999999",
        ),
        *("/companies/2/webhooks/1/deliveries", "/companies/2/webhooks/1/deliveries/again", f"{LOG}/0"),
    ):
        assert (await visitor.get(path)).status == 404, path
        assert (await visitor.post(path, {"form_token": token, "delivery:3": "on"})).status == 404, path
    assert await hooks.statuses() == ["delivered"] * 2 + ["exhausted"] * 2


async def test_the_list_says_how_each_fares(hooks: Hooks, visitor: Visitor) -> None:
    await hooks.subscribe("article.created", name="Quiet")
    await hooks.subscribe("article.created", name="Off", active=False)
    await outage(hooks, 1)
    found = rows(await visitor.get("/companies/1/webhooks"))
    erp, quiet, off = found
    assert erp[1].startswith("failing since 20 Nov 2026, 12:01 UTC")
    assert erp[2:3] + erp[4:7] == ["16 % 2 of 12 less than one attempt an hour", "0", "0", "2"]
    assert (quiet[1], quiet[2]) == ("new No deliveries yet.", NOTHING)
    assert off[1] == "off A user switched it off."
    record = await visitor.get(HOOK)
    assert (record.status, record.heading) == (200, "ERP")
    assert "Switch on again" not in record.text
    assert "Switch on again" in (await visitor.get("/companies/1/webhooks/3")).text


async def test_a_new_secret_is_made_and_shown_once(hooks: Hooks, visitor: Visitor) -> None:
    seen = await visitor.get(f"{HOOK}/rotate-secret")
    secret = form_of(seen)["secret"]
    assert re.fullmatch(r"whsec_[0-9A-Za-z+/]{43}=", secret)
    assert form_of(await visitor.get(f"{HOOK}/rotate-secret"))["secret"] != secret
    fields = form_of(seen)
    for _ in range(2):
        done = await visitor.post(f"{HOOK}/rotate-secret", fields)
        assert (done.status, secret in done.text) == (200, True)
    for path in (HOOK, LOG, f"{HOOK}/change", "/companies/1/webhooks"):
        assert secret not in (await visitor.get(path)).text
    wrong = await sent(visitor, f"{HOOK}/rotate-secret", secret="short")
    assert (wrong.status, 'value="short"' in wrong.text, 'id="secret-error"' in wrong.text) == (422, True, True)
    await hooks.shop.order()
    await hooks.settled()
    assert len(hooks.received[-1].headers["webhook-signature"].split(" ")) == 2
