"""Requests on the pages: who sees them, their filters, and their text about a refusal."""

import html
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from tests.interfaces.pages.records.test_browse import SCRIPT, links, rows, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.request_history.keeping import id_of
from tests.support.shop import Shop, open_shop
from tests.support.world import PASSWORD, Answer, World, open_world
from wmsd.base.problems import STATUS_OF_CODE
from wmsd.request_history import refusal_remedies

LIST = "/companies/1/requests"


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    """Sign in a platform admin at a shop."""
    return await signed_in(shop.world)


async def shown(visitor: Visitor, answer: Answer) -> str:
    """Return the text of the page about the request with this reply."""
    seen = await visitor.get(f"{LIST}/{id_of(answer)}")
    assert seen.status == 200, seen.text
    return text_of(seen.text[seen.text.index("<main") :])


def listed(seen: Seen) -> list[tuple[str, str]]:
    """Return each request with its status, without the reason of a refusal."""
    return [(" ".join(cells[2].split()[:2]), cells[1]) for cells in rows(seen)]


async def test_the_last_requests_are_listed_the_newest_first(visitor: Visitor) -> None:
    await visitor.world.send("GET", "/api/articles?per_page=1")
    await visitor.world.send("POST", "/api/articles", {"code": "N"})
    seen = await visitor.get(LIST)
    assert listed(seen)[:2] == [("POST /api/articles", "422"), ("GET /api/articles?per_page=1", "200")]
    assert rows(seen)[0][2].endswith(" VALIDATION_FAILED One field is not valid: name is required.")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=refused", ["404", "200", "422"]),
        ("status=4xx", ["404", "422"]),
        ("status=2xx", ["200", "200"]),
        ("code=NOT_FOUND", ["404", "200"]),
        ("operation=create_article", ["422"]),
        ("operation=create_article&status=2xx", []),
        ("token=1", ["404", "200", "422", "200"]),
        ("token=99", []),
    ],
)
async def test_filters(tmp_path: Path, query: str, found: list[str]) -> None:
    async with open_world(tmp_path / "data") as world:
        visitor = await signed_in(world)
        await world.send("GET", "/api/articles")
        await world.send("POST", "/api/articles", {"code": "N"})
        await world.send("POST", "/api/v2/batch", {"requests": [{"method": "GET", "path": "/api/v2/articles/9"}]})
        await world.send("GET", "/api/articles/9")
        assert [status for _, status in listed(await visitor.get(f"{LIST}?{query}"))] == found


async def test_a_filter_that_is_wrong_says_so(visitor: Visitor) -> None:
    seen = await visitor.get(f"{LIST}?token=mine")
    assert (seen.status, "must be a whole number" in seen.text) == (422, True)


async def test_a_long_list_has_pages(visitor: Visitor) -> None:
    for number in range(70):
        await visitor.world.send("GET", f"/api/articles/{900 + number}")
    first = await visitor.get(f"{LIST}?status=4xx")
    (after,) = links(first, "next")
    second = await visitor.get(after)
    found = [path for path, _ in listed(first) + listed(second)]
    assert found == [f"GET /api/articles/{900 + number}" for number in reversed(range(70))]
    assert links(second, "next") == []


async def test_an_id_that_is_typed_leads_to_its_request(visitor: Visitor) -> None:
    answer = await visitor.world.send("GET", "/api/articles/9")
    seen = await visitor.get(f"{LIST}?request_id=+{id_of(answer)}+")
    assert (seen.status, seen.goes_to) == (303, f"{LIST}/{id_of(answer)}")
    lost = await visitor.get(f"{LIST}?request_id=%3Cscript%3E")
    assert (lost.status, "wmsd does not store requests with a wrong token" in text_of(lost.text)) == (404, True)
    assert "<script>" not in lost.text
    assert (await visitor.get(f"{LIST}/nothing")).status == 404


async def test_a_request_shows_head_body_answer_and_how_to_repeat_it(visitor: Visitor) -> None:
    secret = "0123456789abcdef-secret"
    answer = await visitor.world.send(
        "POST", "/api/v2/webhooks", {"name": "Shop", "secret": secret}, headers={"X-Other": "hidden"}
    )
    text = await shown(visitor, answer)
    for part in (
        *('"name": "Shop"', '"secret": "***"', "X-Company-Id 1", "Content-Type application/json"),
        *('"code": "VALIDATION_FAILED"', 'Bearer $TOKEN"', "curl -X POST http://127.0.0.1", "create_webhook"),
        *(id_of(answer), "admin@example.com (test)", "Replace each *** with the secret."),
    ):
        assert part in text
    for hidden in (secret, "hidden", visitor.world.token):
        assert hidden not in text


@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_body_that_was_not_read_is_told_of(visitor: Visitor, is_chunked: bool) -> None:
    """The ability is checked before the body is read."""
    world = visitor.world
    token = await world.new_token("admin@example.com", ["articles:read"])
    raw = b'{"code":"q"}'
    if is_chunked:
        answer = await _sent_in_chunks(world, "/api/articles", raw, token)
    else:
        answer = await world.send("POST", "/api/articles", raw=raw, token=token)
    assert answer.status == 403
    text = await shown(visitor, answer)
    size = "The request had a body." if is_chunked else "The request had a body of 12 bytes."
    assert f"{size} wmsd answered without reading the body" in text
    assert "No body. Answer received" not in text
    assert "--data @body.json" in text
    assert "the whole body into the file body.json." in text


async def _sent_in_chunks(world: World, path: str, raw: bytes, token: str) -> Answer:
    async def parts() -> AsyncIterator[bytes]:
        yield raw

    headers = {"Authorization": f"Bearer {token}", "X-Company-Id": str(world.company)}
    headers["Content-Type"] = "application/json"
    async with (
        ClientSession() as session,
        session.post(world.base_url + path, data=parts(), headers=headers) as got,
    ):
        return Answer(got.status, got.headers, await got.read())


async def test_nothing_that_was_sent_becomes_markup(visitor: Visitor) -> None:
    answer = await visitor.world.send(
        "POST", "/api/articles?%22%3E", {"code": SCRIPT, SCRIPT: SCRIPT}, headers={"User-Agent": SCRIPT}
    )
    for path in (LIST, f"{LIST}/{id_of(answer)}"):
        assert SCRIPT not in (await visitor.get(path)).text


async def test_a_batch_lists_its_requests(visitor: Visitor) -> None:
    requests = [{"method": "GET", "path": f"/api/v2/articles/{number}"} for number in (1, 99)]
    answer = await visitor.world.send("POST", "/api/v2/batch", {"requests": requests})
    text = await shown(visitor, answer)
    assert "Which part was refused?" in text
    assert "404 GET /api/v2/articles/99" in text


class TestWhyAndWhatToDo:
    async def test_an_ability(self, visitor: Visitor) -> None:
        world = visitor.world
        await world.new_user("shop@example.com", "member", ["ACME"], ["articles:read", "stock:read"])
        await world.new_user("lead@example.com", "company-admin", ["ACME"])
        await world.new_user("else@example.com", "member", [], ["stock:read"])
        token = await world.new_token("shop@example.com", ["articles:read"])
        answer = await world.send("GET", "/api/stock", token=token)
        text = await shown(visitor, answer)
        assert (
            "Why was this request refused? The token lacks the ability stock:read, which this operation needs."
            in text
        )
        assert "shop@example.com has this ability, but the token does not." in text
        assert "shop@example.com or an admin can create a new token on the page Tokens." in text
        assert "No token of this company has this ability." in text
        await world.new_token("lead@example.com")
        assert "These tokens have the ability: test (lead@example.com, 3)." in await shown(visitor, answer)
        beyond = await world.send("GET", "/api/partners", token=token)
        text = await shown(visitor, beyond)
        assert "shop@example.com does not have this ability either" in text
        assert "Ask lead@example.com." in text

    async def test_a_module(self, visitor: Visitor) -> None:
        await visitor.world.set_module("ACME", "stock", False)
        answer = await visitor.world.send("GET", "/api/stock")
        assert "run wmsd module enable ACME stock, or use the page Companies." in await shown(visitor, answer)
        await visitor.world.set_module("ACME", "stock", True)
        assert "The module stock is on now: send the request again." in await shown(visitor, answer)

    async def test_the_limit(self, tmp_path: Path) -> None:
        async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 1}}) as world:
            visitor = await signed_in(world)
            await world.send("GET", "/api/articles")
            answer = await world.send("GET", "/api/articles")
            text = await shown(visitor, answer)
            assert (
                "The limit of 1 requests a minute was reached; the next request was possible 60 s later."
            ) in text
            assert "wmsd company change ACME --requests-per-minute N, or use the page Companies." in text

    async def test_a_status(self, visitor: Visitor, shop: Shop) -> None:
        order = await shop.order(status="LIVRAT")
        moved = await visitor.world.send("PATCH", f"/api/v2/sales-orders/{order.id}/status", {"status": "CREAT"})
        text = await shown(visitor, moved)
        assert "The status was LIVRAT, and the request asked for CREAT; no change of status is possible." in text
        assert "request a change that its current status allows" in text

    async def test_stock_that_is_not_there(self, visitor: Visitor, shop: Shop) -> None:
        line = {"article_id": 1, "quantity": 10_000}
        body = {"partner_id": 1, "warehouse_id": 1, "lines": [line]}
        text = await shown(visitor, await visitor.world.send("POST", "/api/v2/sales-orders", body))
        assert "INSUFFICIENT_STOCK" in text
        assert "lines.0.quantity" in text
        assert "wait for a goods receipt" in text

    async def test_a_version_that_is_gone(self, visitor: Visitor) -> None:
        answer = await visitor.world.send("PATCH", "/api/articles/1", {"name": "x"}, headers={"If-Match": '"old"'})
        text = await shown(visitor, answer)
        assert "The record was changed after it was read" in text
        assert "send the new ETag as If-Match" in text

    async def test_a_key_that_was_used(self, visitor: Visitor) -> None:
        key = {"Idempotency-Key": "once"}
        made = await visitor.world.send("POST", "/api/articles", {"code": "N1", "name": "n"}, headers=key)
        answer = await visitor.world.send("POST", "/api/articles", {"code": "N2", "name": "n"}, headers=key)
        text = await shown(visitor, answer)
        assert f"The first request created the record {made.id}." in text
        assert f"Read the record {made.id} first." in text

    @pytest.mark.parametrize(
        ("raw", "headers", "remedy"),
        [
            (b"{", {}, "Send one JSON object in UTF-8 as the body."),
            (b"{}", {"Content-Type": "text/plain"}, "uncompressed, with Content-Type: application/json."),
            (b'{"a": "' + b"x" * 1024 * 1024 + b'"}', {}, "Split the data into several requests"),
        ],
    )
    async def test_a_body_that_cannot_be_read(
        self, visitor: Visitor, raw: bytes, headers: dict[str, str], remedy: str
    ) -> None:
        answer = await visitor.world.send("POST", "/api/articles", raw=raw, headers=headers)
        assert remedy in await shown(visitor, answer)

    async def test_a_document_that_does_not_fit_the_schema(self, visitor: Visitor) -> None:
        for headers in ({"Accept": "application/graphql-response+json"}, {"Accept": "application/json"}):
            sent = {"query": "{ articles(first: 1) { nodes { nam } } }"}
            answer = await visitor.world.send("POST", "/api/graphql", sent, headers=headers)
            text = await shown(visitor, answer)
            assert "Cannot query field 'nam'" in text
            assert "/docs/api/graphql lists each type with its fields and arguments." in text
            assert "Send one JSON object" not in text
        broken = await visitor.world.send("POST", "/api/graphql", raw=b'{"query": ')
        assert "Send one JSON object in UTF-8 as the body." in await shown(visitor, broken)

    def test_every_code_has_a_remedy(self) -> None:
        assert set(refusal_remedies.BY_CODE) == set(STATUS_OF_CODE)


async def test_members_see_the_requests_of_their_own_tokens_only(world: World) -> None:
    await open_shop(world)
    visitor = await signed_in(world, "ACME", abilities=["articles:read"])
    own = await world.new_token("ana@example.com", ["articles:read"])
    other = await world.send("GET", "/api/articles")
    lacking = await world.send("GET", "/api/stock", token=own)
    assert listed(await visitor.get(LIST)) == [("GET /api/stock", "403")]
    assert (await visitor.get(f"{LIST}/{id_of(other)}")).status == 404
    assert (await visitor.get(f"{LIST}?request_id={id_of(other)}")).status == 404
    text = await shown(visitor, lacking)
    assert "The token lacks the ability stock:read" in text
    assert "These tokens have the ability" not in text


async def test_admins_of_a_company_see_all_of_it_and_nothing_of_others(world: World) -> None:
    other = await world.new_company("OTHER")
    await world.new_user("lead@example.com", "company-admin", ["ACME"])
    visitor = Visitor(world)
    await visitor.sign_in("lead@example.com", PASSWORD)
    await world.send("GET", "/api/articles")
    foreign = await world.send("GET", "/api/stock", company=other)
    assert [path for path, _ in listed(await visitor.get(LIST))] == ["GET /api/articles"]
    assert (await visitor.get(f"{LIST}/{id_of(foreign)}")).status == 404
    assert (await visitor.get(f"/companies/{other}/requests")).status == 404
    assert (await visitor.get(f"/companies/{other}/requests/{id_of(foreign)}")).status == 404


async def test_only_people_who_are_signed_in_see_any(world: World) -> None:
    seen = await Visitor(world).get(LIST)
    assert (seen.status, seen.goes_to) == (303, "/sign-in?next=/companies/1/requests")


async def test_the_page_says_when_nothing_is_kept(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"requests": {"keep": False}}
    async with open_world(tmp_path / "data", settings) as world:
        visitor = await signed_in(world)
        answer = await world.send("GET", "/api/articles/9")
        for path in (LIST, f"{LIST}?request_id={id_of(answer)}"):
            seen = await visitor.get(path)
            assert (seen.status, "This installation does not store requests" in seen.text) == (403, True)


async def test_the_rail_leads_there(visitor: Visitor) -> None:
    seen = await visitor.get("/companies/1/articles")
    found = re.search(r'<a href="(/companies/1/requests)" data-key="q">(.*?)</a>', html.unescape(seen.text))
    assert found and found[2] == "Requests"
