"""Tests of batches: each sub-request is authorised, limited and answered as if it was sent alone."""

import json
from typing import Any

import pytest

from tests.support.shop import Shop
from tests.support.world import Answer

PATH = "/api/v2/batch"
PARTS = ("requests.0.method", "requests.0.path")
ORDER = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": 3}]}
TOO_MUCH = {**ORDER, "lines": [{"article_id": 1, "quantity": 99}]}


def post(body: Any = ORDER, **more: Any) -> dict[str, Any]:
    return {"method": "POST", "path": "/api/v2/sales-orders", "body": body, **more}


def get(path: str) -> dict[str, Any]:
    return {"method": "GET", "path": f"/api/v2/{path}"}


async def batch(shop: Shop, *requests: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    answer = await shop.world.send("POST", PATH, {"requests": list(requests)}, **options)
    assert answer.status == 200, answer.raw
    responses: list[dict[str, Any]] = answer.body["responses"]
    return responses


def statuses(responses: list[dict[str, Any]]) -> list[int]:
    return [response["status"] for response in responses]


async def test_requests_run_in_their_order_and_each_sees_those_before_it(shop: Shop) -> None:
    events = ["sales_order.created", "sales_order.status_changed", "stock.updated", "stock.updated"]
    before = await shop.world.last_event()
    responses = await batch(
        shop,
        post(),
        get("sales-orders/1"),
        {"method": "PATCH", "path": "/api/v2/sales-orders/1/status", "body": {"status": "ANULAT"}},
        get("sales-orders?status=ANULAT"),
        get("stock?article_id=1&warehouse_id=1"),
    )
    assert statuses(responses) == [201, 200, 200, 200, 200]
    assert responses[0]["body"] == responses[1]["body"]
    assert responses[3]["body"]["data"] == [responses[2]["body"]]
    assert responses[4]["body"]["data"][0]["available"] == 20
    assert sorted(name for name, _ in await shop.world.events_after(before)) == sorted(events)


async def test_a_read_never_sees_what_is_written_after_it(shop: Shop) -> None:
    lines = [{"article_id": 1, "quantity": 99}] * 1000
    refused = [post({**ORDER, "lines": lines})] * 40
    for _ in range(3):
        order = await shop.order()
        status = {
            "method": "PATCH",
            "path": f"/api/v2/sales-orders/{order.id}/status",
            "body": {"status": "ANULAT"},
        }
        read, moved, *_ = await batch(shop, get(f"sales-orders/{order.id}"), status, *refused)
        assert (read["body"]["status"], moved["body"]["status"]) == ("CREAT", "ANULAT")


async def test_one_that_fails_does_not_stop_the_next(shop: Shop) -> None:
    responses = await batch(
        shop, post(TOO_MUCH), post(), get("nothing"), {"method": "DELETE", "path": "/api/v2/stock"}, get("stock")
    )
    assert statuses(responses) == [422, 201, 404, 405, 200]
    assert responses[0]["body"]["code"] == "INSUFFICIENT_STOCK"
    assert responses[3]["headers"] == {"Allow": "GET"}


async def test_each_answer_is_the_one_that_it_would_be_alone(shop: Shop) -> None:
    await shop.order()
    world = shop.world
    for method, path, body in (
        ("GET", "/api/v2/sales-orders/1", None),
        ("GET", "/api/v2/sales-orders/0", None),
        ("GET", "/api/v2/sales-orders/%00", None),
        ("GET", "/api/v2/stock?per_page=1&colour=red", None),
        ("GET", "/api/v2/stock?per_page=1&per_page=2", None),
        ("GET", "/api/v2/articles?search=al+b%20c&fields=code", None),
        ("PATCH", "/api/v2/sales-orders/1/status", {"status": "DONE", "colour": 1}),
        ("PATCH", "/api/v2/sales-orders/1/status", {"status": "LIVRAT"}),
        ("POST", "/api/v2/sales-orders", {}),
        ("POST", "/api/v2/sales-orders", {**ORDER, "lines": [{"article_id": 1, "quantity": 1e30}]}),
        ("GET", "/api/v2/meta", None),
        ("GET", "/api/v2/%73tock", None),
        ("GET", "/api/v2/sales%2Dorders", None),
        ("POST", "/api/v2/sales-orders", {**ORDER, "notes": "é" * 100_000}),
    ):
        alone = await world.send(method, path, body)
        sent = {"method": method, "path": path, **({} if body is None else {"body": body})}
        (inside,) = await batch(shop, sent)
        assert (inside["status"], inside["body"]) == (alone.status, alone.body), path


async def test_headers_of_interest_come_back_in_the_slot(shop: Shop) -> None:
    key = {"headers": {"Idempotency-Key": "k"}}
    first, again, other = await batch(shop, post(**key), post(**key), post({**ORDER, "notes": "x"}, **key))
    alone = await shop.world.call("GET", "/api/v2/sales-orders/1")
    assert first["headers"] == {"Location": "/api/v2/sales-orders/1", "ETag": alone.headers["ETag"]}
    assert again == {**first, "headers": {**first["headers"], "Idempotent-Replayed": "true"}}
    assert list(other["body"]["errors"]) == ["Idempotency-Key"]


async def test_a_key_means_the_same_inside_and_outside_a_batch(shop: Shop) -> None:
    alone = await shop.world.send("POST", "/api/v2/sales-orders", ORDER, headers={"Idempotency-Key": "k"})
    (inside,) = await batch(shop, post(headers={"idempotency-key": "k"}))
    assert (inside["status"], inside["body"]) == (201, alone.body)


async def test_a_batch_that_is_repeated_with_its_key_does_nothing_twice(shop: Shop) -> None:
    headers = {"Idempotency-Key": "batch-1"}
    first = await batch(shop, post(), post(), post(TOO_MUCH), headers=headers)
    again = await batch(shop, post(), post(), post(TOO_MUCH), headers=headers)
    assert [response["body"] for response in again] == [response["body"] for response in first]
    assert await shop.world.rows("SELECT count(*) FROM sales_orders") == [(2,)]
    assert statuses(await batch(shop, post(), headers={"Idempotency-Key": "batch-1"})) == [201]
    assert await shop.world.rows("SELECT count(*) FROM sales_orders") == [(2,)]


async def test_a_key_that_is_none_is_refused_as_it_would_be_alone(shop: Shop) -> None:
    (inside,) = await batch(shop, post(headers={"Idempotency-Key": ""}))
    assert (inside["status"], list(inside["body"]["errors"])) == (422, ["Idempotency-Key"])
    answer = await shop.world.send("POST", PATH, {"requests": [get("stock")]}, headers={"Idempotency-Key": "a b"})
    assert (answer.status, list(answer.errors)) == (422, ["Idempotency-Key"])


async def test_a_header_whose_name_is_half_a_letter_is_refused(shop: Shop) -> None:
    text = '{"requests": [{"method": "GET", "path": "/api/v2/stock", "headers": {"\\ud800": "a"}}]}'
    answer = await raw(shop, text)
    assert (answer.status, set(answer.errors)) == (422, {"requests.0.headers", "requests.0.headers.?"})


async def test_each_request_counts_as_one(shop: Shop) -> None:
    company = await shop.world.new_company("SMALL")
    await shop.world.installation.platform.write(
        lambda tx: tx.execute("UPDATE companies SET requests_per_minute = 5 WHERE id = ?", (company,))
    )
    responses = await batch(shop, *[get("stock")] * 7, company=company)
    assert statuses(responses) == [200] * 5 + [429] * 2
    assert responses[5]["headers"] == {"Retry-After": "60"}
    assert responses[5]["body"]["code"] == "RATE_LIMIT_EXCEEDED"
    alone = await shop.world.send("GET", "/api/v2/stock", company=company)
    assert alone.status == 429
    whole = await shop.world.send("POST", PATH, {"requests": [get("stock")]}, company=company)
    assert (whole.status, whole.headers["Retry-After"]) == (429, "60")
    shop.world.clock.advance(60)
    assert statuses(await batch(shop, *[get("stock")] * 5, company=company)) == [200] * 5


async def test_each_request_needs_its_own_ability_and_module(shop: Shop) -> None:
    reader = await shop.world.new_token("admin@example.com", ["stock:read", "sales-orders:write"])
    responses = await batch(shop, get("stock"), get("sales-orders"), post(), token=reader)
    assert statuses(responses) == [200, 403, 201]
    await shop.world.set_module("ACME", "outbound", False)
    assert statuses(await batch(shop, get("stock"), post())) == [200, 403]


@pytest.mark.parametrize(("token", "company", "status"), [("", None, 401), ("x", None, 401), (None, 99, 422)])
async def test_a_batch_itself_is_authorised(
    shop: Shop, token: str | None, company: int | None, status: int
) -> None:
    answer = await shop.world.send("POST", PATH, {"requests": [get("stock")]}, token=token, company=company)
    assert answer.status == status


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("https://example.com/api/v2/stock", "must begin with /api/v2/, without a host"),
        ("//example.com/api/v2/stock", "must begin with /api/v2/, without a host"),
        ("/api/v2/../articles", "must not contain . or .."),
        ("/api/v2/%2e%2e/articles", "must not contain . or .."),
        ("/api/v2/stock/./x", "must not contain . or .."),
        ("/api/v2/stock?article_id=1#x", "must not contain #"),
        ("/api/v2/batch", "must not be a batch"),
        ("/api/v2/batch/", "must not be a batch"),
        ("/api/v2/batch?x=1", "must not be a batch"),
        ("stock", "must begin with /api/v2/, without a host"),
        ("", "must begin with /api/v2/, without a host"),
        ("/api/v2/stock?x=" + "x" * 4000, "must have at most 4000 characters"),
    ],
)
async def test_what_is_no_address_fails_in_its_place(shop: Shop, path: str, sentence: str) -> None:
    _, failed, read = await batch(shop, post(), {"method": "GET", "path": path}, get("sales-orders/1"))
    assert (failed["status"], failed["body"]["code"]) == (422, "VALIDATION_FAILED")
    assert failed["body"]["errors"] == {"path": [sentence]}
    assert read["status"] == 200


@pytest.mark.parametrize("path", ["/api/sales-orders", "/api/v1/stock", "/", "/api/v2/none", "/api/v2/stock/none"])
async def test_an_address_that_version_2_does_not_have_fails_in_its_place(shop: Shop, path: str) -> None:
    _, failed, read = await batch(shop, post(), {"method": "GET", "path": path}, get("sales-orders/1"))
    assert (failed["status"], failed["body"]["code"]) == (404, "NOT_FOUND")
    assert read["status"] == 200


@pytest.mark.parametrize("method", ["BREW", "OPTIONS", "DELETE", "po\u017ft", "", "X" * 100_000, "GET\r\n"])
async def test_a_method_that_an_address_does_not_have_fails_in_its_place(shop: Shop, method: str) -> None:
    _, failed, read = await batch(shop, post(), {**get("stock"), "method": method}, get("sales-orders/1"))
    assert (failed["status"], failed["body"]["code"], failed["headers"]["Allow"]) == (
        405,
        "METHOD_NOT_ALLOWED",
        "GET",
    )
    assert read["status"] == 200


async def test_a_method_that_only_looks_like_another_is_not_that(shop: Shop) -> None:
    (slot,) = await batch(shop, {**post(), "method": "po\u017ft"})
    assert slot["status"] == 405
    assert (await shop.world.call("GET", "/api/v2/sales-orders")).body["data"] == []


async def test_what_is_counted_by_address_does_not_hide_what_is_left_of_the_company(shop: Shop) -> None:
    answer = await shop.world.send("POST", PATH, {"requests": [get("stock"), get("meta")]})
    assert [slot["status"] for slot in answer.body["responses"]] == [200, 200]
    after = await shop.world.send("GET", "/api/v2/stock")
    assert int(after.headers["X-RateLimit-Remaining"]) == int(answer.headers["X-RateLimit-Remaining"]) - 1


@pytest.mark.parametrize("count", [1, 5])
async def test_the_limit_that_an_answer_shows_is_what_the_next_request_finds(shop: Shop, count: int) -> None:
    requests = [get("stock")] * count + [{"method": "GET", "path": "/api/v2/none"}]
    answer = await shop.world.send("POST", PATH, {"requests": requests})
    after = await shop.world.send("GET", "/api/v2/stock")
    assert int(after.headers["X-RateLimit-Remaining"]) == int(answer.headers["X-RateLimit-Remaining"]) - 1


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, {"requests": ["is required"]}),
        ({"requests": []}, {"requests": ["must have at least 1 item"]}),
        ({"requests": [get("stock")] * 51}, {"requests": ["must have at most 50 items"]}),
        ({"requests": {}}, {"requests": ["must be an array"]}),
        ({"requests": [5]}, {"requests.0": ["must be an object"]}),
        ({"requests": [{}]}, {"requests.0.method": ["is required"], "requests.0.path": ["is required"]}),
        ({"requests": [{"method": 5, "path": 5}]}, {part: ["must be a string"] for part in PARTS}),
        (
            {"requests": [{**get("stock"), "headers": {"Authorization": "x"}}]},
            {"requests.0.headers": ["can contain only the header Idempotency-Key, not Authorization"]},
        ),
        (
            {"requests": [{**get("stock"), "headers": {"Idempotency-Key": "a", "idempotency-key": "b"}}]},
            {"requests.0.headers": ["can contain only the header Idempotency-Key, and only once"]},
        ),
        (
            {"requests": [{**get("stock"), "company": 2}]},
            {"requests.0.company": ["is an unknown field"]},
        ),
    ],
)
async def test_a_batch_that_is_none_runs_nothing(shop: Shop, body: Any, errors: Any) -> None:
    assert (await shop.world.call("POST", PATH, body, status=422)).errors == errors


async def raw(shop: Shop, text: str) -> Answer:
    return await shop.world.send("POST", PATH, raw=text.encode())


async def test_what_is_wrong_inside_a_body_fails_that_request_alone(shop: Shop) -> None:
    sub = '{"method": "POST", "path": "/api/v2/sales-orders", "body": %s}'
    good = sub % json.dumps(ORDER)
    twice = sub % (json.dumps(ORDER)[:-1] + ', "notes": "a", "notes": "b"}')
    not_a_number = sub % json.dumps(ORDER).replace(": 3", ": NaN")
    answer = await raw(shop, f'{{"requests": [{twice}, {good}, {not_a_number}, {sub % "[]"}, {sub % "null"}]}}')
    assert statuses(answer.body["responses"]) == [422, 201, 422, 400, 400]
    assert answer.body["responses"][0]["body"]["errors"] == {"notes": ["is given twice"]}
    assert answer.body["responses"][2]["body"]["errors"] == {"lines.0.quantity": ["must be a number, not NaN"]}
    outside = await raw(shop, f'{{"requests": [{good}], "requests": [{good}]}}')
    assert (outside.status, outside.errors) == (422, {"requests": ["is given twice"]})


async def test_a_batch_is_at_most_4_mebibytes_and_a_body_in_it_1(shop: Shop) -> None:
    large = post({**ORDER, "notes": "x" * 1024 * 1024})
    assert statuses(await batch(shop, large, post())) == [413, 201]
    answer = await shop.world.call("POST", PATH, {"requests": [large] * 4}, status=413)
    assert answer.body["message"] == "The request body is over 4096 KiB."


async def test_a_batch_of_50_orders_reserves_each(shop: Shop) -> None:
    line = {"article_id": 1, "quantity": 0.5}
    responses = await batch(shop, *[post({**ORDER, "lines": [line]})] * 50)
    assert statuses(responses) == [201] * 40 + [422] * 10
    assert [response["body"]["code"] for response in responses[:40]] == [
        f"SO-{number:06d}" for number in range(1, 41)
    ]
    assert await shop.stock() == (20, 20, 0)
