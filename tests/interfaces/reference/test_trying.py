"""The try-out: as the signed-in user, and with a token exactly like the API."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.interfaces.pages.work.test_live import again
from tests.interfaces.reference.trying import BODY, CREATE, LIST, OF_THE_SERVER, answered, codes, send
from tests.support.log_lines import Kept, keeping
from tests.support.shop import Shop, open_shop
from tests.support.world import open_world
from wmsd.contract.operation import Operation
from wmsd.dispatch.call import Call
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2
from wmsd.tenants.accounts.actions import get_user, revoke_token
from wmsd.tenants.accounts.sessions import MOST_OF_A_USER


class TestAsThePerson:
    async def test_a_record_is_made_and_the_event_happens(self, visitor: Visitor) -> None:
        before = await visitor.world.last_event()
        seen = await send(visitor, CREATE, body=json.dumps(BODY))
        status, headers, body = answered(seen)
        assert (status, body["code"], headers["Location"]) == (201, "NEW", f"/api/articles/{body['id']}")
        assert "NEW" in await codes(visitor.world)
        assert [name for name, _ in await visitor.world.events_after(before)] == ["article.created"]
        assert re.search(r"\d+\.\d ms", seen.text)

    async def test_it_needs_no_module_for_programs(self, visitor: Visitor) -> None:
        await visitor.world.set_module("ACME", "api", False)
        assert answered(await send(visitor, LIST))[0] == 200

    @pytest.mark.parametrize(
        ("path", "operation"),
        [
            (LIST, {}),
            (CREATE, {"body": json.dumps(BODY)}),
            (
                "/try/v2/run_batch",
                {"body": json.dumps({"requests": [{"method": "GET", "path": "/api/v2/articles"}]})},
            ),
        ],
        ids=["reading", "writing", "a batch"],
    )
    async def test_twenty_sessions_of_a_person_have_the_limit_of_the_company_as_a_token_has(
        self, tmp_path: Path, path: str, operation: dict[str, str]
    ) -> None:
        async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 5}}) as world:
            await open_shop(world)
            first = await signed_in(world)
            browsers = [first, *[await again(first) for _ in range(MOST_OF_A_USER - 1)]]
            assert (await world.send("GET", "/api/articles")).headers["X-RateLimit-Remaining"] == "4"
            seen = [await send(each, path, **operation) for each in browsers]
            found = [answered(each) for each in seen]
            assert [status == 429 for status, _, _ in found] == [False] * 4 + [True] * 16
            assert {each.status for each in seen} == {200}, "the page shows it"
            _, headers, body = found[-1]
            as_token = await world.send("GET", "/api/articles")
            assert (as_token.status, body) == (429, as_token.body)
            for name in ("Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining"):
                assert headers[name.title()] == as_token.headers[name]
            assert (await first.get("/today")).status == 200
            world.clock.advance(60)
            assert answered(await send(first, path, **operation))[0] != 429

    async def test_a_batch_counts_each_of_its_requests(self, tmp_path: Path) -> None:
        async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 5}}) as world:
            await open_shop(world)
            visitor = await signed_in(world)
            order = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": 1}]}
            new = {"method": "POST", "path": "/api/v2/sales-orders", "body": order}
            batch = json.dumps({"requests": [new] * 7})
            _, _, body = answered(await send(visitor, "/try/v2/run_batch", body=batch))
            assert [each["status"] for each in body["responses"]] == [201] * 5 + [429] * 2

    async def test_the_abilities_of_the_person_decide(self, shop: Shop) -> None:
        visitor = await signed_in(shop.world, "ACME", abilities=["articles:read"])
        assert answered(await send(visitor, LIST))[0] == 200
        shown = await visitor.get(f"{CREATE}?company=1")
        assert "Your rights or the modules of Company ACME do not allow this request." in shown.text
        status, _, body = answered(await send(visitor, CREATE, body=json.dumps(BODY)))
        assert (status, body["code"]) == (403, "FORBIDDEN")
        assert "NEW" not in await codes(shop.world)

    async def test_what_is_about_a_token_wants_one(self, visitor: Visitor) -> None:
        for path in ("/try/v1/get_user", "/try/v1/revoke_token"):
            refused = await send(visitor, path, company="")
            assert (refused.status, "Token is required." in refused.text) == (422, True)
        status, _, body = answered(await send(visitor, "/try/v1/get_user", company="", token=visitor.world.token))
        assert (status, body["email"]) == (200, "admin@example.com")

    @pytest.mark.parametrize(
        "route", [each for each in (*V1, *V2) if each.method == "GET"], ids=lambda each: each.path
    )
    async def test_every_reading_operation_is_answered(self, visitor: Visitor, route: Any) -> None:
        version = "v2" if route.path.startswith("/api/v2/") else "v1"
        token = visitor.world.token if route.operation.about_token else ""
        path = f"/try/{version}/{route.operation.name}"
        status, _, _ = answered(await send(visitor, path, path__id="1", token=token, **{"as": "me"}))
        assert status == 200 or (status == 404 and "{" in route.path)

    @pytest.mark.parametrize("operation", [get_user, revoke_token], ids=lambda each: each.name)
    async def test_the_door_refuses_a_session_what_is_about_a_token(
        self, visitor: Visitor, operation: Operation
    ) -> None:
        call = Call(operation, "POST", "/", "127.0.0.1", "r", session=visitor.secret)
        reply = await visitor.world.installation.dispatcher.dispatch(call)
        assert (reply.status, json.loads(reply.body)["code"]) == (403, "FORBIDDEN")
        assert (await visitor.world.send("GET", "/api/user")).status == 200, "no token was revoked"

    async def test_each_request_of_a_batch_is_the_persons(self, shop: Shop) -> None:
        visitor = await signed_in(shop.world, "ACME", abilities=["articles:read"])
        requests = [{"method": "GET", "path": f"/api/v2/{path}"} for path in ("articles", "stock", "webhooks")]
        _, _, body = answered(await send(visitor, "/try/v2/run_batch", body=json.dumps({"requests": requests})))
        assert [each["status"] for each in body["responses"]] == [200, 403, 403]

    async def test_a_batch(self, visitor: Visitor) -> None:
        requests = [{"method": "GET", "path": "/api/v2/articles"}, {"method": "GET", "path": "/api/v2/nothing"}]
        seen = await send(visitor, "/try/v2/run_batch", body=json.dumps({"requests": requests}))
        status, _, body = answered(seen)
        assert (status, [each["status"] for each in body["responses"]]) == (200, [200, 404])


class TestWithAToken:
    @pytest.mark.parametrize(
        ("path", "method", "address", "fields", "body"),
        [
            (LIST, "GET", "/api/articles?per_page=1", {"query__per_page": "1"}, None),
            (LIST, "GET", "/api/articles?per_page=x", {"query__per_page": "x"}, None),
            ("/try/v1/get_article", "GET", "/api/articles/1", {"path__id": "1"}, None),
            ("/try/v1/get_article", "GET", "/api/articles/99", {"path__id": "99"}, None),
            ("/try/v1/get_article", "GET", "/api/articles/%2E%2E%2F", {"path__id": "../"}, None),
            (CREATE, "POST", "/api/articles", {"body": "{"}, b"{"),
            (CREATE, "POST", "/api/articles", {"body": '{"x": 1e999}'}, b'{"x": 1e999}'),
            (CREATE, "POST", "/api/articles", {"body": ""}, b""),
            (
                CREATE,
                "POST",
                "/api/articles",
                {"body": '{"code": "A", "name": "x"}'},
                b'{"code": "A", "name": "x"}',
            ),
        ],
    )
    async def test_it_is_answered_as_by_the_api(
        self, visitor: Visitor, path: str, method: str, address: str, fields: dict[str, str], body: bytes | None
    ) -> None:
        world = visitor.world
        direct = await world.send(method, address, raw=body)
        tried = await send(visitor, path, **{**fields, "as": "token", "token": world.token})
        status, headers, shown = answered(tried)
        assert (status, shown) == (direct.status, direct.body)
        expected = {name.title(): value for name, value in direct.headers.items()}
        without = {name.title() for name in OF_THE_SERVER}
        assert headers.keys() - without == expected.keys() - without
        for name in ("Etag", "Link", "Location", "Content-Type"):
            assert headers.get(name) == expected.get(name), name

    async def test_the_limit_of_the_company_counts_it(self, tmp_path: Path) -> None:
        async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 2}}) as world:
            await open_shop(world)
            visitor = await signed_in(world)
            found = [
                answered(await send(visitor, LIST, **{"as": "token", "token": world.token}))[0] for _ in range(3)
            ]
            assert found == [200, 200, 429]
            assert (await world.send("GET", "/api/articles")).status == 429

    @pytest.mark.parametrize("token", ["wrong", "a.b.c", "ţoken", "x" * 7000])
    async def test_a_wrong_token_is_refused_as_by_the_api(self, visitor: Visitor, token: str) -> None:
        status, headers, body = answered(await send(visitor, LIST, **{"as": "token", "token": token}))
        assert (status, body["code"], headers["Www-Authenticate"]) == (401, "UNAUTHORIZED", "Bearer")

    async def test_a_token_may_be_typed_as_a_header_has_it(self, visitor: Visitor) -> None:
        token = f"Bearer {visitor.world.token}"
        assert answered(await send(visitor, LIST, **{"as": "token", "token": token}))[0] == 200

    async def test_the_person_is_not_asked_what_the_token_may(self, visitor: Visitor) -> None:
        """The platform admin uses a token that may only read."""
        token = await visitor.world.new_token("ana@example.com", ["articles:read"])
        status, _, body = answered(
            await send(visitor, CREATE, body=json.dumps(BODY), **{"as": "token", "token": token})
        )
        assert (status, body["message"]) == (403, "This token lacks the ability articles:write.")

    async def test_requests_and_the_log_have_it_and_nothing_has_the_token(self, visitor: Visitor) -> None:
        world = visitor.world
        with keeping() as logged:
            seen = await send(visitor, CREATE, body="{}", **{"as": "token", "token": world.token})
        link = re.search(r'<a href="(/companies/1/requests/(\w+))">\2</a>', seen.text)
        assert link
        kept = await visitor.get(link[1])
        assert (kept.status, "POST" in kept.heading, "create_article" in kept.text) == (200, True, True)
        assert "One field is not valid" in kept.text or "fields are not valid" in kept.text
        assert [each["status"] for each in told_of(logged, link[2])] == [422]
        for text in (seen.text, kept.text, str(logged.objects)):
            assert world.token not in text
        assert '"Authorization: Bearer $TOKEN"' in html.unescape(seen.text)

    async def test_where_nothing_is_kept_there_is_no_link(self, tmp_path: Path) -> None:
        async with open_world(tmp_path / "data", {"requests": {"keep": False}}) as world:
            visitor = await signed_in(world)
            assert "/requests/" not in (await send(visitor, LIST, **{"as": "token", "token": world.token})).text

    async def test_without_a_token_there_is_no_link(self, visitor: Visitor) -> None:
        assert "/requests/" not in (await send(visitor, LIST)).text


def told_of(logged: Kept, request_id: str) -> list[dict[str, Any]]:
    """Return the log lines of the request with this id."""
    return [line for line in logged.objects if line.get("request_id") == request_id]
