"""The form of the try-out: what it shows, and what it refuses."""

import asyncio
import html
import json
import re

import pytest

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.interfaces.reference.trying import (
    BODY,
    CREATE,
    LIST,
    answered,
    codes,
    send,
    typed_in,
)
from tests.support.shop import Shop
from tests.support.world import World
from wmsd.interfaces.reference import try_out_page


async def test_strangers_are_led_to_sign_in_and_come_back(world: World) -> None:
    for path in (CREATE, "/try/graphql"):
        seen = await Visitor(world).get(path)
        assert (seen.status, seen.goes_to) == (303, f"/sign-in?next={path}")
        assert (await Visitor(world).post(path, {"body": "{}"})).status == 303


@pytest.mark.parametrize(("fields", "site"), [({"form_token": "x"}, "same-origin"), ({}, "cross-site"), ({}, "")])
async def test_no_other_site_sends_it(visitor: Visitor, fields: dict[str, str], site: str) -> None:
    shown = await visitor.get(f"{CREATE}?company=1")
    typed = {**typed_in(shown), "body": json.dumps(BODY), **fields}
    assert (await visitor.post(CREATE, typed, site=site)).status == 403
    assert "NEW" not in await codes(visitor.world)


async def test_sent_twice_it_is_done_once(visitor: Visitor) -> None:
    shown = await visitor.get(f"{CREATE}?company=1")
    typed = {**typed_in(shown), "body": json.dumps(BODY)}
    found = await asyncio.gather(*(visitor.post(CREATE, typed) for _ in range(4)))
    assert {answered(each)[0] for each in found} == {201}
    assert len({answered(each)[2]["id"] for each in found}) == 1
    assert (await codes(visitor.world)).count("NEW") == 1


async def test_what_has_no_key_is_not_done_twice_either(visitor: Visitor) -> None:
    body = {"name": "W", "url": "https://hooks.example.com/a", "events": ["*"], "secret": "0123456789abcdef"}
    made = await visitor.world.send("POST", "/api/v2/webhooks", body)
    path = "/try/v2/delete_webhook"
    typed = {**typed_in(await visitor.get(f"{path}?company=1")), "path-id": str(made.id)}
    assert answered(await visitor.post(path, typed))[0] == 204
    assert (await visitor.post(path, typed)).status == 409


async def test_a_sign_in_that_is_tried_shows_no_password_again(visitor: Visitor) -> None:
    password = "correct horse battery"
    body = {"email": "admin@example.com", "password": password, "abilities": ["stock:read"]}
    seen = await send(visitor, "/try/v1/issue_token", company="", body=json.dumps(body))
    assert answered(seen)[0] == 200
    assert password not in html.unescape(seen.text)
    assert '"password": "***"' in html.unescape(seen.text)


async def test_writes_warn_unless_the_company_is_a_sandbox(visitor: Visitor) -> None:
    warned = "This changes real data of Company ACME."
    assert warned in (await visitor.get(f"{CREATE}?company=1")).text
    assert "real data" not in (await visitor.get(f"{LIST}?company=1")).text
    await visitor.world.new_operator("OP", sandbox=True)
    sandbox = await visitor.world.new_company("BOX", operator="OP")
    shown = await visitor.get(f"{CREATE}?company={sandbox}")
    assert ("real data of" in shown.text, "Company BOX is a sandbox" in shown.text) == (False, True)


async def test_an_address_fills_the_form(visitor: Visitor) -> None:
    shown = await visitor.get("/try/v1/get_article?company=1&id=2")
    assert typed_in(shown)["path-id"] == "2"
    record = await visitor.get("/companies/1/articles/2")
    assert 'href="/try/v1/get_article?company=1&amp;id=2"' in record.text


@pytest.mark.parametrize("operation", ["get_sales_order", "update_sales_order", "delete_webhook"])
async def test_no_record_is_named_where_nobody_has_named_one(visitor: Visitor, operation: str) -> None:
    assert typed_in(await visitor.get(f"/try/v1/{operation}?company=1"))["path-id"] == ""


async def test_a_write_names_no_record_by_itself(visitor: Visitor, shop: Shop) -> None:
    """A single press of Send once moved a real order."""
    order = await shop.order()
    seen = await visitor.get(f"/try/v1/update_sales_order?company=1&id={order.body['id']}")
    assert typed_in(seen)["path-id"] == ""
    assert (await visitor.post("/try/v1/update_sales_order", typed_in(seen))).status == 422
    made = json.loads(typed_in(await visitor.get("/try/v1/create_sales_order?company=1"))["body"])
    assert (made["partner_id"], made["warehouse_id"]) == (None, None)


async def test_what_is_wrong_is_named_and_what_was_typed_stays(visitor: Visitor) -> None:
    path = "/try/v1/update_article"
    seen = await send(visitor, path, path__id="", body='{"name": "kept"}', **{"header__If-Match": "a\tb"})
    assert (seen.status, "id is required." in seen.text) == (422, True)
    assert re.search(r'id="path-id"[^>]* autofocus aria-invalid="true"', seen.text)
    assert '{"name": "kept"}' in html.unescape(seen.text)
    assert 'id="answer"' not in seen.text, "nothing was sent"


@pytest.mark.parametrize("company", ["99", "x", "-1", "0", "1 OR 1", "<b>", "9" * 30])
async def test_another_company_is_as_one_that_never_existed(visitor: Visitor, company: str) -> None:
    for seen in (
        await visitor.get(f"{CREATE}?company={company}"),
        await visitor.post(CREATE, {**typed_in(await visitor.get(f"{CREATE}?company=1")), "company": company}),
    ):
        assert seen.status == 404


async def test_a_company_that_the_person_may_not_use(shop: Shop) -> None:
    other = await shop.world.new_company("OTHER")
    visitor = await signed_in(shop.world, "ACME", abilities=["articles:read"])
    assert (await visitor.get(f"{LIST}?company={other}")).status == 404
    typed = {**typed_in(await visitor.get(f"{LIST}?company=1")), "company": str(other)}
    assert (await visitor.post(LIST, typed)).status == 404
    assert "OTHER" not in (await visitor.get(LIST)).text


async def test_of_very_many_companies_the_number_is_typed(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(try_out_page, "MOST_COMPANIES", 0)
    shown = await visitor.get(f"{LIST}?company=1")
    assert re.search(r'<input id="company" name="company" inputmode="numeric" value="1"', shown.text)
    assert answered(await send(visitor, LIST))[0] == 200


async def test_too_much_is_refused(visitor: Visitor) -> None:
    shown = await visitor.get(f"{CREATE}?company=1")
    over = await visitor.post(CREATE, {**typed_in(shown), "body": "x" * 70_000})
    assert (over.status, "Body is over 64 kB." in over.text) == (422, True)
    assert (await visitor.post(CREATE, {**typed_in(shown), "body": "x" * 300_000})).status == 413
    many = {**typed_in(shown), **{f"field-{number}": "" for number in range(300)}}
    assert (await visitor.post(CREATE, many)).status == 400


async def test_a_long_answer_is_cut_and_stays_light(visitor: Visitor) -> None:
    for number in range(120):
        text = f'"quoted" <b>&{number}' * 20
        await visitor.world.send("POST", "/api/articles", {"code": f"L{number}", "name": "n", "description": text})
    seen = await send(visitor, LIST, query__per_page="200")
    assert re.search(
        r"Only the beginning of the answer is shown\. Its full size, in bytes: [\d\u202f]+\.", seen.text
    )
    assert "<b>&" not in seen.text
    assert len(seen.text.encode()) < 250_000


async def test_nothing_that_was_typed_becomes_markup(visitor: Visitor) -> None:
    script = "<script>alert(1)</script>"
    seen = await send(visitor, LIST, query__search=script, query__code='"><img src=x>')
    assert script not in seen.text
    assert "<img" not in seen.text
    tried = await send(visitor, CREATE, body=json.dumps({"code": script, "name": f"</textarea>{script}"}))
    assert (answered(tried)[0], script in tried.text) == (201, False)


@pytest.mark.parametrize(
    "path", ["/try/v1/nothing", "/try/v2/create_article", "/try/v3/list_articles", "/try/v1/x.y"]
)
async def test_there_is_nothing_else(visitor: Visitor, path: str) -> None:
    assert (await visitor.get(path)).status == 404


async def test_operations_of_people_cannot_be_tried(visitor: Visitor) -> None:
    for name in ("list_users", "invite_user", "begin_session", "get_access", "make_token"):
        assert (await visitor.get(f"/try/v1/{name}")).status == 404
