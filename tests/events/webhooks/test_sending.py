"""Tests of what a receiver gets: body, headers and signatures, with every way of authentication."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.events.webhooks.hooks import SECRET, Hooks
from tests.support.receivers import MANNERS, Received, answer
from wmsd.base.timestamps import from_text
from wmsd.events.webhooks.sending.throttle import PER_SUBSCRIPTION

UNPADDED = "whsec_" + base64.b64encode(b"u" * 32).decode().rstrip("=")


async def one_event(hooks: Hooks, **fields: Any) -> Received:
    await hooks.subscribe("sales_order.created", **fields)
    await hooks.shop.order()
    await hooks.received_count(1)
    return hooks.received[0]


async def test_the_body_is_the_event(hooks: Hooks) -> None:
    got = await one_event(hooks)
    order = (await hooks.world.call("GET", "/api/sales-orders/1")).body
    body = json.loads(got.body)
    assert body == {"event": "sales_order.created", "timestamp": "2026-11-20T12:00:00.000Z", "data": order}
    assert list(body) == ["event", "timestamp", "data"]
    assert (got.method, got.path) == ("POST", "/200")


async def test_the_headers_are_the_specified_and_the_decided_ones(hooks: Hooks) -> None:
    got = await one_event(hooks)
    event = (await hooks.world.call("GET", "/api/v2/events?event=sales_order.created")).body["data"][0]
    digest = hmac.new(SECRET.encode(), got.body, hashlib.sha256).hexdigest()
    assert got.headers == {
        "host": f"127.0.0.1:{hooks.receiver.port}",
        "accept": "*/*",
        "accept-encoding": "identity",
        "content-type": "application/json",
        "content-length": str(len(got.body)),
        "user-agent": "3PL-WMS-Webhook/1.0",
        "x-webhook-event": "sales_order.created",
        "x-webhook-id": event["id"],
        "x-webhook-attempt": "1",
        "x-webhook-sequence": "1",
        "x-webhook-epoch": "1",
        "x-webhook-signature": f"sha256={digest}",
        "webhook-id": event["id"],
        "webhook-timestamp": str(int(from_text("2026-11-20T12:00:00Z").timestamp())),
        "webhook-signature": got.headers["webhook-signature"],
    }


@pytest.fixture
def at_the_worlds_time(monkeypatch: pytest.MonkeyPatch, hooks: Hooks) -> None:
    """Make the verifier use the time of the world, because it refuses old messages."""

    class Now:
        @staticmethod
        def now(tz: Any = None) -> Any:
            return hooks.world.clock.now()

        fromtimestamp = __import__("datetime").datetime.fromtimestamp

    monkeypatch.setattr("standardwebhooks.webhooks.datetime", Now)


@pytest.mark.usefixtures("at_the_worlds_time")
@pytest.mark.parametrize("secret", [SECRET, UNPADDED, "a secret of 32 letters, and more"])
async def test_the_standard_signature_is_verified_by_its_own_library(hooks: Hooks, secret: str) -> None:
    got = await one_event(hooks, secret=secret)
    verifier = Webhook(secret if secret in (SECRET, UNPADDED) else secret.encode())
    assert verifier.verify(got.body, got.headers) == json.loads(got.body)
    with pytest.raises(Exception, match="No matching signature"):
        verifier.verify(got.body + b" ", got.headers)


@pytest.mark.usefixtures("at_the_worlds_time")
async def test_for_a_day_both_secrets_sign(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    new = "whsec_" + base64.b64encode(b"n" * 32).decode()
    await hooks.world.call("POST", "/api/v2/webhooks/1/rotate-secret", {"secret": new})
    await hooks.shop.order()
    await hooks.received_count(1)
    hooks.world.clock.advance(24 * 3600 - 1)
    await hooks.shop.order()
    await hooks.received_count(2)
    for got in hooks.received:
        assert len(got.headers["webhook-signature"].split(" ")) == 2
        assert got.headers["x-webhook-signature"].endswith(hmac.new(new.encode(), got.body, "sha256").hexdigest())
    for secret in (SECRET, new):
        assert Webhook(secret).verify(hooks.received[1].body, hooks.received[1].headers)
    hooks.world.clock.advance(2)
    await hooks.shop.order()
    await hooks.received_count(3)
    assert len(hooks.received[2].headers["webhook-signature"].split(" ")) == 1
    assert Webhook(new).verify(hooks.received[2].body, hooks.received[2].headers)
    assert (await hooks.subscription())["previous_secret_expires_at"] is None


@pytest.mark.parametrize(
    ("fields", "headers"),
    [
        ({"auth_type": "bearer", "token": "t-1"}, {"authorization": "Bearer t-1"}),
        (
            {"auth_type": "basic", "username": "erp", "password": "p:w"},
            {"authorization": f"Basic {base64.b64encode(b'erp:p:w').decode()}"},
        ),
        ({"auth_type": "custom", "headers": {"X-Key": "k", "X-Other": "o"}}, {"x-key": "k", "x-other": "o"}),
    ],
    ids=["bearer", "basic", "custom"],
)
async def test_other_ways_of_authentication(hooks: Hooks, fields: dict[str, Any], headers: dict[str, str]) -> None:
    got = await one_event(hooks, **fields)
    assert headers.items() <= got.headers.items()
    assert not {"x-webhook-signature", "webhook-signature"} & got.headers.keys()
    assert got.headers["webhook-id"] == got.headers["x-webhook-id"]


async def test_only_what_it_subscribes_to_is_sent_and_sequences_have_no_gap(hooks: Hooks) -> None:
    await hooks.subscribe("stock.updated", "stock.low")
    await hooks.subscribe("*", path="/204")
    await hooks.shop.order({"article_id": 1, "quantity": 12})
    await hooks.received_count(5)
    ours = [each for each in hooks.received if each.path == "/200"]
    every = [each for each in hooks.received if each.path == "/204"]
    assert sorted(each.headers["x-webhook-event"] for each in ours) == ["stock.low", "stock.updated"]
    assert len(every) == 3
    assert sorted(each.headers["x-webhook-sequence"] for each in ours) == ["1", "2"]
    assert sorted(each.headers["x-webhook-sequence"] for each in every) == ["1", "2", "3"]


async def test_an_event_has_one_id_and_body_for_all_subscribers(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created")
    await hooks.subscribe("sales_order.created", path="/204")
    await hooks.shop.order()
    await hooks.received_count(2)
    first, second = hooks.received
    assert (first.headers["x-webhook-id"], first.body) == (second.headers["x-webhook-id"], second.body)


async def test_it_is_sent_at_once(hooks: Hooks) -> None:
    """A delivery is sent immediately.

    The promise is 100 ms on an idle machine. Here the limit is a second.
    """
    await hooks.subscribe("sales_order.created")
    for count in range(1, 4):
        began = time.monotonic()
        await hooks.shop.order()
        await hooks.until(lambda count=count: len(hooks.received) == count)  # type: ignore[misc]  # the loop's own
        assert time.monotonic() - began < 1.0


async def test_letters_of_all_kinds_arrive_as_they_are(hooks: Hooks) -> None:
    await hooks.subscribe("article.created")
    name = 'Țiglă "roșie" \\ 瓦 🧱 </script>'
    await hooks.world.send("POST", "/api/articles", {"code": "T", "name": name})
    await hooks.received_count(1)
    assert json.loads(hooks.received[0].body)["data"]["name"] == name
    assert name.replace("\\", "\\\\").replace('"', '\\"').encode() in hooks.received[0].body


async def test_a_batch_of_articles_from_a_file_is_sent_whole(hooks: Hooks) -> None:
    await hooks.subscribe("article.created")
    rows = "".join(f"N{number:03},Article {number}\n" for number in range(300))
    await hooks.world.import_csv("articles", f"code,name\n{rows}")
    await hooks.received_count(300)
    assert sorted(json.loads(each.body)["data"]["code"] for each in hooks.received) == [
        f"N{n:03}" for n in range(300)
    ]
    assert sorted(int(each.headers["x-webhook-sequence"]) for each in hooks.received) == list(range(1, 301))
    await hooks.settled()
    assert set(await hooks.statuses()) == {"delivered"}


async def test_nothing_more_is_sent_while_it_is_inactive_and_the_rest_waits(hooks: Hooks) -> None:
    hooks.receiver.script = [MANNERS["/500"]]
    await hooks.subscribe("sales_order.created")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.change(active=False)
    await hooks.shop.order()
    await hooks.later(3600)
    assert await hooks.statuses() == ["pending"]
    await hooks.change(active=True)
    await hooks.received_count(2)
    await hooks.settled()
    assert await hooks.statuses() == ["delivered"]


@pytest.mark.parametrize("is_deleted", [False, True], ids=["switched off", "deleted"])
async def test_it_ends_in_the_middle_of_a_backlog(hooks: Hooks, is_deleted: bool) -> None:
    await hooks.subscribe("article.created")
    rows = "".join(f"N{number},Article\n" for number in range(2000))
    await hooks.world.import_csv("articles", f"code,name\n{rows}")
    await hooks.until(lambda: len(hooks.received) >= 10)
    if is_deleted:
        await hooks.world.call("DELETE", "/api/webhooks/1", status=204)
    else:
        await hooks.change(active=False)
    sent = len(hooks.received)
    await hooks.settled()
    assert len(hooks.received) < sent + 8 * PER_SUBSCRIPTION, "what was loaded and under way, and no more"
    if not is_deleted:
        assert (await hooks.statuses())[-1] == "pending"
        await hooks.change(active=True)
        await hooks.received_count(2000)


async def test_what_was_queued_for_a_deleted_one_is_not_sent(hooks: Hooks) -> None:
    hooks.receiver.script = [MANNERS["/500"]]
    await hooks.subscribe("sales_order.created")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.world.call("DELETE", "/api/webhooks/1", status=204)
    await hooks.later(3600)
    assert len(hooks.received) == 1
    await hooks.world.jobs.tidy_files()
    assert await hooks.world.rows("SELECT count(*) FROM webhook_deliveries") == [(0,)]
    assert await hooks.world.rows("SELECT count(*) FROM webhook_attempts") == [(0,)]
    assert await hooks.world.rows("SELECT count(*) FROM webhook_leftovers") == [(0,)]


async def test_a_url_that_is_changed_is_where_the_next_attempt_goes(hooks: Hooks) -> None:
    await hooks.subscribe("sales_order.created", path="/500")
    await hooks.shop.order()
    await hooks.received_count(1)
    await hooks.change(url=hooks.receiver.url("/204"))
    await hooks.later(31)
    assert [each.path for each in hooks.received] == ["/500", "/204"]
    assert hooks.received[0].body == hooks.received[1].body


async def test_what_is_ready_already_goes_to_the_new_url_too(hooks: Hooks) -> None:
    hooks.receiver.script = [answer(500, delay=0.3)]
    await hooks.subscribe("article.created", path="/500")
    await hooks.world.import_csv("articles", "code,name\nN1,One\nN2,Two\nN3,Three\n")
    await hooks.received_count(1)
    await hooks.change(url=hooks.receiver.url("/204"))
    await hooks.received_count(3)
    assert [each.path for each in hooks.received] == ["/500", "/204", "/204"]


async def test_a_refused_request_sends_nothing(hooks: Hooks) -> None:
    await hooks.subscribe()
    body = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": 1000}]}
    await hooks.world.call("POST", "/api/sales-orders", body, status=422)
    await asyncio.sleep(0.2)
    assert hooks.received == []
    assert await hooks.log() == []
