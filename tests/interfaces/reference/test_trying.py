"""The try-out: as the signed-in user, and with a token exactly like the API."""

import asyncio
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.interfaces.pages.work.test_live import again
from tests.support.log_lines import Kept, keeping
from tests.support.shop import Shop, open_shop
from tests.support.world import World, open_world
from wmsd.contract.operation import Operation
from wmsd.dispatch.call import Call
from wmsd.interfaces.reference import try_out_page
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2
from wmsd.tenants.accounts.actions import get_user, revoke_token
from wmsd.tenants.accounts.sessions import MOST_OF_A_USER

CREATE = "/try/v1/create_article"
LIST = "/try/v1/list_articles"
BODY = {"code": "NEW", "name": "New"}
OF_THE_SERVER = {
    *("Date", "Server", "Content-Length", "Vary", "X-Content-Type-Options", "X-Request-Id", "Cache-Control"),
    *("Content-Encoding", "X-Ratelimit-Remaining", "Ratelimit"),
}
"""The headers that HTTP adds, and the headers with counters."""


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    """Sign in a platform admin at a shop."""
    return await signed_in(shop.world)


def typed_in(seen: Seen) -> dict[str, str]:
    """Return the values in the form of the page."""
    form = seen.text[seen.text.rindex('method="post" action="/try/') :]
    inputs = re.findall(r'<input[^>]*? name="([^"]+)"[^>]*? value="([^"]*)"', form)
    areas = re.findall(r'<textarea[^>]*? name="([^"]+)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL)
    typed = {name: html.unescape(value) for name, value in (*reversed(inputs), *areas)}
    return {**typed, "as": "me"}


async def send(visitor: Visitor, path: str, company: int | str = 1, **fields: str) -> Seen:
    """Open the form and send it, with these fields instead of the initial values."""
    shown = await visitor.get(f"{path}?company={company}" if company else path)
    assert shown.status == 200, shown.text
    named = {name.replace("__", "-"): value for name, value in fields.items()}
    return await visitor.post(path, {**typed_in(shown), **named})


def answered(seen: Seen) -> tuple[int, dict[str, str], Any]:
    """Return the displayed status, headers and body."""
    status = re.search(r'<h2 id="answer"><span class="\w+">(\d+)</span>', seen.text)
    assert status, text_of(seen.text)
    shown = seen.text[status.start() : seen.text.index("The same with curl")]
    headers = {name.title(): text_of(value) for name, value in re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", shown)}
    body = re.search(r'id="answer-body">(.*?)</code>', shown, re.DOTALL)
    is_whole = body is not None and "Only the beginning of the answer is shown." not in shown
    return int(status[1]), headers, json.loads(html.unescape(body[1])) if body and is_whole else None


async def codes(world: World) -> list[str]:
    return [each["code"] for each in (await world.send("GET", "/api/articles")).body["data"]]


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


class TestTheForm:
    async def test_strangers_are_led_to_sign_in_and_come_back(self, world: World) -> None:
        for path in (CREATE, "/try/graphql"):
            seen = await Visitor(world).get(path)
            assert (seen.status, seen.goes_to) == (303, f"/sign-in?next={path}")
            assert (await Visitor(world).post(path, {"body": "{}"})).status == 303

    @pytest.mark.parametrize(
        ("fields", "site"), [({"form_token": "x"}, "same-origin"), ({}, "cross-site"), ({}, "")]
    )
    async def test_no_other_site_sends_it(self, visitor: Visitor, fields: dict[str, str], site: str) -> None:
        shown = await visitor.get(f"{CREATE}?company=1")
        typed = {**typed_in(shown), "body": json.dumps(BODY), **fields}
        assert (await visitor.post(CREATE, typed, site=site)).status == 403
        assert "NEW" not in await codes(visitor.world)

    async def test_sent_twice_it_is_done_once(self, visitor: Visitor) -> None:
        shown = await visitor.get(f"{CREATE}?company=1")
        typed = {**typed_in(shown), "body": json.dumps(BODY)}
        found = await asyncio.gather(*(visitor.post(CREATE, typed) for _ in range(4)))
        assert {answered(each)[0] for each in found} == {201}
        assert len({answered(each)[2]["id"] for each in found}) == 1
        assert (await codes(visitor.world)).count("NEW") == 1

    async def test_what_has_no_key_is_not_done_twice_either(self, visitor: Visitor) -> None:
        body = {"name": "W", "url": "https://hooks.example.com/a", "events": ["*"], "secret": "0123456789abcdef"}
        made = await visitor.world.send("POST", "/api/v2/webhooks", body)
        path = "/try/v2/delete_webhook"
        typed = {**typed_in(await visitor.get(f"{path}?company=1")), "path-id": str(made.id)}
        assert answered(await visitor.post(path, typed))[0] == 204
        assert (await visitor.post(path, typed)).status == 409

    async def test_a_sign_in_that_is_tried_shows_no_password_again(self, visitor: Visitor) -> None:
        password = "correct horse battery"
        body = {"email": "admin@example.com", "password": password, "abilities": ["stock:read"]}
        seen = await send(visitor, "/try/v1/issue_token", company="", body=json.dumps(body))
        assert answered(seen)[0] == 200
        assert password not in html.unescape(seen.text)
        assert '"password": "***"' in html.unescape(seen.text)

    async def test_writes_warn_unless_the_company_is_a_sandbox(self, visitor: Visitor) -> None:
        warned = "This changes real data of Company ACME."
        assert warned in (await visitor.get(f"{CREATE}?company=1")).text
        assert "real data" not in (await visitor.get(f"{LIST}?company=1")).text
        await visitor.world.new_operator("OP", sandbox=True)
        sandbox = await visitor.world.new_company("BOX", operator="OP")
        shown = await visitor.get(f"{CREATE}?company={sandbox}")
        assert ("real data of" in shown.text, "Company BOX is a sandbox" in shown.text) == (False, True)

    async def test_an_address_fills_the_form(self, visitor: Visitor) -> None:
        shown = await visitor.get("/try/v1/get_article?company=1&id=2")
        assert typed_in(shown)["path-id"] == "2"
        record = await visitor.get("/companies/1/articles/2")
        assert 'href="/try/v1/get_article?company=1&amp;id=2"' in record.text

    @pytest.mark.parametrize("operation", ["get_sales_order", "update_sales_order", "delete_webhook"])
    async def test_no_record_is_named_where_nobody_has_named_one(self, visitor: Visitor, operation: str) -> None:
        assert typed_in(await visitor.get(f"/try/v1/{operation}?company=1"))["path-id"] == ""

    async def test_a_write_names_no_record_by_itself(self, visitor: Visitor, shop: Shop) -> None:
        """A single press of Send once moved a real order."""
        order = await shop.order()
        seen = await visitor.get(f"/try/v1/update_sales_order?company=1&id={order.body['id']}")
        assert typed_in(seen)["path-id"] == ""
        assert (await visitor.post("/try/v1/update_sales_order", typed_in(seen))).status == 422
        made = json.loads(typed_in(await visitor.get("/try/v1/create_sales_order?company=1"))["body"])
        assert (made["partner_id"], made["warehouse_id"]) == (None, None)

    async def test_what_is_wrong_is_named_and_what_was_typed_stays(self, visitor: Visitor) -> None:
        path = "/try/v1/update_article"
        seen = await send(visitor, path, path__id="", body='{"name": "kept"}', **{"header__If-Match": "a\tb"})
        assert (seen.status, "id is required." in seen.text) == (422, True)
        assert re.search(r'id="path-id"[^>]* autofocus aria-invalid="true"', seen.text)
        assert '{"name": "kept"}' in html.unescape(seen.text)
        assert 'id="answer"' not in seen.text, "nothing was sent"

    @pytest.mark.parametrize("company", ["99", "x", "-1", "0", "1 OR 1", "<b>", "9" * 30])
    async def test_another_company_is_as_one_that_never_existed(self, visitor: Visitor, company: str) -> None:
        for seen in (
            await visitor.get(f"{CREATE}?company={company}"),
            await visitor.post(CREATE, {**typed_in(await visitor.get(f"{CREATE}?company=1")), "company": company}),
        ):
            assert seen.status == 404

    async def test_a_company_that_the_person_may_not_use(self, shop: Shop) -> None:
        other = await shop.world.new_company("OTHER")
        visitor = await signed_in(shop.world, "ACME", abilities=["articles:read"])
        assert (await visitor.get(f"{LIST}?company={other}")).status == 404
        typed = {**typed_in(await visitor.get(f"{LIST}?company=1")), "company": str(other)}
        assert (await visitor.post(LIST, typed)).status == 404
        assert "OTHER" not in (await visitor.get(LIST)).text

    async def test_of_very_many_companies_the_number_is_typed(
        self, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(try_out_page, "MOST_COMPANIES", 0)
        shown = await visitor.get(f"{LIST}?company=1")
        assert re.search(r'<input id="company" name="company" inputmode="numeric" value="1"', shown.text)
        assert answered(await send(visitor, LIST))[0] == 200

    async def test_too_much_is_refused(self, visitor: Visitor) -> None:
        shown = await visitor.get(f"{CREATE}?company=1")
        over = await visitor.post(CREATE, {**typed_in(shown), "body": "x" * 70_000})
        assert (over.status, "Body is over 64 kB." in over.text) == (422, True)
        assert (await visitor.post(CREATE, {**typed_in(shown), "body": "x" * 300_000})).status == 413
        many = {**typed_in(shown), **{f"field-{number}": "" for number in range(300)}}
        assert (await visitor.post(CREATE, many)).status == 400

    async def test_a_long_answer_is_cut_and_stays_light(self, visitor: Visitor) -> None:
        for number in range(120):
            text = f'"quoted" <b>&{number}' * 20
            await visitor.world.send(
                "POST", "/api/articles", {"code": f"L{number}", "name": "n", "description": text}
            )
        seen = await send(visitor, LIST, query__per_page="200")
        assert re.search(
            r"Only the beginning of the answer is shown\. Its full size, in bytes: [\d\u202f]+\.", seen.text
        )
        assert "<b>&" not in seen.text
        assert len(seen.text.encode()) < 250_000

    async def test_nothing_that_was_typed_becomes_markup(self, visitor: Visitor) -> None:
        script = "<script>alert(1)</script>"
        seen = await send(visitor, LIST, query__search=script, query__code='"><img src=x>')
        assert script not in seen.text
        assert "<img" not in seen.text
        tried = await send(visitor, CREATE, body=json.dumps({"code": script, "name": f"</textarea>{script}"}))
        assert (answered(tried)[0], script in tried.text) == (201, False)

    @pytest.mark.parametrize(
        "path", ["/try/v1/nothing", "/try/v2/create_article", "/try/v3/list_articles", "/try/v1/x.y"]
    )
    async def test_there_is_nothing_else(self, visitor: Visitor, path: str) -> None:
        assert (await visitor.get(path)).status == 404

    async def test_operations_of_people_cannot_be_tried(self, visitor: Visitor) -> None:
        for name in ("list_users", "invite_user", "begin_session", "get_access", "make_token"):
            assert (await visitor.get(f"/try/v1/{name}")).status == 404
