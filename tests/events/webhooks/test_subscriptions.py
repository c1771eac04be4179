"""Tests of subscriptions by v1 and v2: their fields, their secrets, and what they refuse."""

import json
from typing import Any

import pytest

from tests.events.webhooks.hooks import SECRET
from tests.support.world import World
from wmsd.events.webhooks.receiver_rules import ADDRESS
from wmsd.events.webhooks.rules import MOST_SUBSCRIPTIONS

PATH = "/api/webhooks"
URL = "https://hooks.example.com/in"
HMAC = {"name": "ERP", "url": URL, "events": ["sales_order.created"], "secret": SECRET}
WAYS: dict[str, dict[str, Any]] = {
    "hmac": {"secret": SECRET},
    "bearer": {"token": "t-0123456789"},
    "basic": {"username": "erp-user-0815", "password": "pass word"},
    "custom": {"headers": {"X-Api-Key": "k-0123456789"}},
}


async def created(world: World, status: int = 201, **fields: Any) -> Any:
    return (await world.call("POST", PATH, {**HMAC, **fields}, status=status)).body


async def test_a_subscription_is_shown_without_its_secret(world: World) -> None:
    answer = await world.call("POST", PATH, HMAC, status=201)
    assert answer.headers["Location"] == f"{PATH}/1"
    assert answer.body == {
        "id": 1,
        "name": "ERP",
        "url": URL,
        "events": ["sales_order.created"],
        "auth_type": "hmac",
        "active": True,
        "has_secret": True,
        "previous_secret_expires_at": None,
        "failing_since": None,
        "switched_off_at": None,
        "switched_off_because": None,
        "credentials_missing_since": None,
        "last_delivery": None,
        "warnings": [],
        "created_at": "2026-11-20T12:00:00.000Z",
        "updated_at": "2026-11-20T12:00:00.000Z",
    }
    listed = (await world.call("GET", PATH)).body
    assert (listed["data"], listed["meta"]["total"]) == ([answer.body], 1)
    assert (await world.call("GET", f"{PATH}/1")).body == answer.body
    assert (await world.call("GET", "/api/v2/webhooks")).body["data"] == [answer.body]
    assert (await world.call("GET", "/api/v2/webhooks/1")).body == answer.body


@pytest.mark.parametrize("auth_type", WAYS)
async def test_credentials_of_every_kind_stand_sealed_in_the_file(world: World, auth_type: str) -> None:
    body = {"name": "ERP", "url": URL, "events": ["*"], "auth_type": auth_type, **WAYS[auth_type]}
    answer = await world.call("POST", "/api/v2/webhooks", body, status=201)
    assert answer.body["has_secret"] is True
    ((sealed,),) = await world.rows("SELECT credentials FROM webhook_subscriptions")
    assert json.loads(world.installation.vault.unseal(sealed) or "") == WAYS[auth_type]
    secrets = [text for value in WAYS[auth_type].values() for text in _texts(value)]
    whole = b"".join(path.read_bytes() for path in world.installation.folder.path.rglob("*") if path.is_file())
    for secret in secrets:
        assert secret.encode() not in whole
        assert secret not in answer.raw.decode()


def _texts(value: str | dict[str, str]) -> list[str]:
    return [value] if isinstance(value, str) else list(value.values())


@pytest.mark.parametrize("auth_type", WAYS)
async def test_credentials_that_are_missing_are_named(world: World, auth_type: str) -> None:
    body = {"name": "ERP", "url": URL, "events": ["*"], "auth_type": auth_type}
    answer = await world.call("POST", PATH, body, status=422)
    assert answer.errors == {name: [f"is required by auth_type {auth_type}"] for name in WAYS[auth_type]}


async def test_credentials_of_another_kind_are_refused(world: World) -> None:
    answer = await world.call("POST", PATH, {**HMAC, "token": "t", "username": "u"}, status=422)
    sentence = "cannot be used with auth_type hmac, which needs secret"
    assert answer.errors == {"token": [sentence], "username": [sentence]}


@pytest.mark.parametrize(
    ("length", "status", "warnings"),
    [(15, 422, None), (16, 201, 1), (31, 201, 1), (32, 201, 0), (255, 201, 0), (256, 422, None)],
)
async def test_short_secrets_are_warned_of_and_very_short_ones_refused(
    world: World, length: int, status: int, warnings: int | None
) -> None:
    answer = await world.call("POST", PATH, {**HMAC, "secret": "s" * length}, status=status)
    if warnings is None:
        assert list(answer.errors) == ["secret"]
    else:
        assert len(answer.body["warnings"]) == warnings
        assert len((await world.call("GET", f"{PATH}/1")).body["warnings"]) == warnings


@pytest.mark.parametrize(
    ("field", "value", "path", "says"),
    [
        ("url", "http://hooks.example.com/", "url", "https"),
        ("url", "https://user:pass@hooks.example.com/", "url", "credentials"),
        ("url", "https://127.0.0.1/", "url", "webhooks.allow_networks"),
        ("url", "https://192.168.1.10/", "url", "webhooks.allow_networks"),
        ("url", "https://2130706433/", "url", ""),
        ("url", "ftp://hooks.example.com/", "url", "https"),
        ("url", "hooks.example.com", "url", ""),
        ("url", f"https://hooks.example.com/{'x' * 2048}", "url", "2048"),
        ("url", 5, "url", "must be a string"),
        ("events", [], "events", "at least 1 item"),
        ("events", ["stock.low", "order.created"], "events.1", "cannot be 'order.created', only "),
        ("events", ["*", "stock.low"], "events", "must contain only *"),
        ("events", ["stock.low", "stock.low"], "events", "twice"),
        ("events", "stock.low", "events", "must be an array"),
        ("auth_type", "digest", "auth_type", "must be 'hmac', 'bearer', 'basic' or 'custom'"),
        ("active", "yes", "active", "must be true or false"),
        ("secret", "0123456789abcdef\n0123456789", "secret", "visible ASCII"),
        ("secret", "geheim-und-ähnlich-lang-genug", "secret", "visible ASCII"),
        ("secret", "whsec_but not base64 at all!", "secret", "the rest is not base64"),
        ("name", "", "name", "at least 1 character"),
    ],
)
async def test_fields_that_are_refused(world: World, field: str, value: object, path: str, says: str) -> None:
    answer = await world.call("POST", PATH, {**HMAC, field: value}, status=422)
    assert list(answer.errors) == [path]
    assert says in " ".join(answer.errors[path])
    assert (await world.call("GET", PATH)).body["data"] == []
    await created(world)
    answer = await world.call("PATCH", f"{PATH}/1", {field: value}, status=422)
    assert list(answer.errors) == [path]


@pytest.mark.parametrize(
    ("headers", "path"),
    [
        ({"Host": "x"}, "headers.Host"),
        ({"Content-Length": "5"}, "headers.Content-Length"),
        ({"X-Webhook-Id": "5"}, "headers.X-Webhook-Id"),
        ({"X-Key": "a\r\nHost: x"}, "headers.X-Key"),
        ({"X Key": "a"}, "headers.X Key"),
        ({}, "headers"),
        ({"X-Key": 5}, "headers.X-Key"),
        ({"X-Key": "a", "x-key": "b"}, "headers"),
        ("X-Key: a", "headers"),
    ],
)
async def test_custom_headers_that_are_refused(world: World, headers: object, path: str) -> None:
    body = {"name": "ERP", "url": URL, "events": ["*"], "auth_type": "custom", "headers": headers}
    answer = await world.call("POST", PATH, body, status=422)
    assert list(answer.errors) == [path]


async def test_all_that_is_wrong_is_told_at_once(world: World) -> None:
    body = {"name": "ERP", "url": "https://10.0.0.5/", "events": ["*"], "auth_type": "basic", "token": "t"}
    answer = await world.call("POST", PATH, body, status=422)
    assert set(answer.errors) == {"url", "token", "username", "password"}


async def test_what_is_not_sent_stays_by_patch(world: World) -> None:
    await created(world, secret="s" * 20)
    answer = await world.call("PATCH", f"{PATH}/1", {"name": "Other", "events": ["*"]})
    assert (answer.body["name"], answer.body["events"], answer.body["url"]) == ("Other", ["*"], URL)
    assert len(answer.body["warnings"]) == 1
    answer = await world.call("PATCH", f"{PATH}/1", {"secret": SECRET})
    assert answer.body["warnings"] == []


async def test_what_is_not_sent_takes_its_default_by_put_but_credentials_stay(world: World) -> None:
    await created(world, active=False)
    ((before,),) = await world.rows("SELECT credentials FROM webhook_subscriptions")
    shown = (await world.call("GET", f"{PATH}/1")).body
    shown.pop("active")
    answer = await world.call("PUT", f"{PATH}/1", shown)
    assert answer.body["active"] is True
    assert await world.rows("SELECT credentials FROM webhook_subscriptions") == [(before,)]
    answer = await world.call("PUT", f"{PATH}/1", {"name": "x"}, status=422)
    assert answer.errors == {"url": ["is required"], "events": ["is required"]}


async def test_a_new_way_of_authentication_needs_its_credentials(world: World) -> None:
    await created(world)
    answer = await world.call("PATCH", f"{PATH}/1", {"auth_type": "bearer"}, status=422)
    assert answer.errors == {"token": ["is required by auth_type bearer"]}
    answer = await world.call("PATCH", f"{PATH}/1", {"auth_type": "bearer", "token": "t-1"})
    assert answer.body["auth_type"] == "bearer"
    answer = await world.call("PATCH", f"{PATH}/1", {"auth_type": "hmac"}, status=422)
    assert answer.errors == {"secret": ["is required by auth_type hmac"]}


async def test_what_one_got_one_may_send_back(world: World) -> None:
    shown = await created(world)
    answer = await world.call("PATCH", f"{PATH}/1", shown)
    assert answer.body == shown


async def test_a_change_may_be_of_what_one_has_seen_only(world: World) -> None:
    shown = await world.call("POST", PATH, HMAC, status=201)
    headers = {"If-Match": shown.headers["ETag"]}
    await world.call("PATCH", f"{PATH}/1", {"name": "First"}, headers=headers)
    await world.call("PATCH", f"{PATH}/1", {"name": "Second"}, headers=headers, status=412)


async def test_a_deleted_one_is_gone_and_its_id_is_not_given_again(world: World) -> None:
    await created(world)
    await world.call("DELETE", f"{PATH}/1", status=204)
    await world.call("DELETE", f"{PATH}/1", status=404)
    for method, path in (
        ("GET", f"{PATH}/1"),
        ("GET", "/api/v2/webhooks/1/deliveries"),
        ("POST", "/api/v2/webhooks/1/test"),
        ("POST", "/api/v2/webhooks/1/deliveries/1/redeliver"),
    ):
        await world.call(method, path, status=404)
    assert (await created(world))["id"] == 2
    await world.call("DELETE", "/api/v2/webhooks/2", status=204)
    assert (await world.call("GET", PATH)).body["meta"]["total"] == 0


async def test_a_key_makes_one_subscription(world: World) -> None:
    headers = {"Idempotency-Key": "one"}
    first = await world.call("POST", PATH, HMAC, headers=headers, status=201)
    again = await world.call("POST", PATH, HMAC, headers=headers, status=201)
    assert (again.raw, again.headers["Idempotent-Replayed"]) == (first.raw, "true")
    assert (await world.call("GET", PATH)).body["meta"]["total"] == 1


async def test_a_company_has_so_many_and_no_more(world: World) -> None:
    database = await world.database()
    columns = "name, url, events, auth_type, active, credentials, has_short_secret, created_at, updated_at"
    await database.write(
        lambda tx: tx.executemany(
            f"INSERT INTO webhook_subscriptions ({columns}) VALUES ('n', 'u', '[]', 'hmac', 0, '', 0, ?, ?)",
            [("2026", "2026")] * (MOST_SUBSCRIPTIONS - 1),
        )
    )
    await created(world)
    answer = await world.call("POST", PATH, HMAC, status=422)
    assert str(MOST_SUBSCRIPTIONS) in answer.body["message"]


async def test_abilities_and_module(world: World) -> None:
    await created(world)
    reader = await world.new_token("admin@example.com", ["webhooks:read"])
    await world.call("GET", PATH, token=reader)
    await world.call("POST", PATH, HMAC, token=reader, status=403)
    await world.call("POST", "/api/v2/webhooks/1/test", token=reader, status=403)
    await world.call("POST", "/api/v2/webhooks/1/rotate-secret", {"secret": SECRET}, token=reader, status=403)
    await world.set_module("ACME", "webhooks", False)
    for method, path in (("GET", PATH), ("GET", "/api/v2/webhooks"), ("POST", "/api/v2/webhooks/1/test")):
        await world.call(method, path, status=403)


async def test_another_company_sees_nothing_of_it(world: World) -> None:
    await created(world)
    other = await world.new_company("OTHER")
    assert (await world.call("GET", PATH, company=other)).body["data"] == []
    await world.call("GET", f"{PATH}/1", company=other, status=404)
    await world.call("POST", "/api/v2/webhooks/1/test", company=other, status=404)


async def test_rotation_is_for_secrets_only(world: World) -> None:
    await created(world)
    answer = await world.call("POST", "/api/v2/webhooks/1/rotate-secret", {"secret": "n" * 40})
    assert answer.body["previous_secret_expires_at"] == "2026-11-21T12:00:00.000Z"
    again = await world.call("POST", "/api/v2/webhooks/1/rotate-secret", {"secret": "n" * 40})
    assert again.body == answer.body
    await world.call("PATCH", f"{PATH}/1", {"auth_type": "bearer", "token": "t-1"})
    assert (await world.call("GET", f"{PATH}/1")).body["previous_secret_expires_at"] is None
    answer = await world.call("POST", "/api/v2/webhooks/1/rotate-secret", {"secret": SECRET}, status=422)
    assert answer.errors == {"secret": ["cannot be used with auth_type bearer"]}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
async def test_errors_of_form_hide_none_of_the_url_and_the_credentials(world: World, method: str) -> None:
    await world.call("POST", PATH, {"name": "ERP", "url": URL, "events": ["*"], "secret": "s" * 32}, status=201)
    path = PATH if method == "POST" else f"{PATH}/1"
    if method != "POST":
        of_none = await world.call(method, f"{PATH}/2", {"name": 5, "url": "x", "events": ["*"]}, status=422)
        assert "url" not in of_none.errors
    of_form = {"name": ["must be a string"], "events": ["must have at least 1 item"]}
    form = {"name": 5, "events": [], "url": "http://hooks.example.com/"}
    of_url = {"url": ["The URL must begin with https://."]}
    cases: list[tuple[dict[str, Any], dict[str, list[str]]]] = [
        ({"auth_type": "bearer"}, {"token": ["is required by auth_type bearer"]}),
        ({"auth_type": "bearer", "token": ""}, {"token": ["must have at least 1 character"]}),
        ({"auth_type": "x"}, {"auth_type": ["must be 'hmac', 'bearer', 'basic' or 'custom'"]}),
        ({"token": "t"}, {"token": ["cannot be used with auth_type hmac, which needs secret"]}),
        (
            {"auth_type": "custom", "headers": {"X-A": 5, "Host": "x"}},
            {
                "headers.X-A": ["must be a string"],
                "headers.Host": ["wmsd sets this header itself. Choose another name."],
            },
        ),
    ]
    for sent, errors in cases:
        of_hmac = {"secret": ["is required by auth_type hmac"]} if method == "POST" and "token" in sent else {}
        of_hmac = of_hmac if sent.get("auth_type", "hmac") == "hmac" else {}
        answer = await world.call(method, path, {**form, **sent}, status=422)
        assert answer.errors == {**of_form, **of_url, **errors, **of_hmac}


async def test_errors_of_form_hide_none_of_a_test_receiver(world: World) -> None:
    await world.call("POST", PATH, {"name": "ERP", "url": URL, "events": ["*"], "secret": "s" * 32}, status=201)
    database = await world.database()
    await database.write(lambda tx: tx.execute("UPDATE webhook_subscriptions SET url = ?", (ADDRESS,)))
    answer = await world.call("PATCH", f"{PATH}/1", {"name": 5, "url": 5, "secret": "n" * 32}, status=422)
    assert answer.errors == {
        "name": ["must be a string"],
        "url": ["must be a string"],
        "secret": ["cannot be set for a test receiver, which has its own secret"],
    }
