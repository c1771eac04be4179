"""The work of people with records on the pages: forms, their errors, and the users who may send them."""

import html
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.pages.records.test_browse import EMAIL, TO, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop
from tests.support.world import PASSWORD, open_world
from wmsd.events.webhooks.rules import CREDENTIALS

SECRET = "0123456789abcdef0123456789abcdef"
NEW_ARTICLE = "/companies/1/articles/new"
CHANGE = "/companies/1/articles/1/change"
NEW_WEBHOOK = "/companies/1/webhooks/new"
WEBHOOK = {
    "name": "Shop",
    "url": "https://receiver.invalid/hook",
    "events:article.created": "on",
    "auth_type": "hmac",
    "active": "on",
    "secret": SECRET,
}


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


def form_of(seen: Seen) -> dict[str, str]:
    """Return the fields that a browser sends for the form if nobody changes anything."""
    assert seen.status == 200, seen.text
    (form,) = re.findall(r'<form class="fields[^>]*>.*?</form>', seen.text, re.DOTALL)
    fields = {}
    for tag in re.findall(r"<input.*?>", form, re.DOTALL):
        name = re.search(r'name="(.*?)"', tag)
        value = re.search(r'value="(.*?)"', tag, re.DOTALL)
        if name and ('type="checkbox"' not in tag or " checked" in tag):
            fields[name[1]] = html.unescape(value[1]) if value else "on" if "checkbox" in tag else ""
    for name, text in re.findall(r'<textarea.*?name="(.*?)".*?>\n(.*?)</textarea>', form, re.DOTALL):
        fields[name] = html.unescape(text)
    for name, options in re.findall(r'<select.*?name="(.*?)".*?>(.*?)</select>', form, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected>', options) or re.search(
            r'<option value="([^"]*)">', options
        )
        fields[name] = chosen[1] if chosen else ""
    return fields


async def sent(visitor: Visitor, path: str, **typed: str) -> Seen:
    """Send the form of the page with the typed fields."""
    return await visitor.post(path, {**form_of(await visitor.get(path)), **typed})


async def article(visitor: Visitor, number: int) -> dict[str, Any]:
    return dict((await visitor.world.call("GET", f"/api/articles/{number}")).body)


async def test_an_article_is_made(visitor: Visitor) -> None:
    typed = {"code": "N1", "name": "Novel", "barcodes": "111\n222\n", "weight_kg": "0,5", "client": "C1"}
    done = await sent(visitor, NEW_ARTICLE, **typed)
    assert (done.status, done.goes_to) == (303, "/companies/1/articles/4?done=new")
    made = await article(visitor, 4)
    assert {
        name: made[name] for name in ("code", "name", "barcodes", "weight_kg", "client_id", "unit", "active")
    } == {
        "code": "N1",
        "name": "Novel",
        "barcodes": ["111", "222"],
        "weight_kg": 0.5,
        "client_id": 1,
        "unit": "pcs",
        "active": True,
    }
    assert "Article created." in (await visitor.get(done.goes_to)).text


async def test_a_form_that_is_sent_twice_makes_one(visitor: Visitor) -> None:
    fields = {**form_of(await visitor.get(NEW_ARTICLE)), "code": "N1", "name": "Novel"}
    assert [(await visitor.post(NEW_ARTICLE, fields)).goes_to for _ in range(2)] == [
        "/companies/1/articles/4?done=new"
    ] * 2
    assert (await visitor.world.call("GET", "/api/articles")).body["meta"]["total"] == 4


async def test_a_change_begins_with_the_values_that_there_are_and_keeps_what_nobody_touched(
    visitor: Visitor,
) -> None:
    body = {"description": "two\nlines", "barcodes": ["1", "2"], "client_id": 1, "track_lot": True}
    await visitor.world.call("PATCH", "/api/articles/2", body, events=["article.updated"])
    before = await article(visitor, 2)
    done = await sent(visitor, "/companies/1/articles/2/change", name="Renamed")
    assert done.goes_to == "/companies/1/articles/2?done=change"
    after = await article(visitor, 2)
    assert {**after, "updated_at": ""} == {**before, "name": "Renamed", "updated_at": ""}


async def test_a_field_is_emptied(visitor: Visitor) -> None:
    await sent(visitor, CHANGE, min_stock="")
    assert (await article(visitor, 1))["min_stock"] is None


def differing(seen: Seen) -> list[list[str]]:
    """Return the fields that differ from the current record: label, their value and your value."""
    (table,) = re.findall(r'aria-label="Differences">.*?<tbody>(.*?)</tbody>', seen.text, re.DOTALL)
    return [
        [text_of(cell) for cell in re.findall(r"<td.*?>(.*?)</td>", row, re.DOTALL)]
        for row in table.split("</tr>")[:-1]
    ]


def still_in(seen: Seen) -> dict[str, str]:
    """Return the fields of the returned form, which a second press of the button sends."""
    return form_of(replace(seen, status=200))


async def test_what_somebody_else_has_changed_meanwhile_is_not_lost(visitor: Visitor) -> None:
    fields = form_of(await visitor.get(CHANGE))
    body = {"name": "Theirs", "min_stock": 7, "client_id": 1, "track_lot": True}
    await visitor.world.call("PATCH", "/api/articles/1", body, events=["article.updated"])
    seen = await visitor.post(CHANGE, {**fields, "name": "Mine", "min_stock": "7,0", "barcodes": "1\n2"})
    assert (seen.status, "Another user changed this record" in seen.text) == (412, True)
    assert differing(seen) == [
        ["Name", "Theirs", "Mine"],
        ["More barcodes", TO, "1 2"],
        ["Tracked by lot", "yes", "no"],
        ["Client", "C1", TO],
    ]
    assert (await article(visitor, 1))["name"] == "Theirs"
    done = await visitor.post(CHANGE, {**still_in(seen), "client": "C1", "track_lot": "on"})
    assert done.goes_to == "/companies/1/articles/1?done=change"
    after = await article(visitor, 1)
    shown = {name: after[name] for name in ("name", "barcodes", "min_stock", "client_id", "track_lot")}
    assert shown == {"name": "Mine", "barcodes": ["1", "2"], "min_stock": 7, "client_id": 1, "track_lot": True}


async def test_who_is_overtaken_again_is_told_again(visitor: Visitor) -> None:
    fields = {**form_of(await visitor.get(CHANGE)), "name": "Mine"}
    for name in ("First", "Second"):
        await visitor.world.call("PATCH", "/api/articles/1", {"name": name}, events=["article.updated"])
        seen = await visitor.post(CHANGE, fields)
        assert (seen.status, differing(seen)) == (412, [["Name", name, "Mine"]])
        fields = still_in(seen)
    assert (await visitor.post(CHANGE, fields)).status == 303
    assert (await article(visitor, 1))["name"] == "Mine"


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"name": ""}, "name"),
        ({"code": "A"}, "code"),
        ({"code": "x" * 65}, "code"),
        ({"weight_kg": "heavy"}, "weight_kg"),
        ({"weight_kg": "-1"}, "weight_kg"),
        ({"weight_kg": "NaN"}, "weight_kg"),
        ({"min_stock": "1.1234567"}, "min_stock"),
        ({"min_stock": "9" * 40}, "min_stock"),
        ({"client": "NOBODY"}, "client"),
        ({"barcodes": "x" * 65}, "barcodes"),
        ({"name": "a\x07b"}, "name"),
    ],
)
async def test_what_is_wrong_is_told_beside_its_field_and_nothing_is_lost(
    visitor: Visitor, typed: dict[str, str], field: str
) -> None:
    before = await article(visitor, 2)
    path = "/companies/1/articles/2/change"
    kept = {"description": "kept <b>", "unit": "kg"}
    seen = await sent(visitor, path, **kept, **typed)
    assert seen.status == 422, seen.text
    assert f'id="{field}-error"' in seen.text
    assert len(re.findall(r'aria-invalid="true"', seen.text)) == 1
    assert re.search(rf'name="{field}"[^>]* autofocus', seen.text)
    assert "kept &lt;b&gt;" in seen.text
    assert 'value="kg"' in seen.text
    assert await article(visitor, 2) == before


@pytest.mark.parametrize(
    ("path", "required"),
    [
        (NEW_ARTICLE, ["code", "name"]),
        (CHANGE, ["code", "name", "unit", "um3pl_factor"]),
        (NEW_WEBHOOK, ["name", "url"]),
        ("/companies/1/partners/1/change", ["code", "name", "type"]),
    ],
)
async def test_what_must_be_filled_in_is_marked(visitor: Visitor, path: str, required: list[str]) -> None:
    seen = await visitor.get(path)
    marked = re.findall(r'<label for="(\w+)">[^<]*<span aria-hidden="true"> \*</span>', seen.text)
    held = re.findall(r'<(?:input|select|textarea) id="(\w+)"[^>]* required', seen.text)
    assert (marked, held) == (required, required)
    assert "Fields with * must be filled in." in text_of(seen.text)


async def test_the_lines_of_a_document_and_their_quantity_are_marked(visitor: Visitor) -> None:
    seen = await visitor.get("/companies/1/sales-orders/new")
    assert '<legend>Lines<span aria-hidden="true"> *</span></legend>' in seen.text
    assert 'data-heading="Quantity *"' in seen.text


async def test_a_required_field_that_is_emptied_in_a_change_is_refused(visitor: Visitor) -> None:
    before = await article(visitor, 1)
    assert (await sent(visitor, CHANGE, name="")).status == 422
    assert await article(visitor, 1) == before


async def test_an_error_that_is_a_sentence_stands_by_itself(visitor: Visitor) -> None:
    seen = await sent(visitor, NEW_WEBHOOK, **{**WEBHOOK, "url": "ftp://receiver.invalid"})
    (wrong,) = re.findall(r'<p class="error" id="url-error">(.*?)</p>', seen.text)
    assert re.fullmatch(r"The URL must begin with \S+( or http://)?\.", wrong)


async def test_script_in_every_field_is_text(visitor: Visitor) -> None:
    script = '"></textarea><script>alert(1)</script>'
    for path in (NEW_ARTICLE, CHANGE, NEW_WEBHOOK):
        fields = form_of(await visitor.get(path))
        hidden: dict[str, str] = {
            name: fields[name] for name in ("form_token", "idempotency_key", "if_match") if name in fields
        }
        seen = await visitor.post(path, {**dict.fromkeys(fields, script), **hidden})
        assert (seen.status, "<script>" in seen.text) == (422, False)


async def test_a_form_of_another_origin_or_session_changes_nothing(visitor: Visitor) -> None:
    fields = {**form_of(await visitor.get(CHANGE)), "name": "Forged"}
    other = Visitor(visitor.world)
    await other.sign_in(EMAIL, PASSWORD)
    refused = [
        await visitor.post(CHANGE, fields, site="cross-site"),
        await visitor.post(CHANGE, fields, site="same-site"),
        await visitor.post(CHANGE, {name: text for name, text in fields.items() if name != "form_token"}),
        await other.post(CHANGE, fields),
    ]
    assert [seen.status for seen in refused] == [403] * 4
    assert (await Visitor(visitor.world).post(CHANGE, fields)).goes_to.startswith("/sign-in")
    assert (await article(visitor, 1))["name"] == "Alpha"


async def test_who_may_only_read_is_offered_nothing_and_can_do_nothing(shop: Shop) -> None:
    reader = await signed_in(shop.world, "ACME", abilities=["articles:read", "clients:read"])
    assert "/change" not in (await reader.get("/companies/1/articles/1")).text
    assert "/new" not in (await reader.get("/companies/1/articles")).text
    fields = {"form_token": (await reader.get("/account")).form_token, "name": "Mine"}
    for seen in (await reader.get(CHANGE), await reader.post(CHANGE, fields)):
        assert (seen.status, "You lack the ability articles:write." in seen.text) == (403, True)
        assert 'name="name"' not in seen.text
    assert (await article(reader, 1))["name"] == "Alpha"


@pytest.mark.parametrize(
    "path",
    ["articles/99/change", "articles/1/remove", "articles/1/new", "packaging/new", "webhooks/9/test", "x/1/y"],
)
async def test_an_act_that_is_not_there_is_told(visitor: Visitor, path: str) -> None:
    seen = await visitor.get(f"/companies/1/{path}")
    assert (seen.status, seen.heading) == (404, "Page not found")


async def test_records_of_another_company_cannot_be_reached(visitor: Visitor) -> None:
    await visitor.world.new_company("OTHER")
    assert (await visitor.get("/companies/2/articles/1/change")).status == 404
    fields = {**form_of(await visitor.get(CHANGE)), "name": "Mine"}
    assert (await visitor.post("/companies/2/articles/1/change", fields)).status == 404


async def webhook(visitor: Visitor, **changes: str) -> str:
    """Create a webhook, and return its address."""
    done = await visitor.post(
        NEW_WEBHOOK, {**WEBHOOK, **changes, "form_token": (await visitor.get(NEW_WEBHOOK)).form_token}
    )
    assert done.status == 303, text_of(done.text)
    return done.goes_to.partition("?")[0]


async def shown(visitor: Visitor, number: int = 1) -> dict[str, Any]:
    return dict((await visitor.world.call("GET", f"/api/webhooks/{number}")).body)


async def test_a_webhook_is_made_changed_and_removed(visitor: Visitor) -> None:
    place = await webhook(visitor)
    assert (await shown(visitor))["events"] == ["article.created"]
    seen = await visitor.get(f"{place}/change")
    assert SECRET not in seen.text
    done = await visitor.post(f"{place}/change", {**form_of(seen), "name": "Renamed", "events:stock.low": "on"})
    assert done.goes_to == f"{place}?done=change"
    changed = await shown(visitor)
    assert (changed["name"], changed["events"], changed["has_secret"]) == (
        "Renamed",
        ["article.created", "stock.low"],
        True,
    )
    removed = await sent(visitor, f"{place}/remove")
    assert removed.goes_to == "/companies/1/webhooks?done=remove"
    assert "The webhook is removed." in (await visitor.get(removed.goes_to)).text
    assert (await visitor.get(place)).status == 404


async def test_credentials_that_lack_are_told_and_never_shown_again(visitor: Visitor) -> None:
    token = (await visitor.get(NEW_WEBHOOK)).form_token
    seen = await visitor.post(
        NEW_WEBHOOK, {**WEBHOOK, "auth_type": "basic", "password": "hidden-1", "form_token": token}
    )
    assert (seen.status, "hidden-1" in seen.text) == (422, False)
    assert 'id="username-error"' in seen.text
    wrong = await visitor.post(
        NEW_WEBHOOK, {**WEBHOOK, "auth_type": "custom", "headers": "no colon", "form_token": token}
    )
    assert "must have a name, a colon and a value in each line" in wrong.text


async def test_a_secret_that_was_typed_must_be_typed_again_and_says_so(visitor: Visitor) -> None:
    """After any error in the form, a secret must be typed again; the secret itself is never in the page."""
    assert "token-again" not in (await visitor.get(NEW_WEBHOOK)).text
    seen = await sent(
        visitor, NEW_WEBHOOK, **{**WEBHOOK, "url": "nowhere", "auth_type": "bearer", "token": "typed-1"}
    )
    assert (seen.status, "typed-1" in seen.text) == (422, False)
    assert re.findall(r'id="(\w+)-again"', seen.text) == ["token"]
    assert re.search(r'name="token" aria-describedby="token-help token-again"', seen.text)


async def test_a_secret_that_signs_is_offered(visitor: Visitor) -> None:
    """Each form offers a new secret. The secret stays when the form comes back, because the user may have copied
    it.
    """
    typed = {name: value for name, value in WEBHOOK.items() if name != "secret"}
    first, second = [form_of(await visitor.get(NEW_WEBHOOK)) for _ in range(2)]
    assert first["secret"] != second["secret"]
    assert 'data-copy="secret"' in (await visitor.get(NEW_WEBHOOK)).text
    wrong = await visitor.post(NEW_WEBHOOK, {**first, **typed, "url": "nowhere"})
    assert f'value="{html.escape(first["secret"])}"' in wrong.text
    assert (await visitor.post(NEW_WEBHOOK, {**first, **typed})).status == 303
    made = await shown(visitor)
    assert (made["auth_type"], made["has_secret"], made["warnings"]) == ("hmac", True, [])
    assert first["secret"] not in (await visitor.get("/companies/1/webhooks/1")).text


async def test_the_secret_that_is_offered_is_in_nobodys_way(visitor: Visitor) -> None:
    form = form_of(await visitor.get(NEW_WEBHOOK))
    others = {"name": "Shop", "url": WEBHOOK["url"], "events:article.created": "on"}
    done = await visitor.post(NEW_WEBHOOK, {**form, **others, "auth_type": "bearer", "token": "0123456789"})
    assert (done.status, (await shown(visitor))["auth_type"]) == (303, "bearer")


async def test_each_credential_stands_with_its_authentication(visitor: Visitor) -> None:
    form = (await visitor.get(NEW_WEBHOOK)).text
    parts = re.findall(r'data-with="auth_type" data-is="(\w+)">.*?name="(\w+)"', form, re.DOTALL)
    assert {choice: [name for each, name in parts if each == choice] for choice, _ in parts} == {
        choice: list(names) for choice, names in CREDENTIALS.items()
    }


async def test_a_secret_is_rotated(visitor: Visitor) -> None:
    place = await webhook(visitor)
    done = await sent(visitor, f"{place}/rotate-secret", secret="fedcba9876543210fedcba9876543210")
    assert (done.status, "fedcba9876543210fedcba9876543210" in done.text) == (200, True)
    assert "wmsd now signs webhook deliveries with the new secret. The old secret is also used until" in text_of(
        done.text
    )
    assert (await shown(visitor))["previous_secret_expires_at"] is not None


async def test_a_test_shows_what_came_back_and_a_delivery_is_sent_again(visitor: Visitor) -> None:
    place = await webhook(visitor)
    done = await sent(visitor, f"{place}/test")
    assert done.goes_to == f"{place}/deliveries/1?done=test"
    (note,) = re.findall(r'<p class="note bad" role="status">(.*?)</p>', (await visitor.get(done.goes_to)).text)
    assert note.startswith("The test got no answer. ")
    assert "receiver.invalid could not be found" in text_of((await visitor.get(done.goes_to)).text)
    seen = await visitor.get(f"{place}/deliveries")
    assert "receiver.invalid could not be found" in text_of(seen.text)
    nothing = await visitor.post(f"{place}/deliveries", {"form_token": seen.form_token})
    assert (nothing.status, "Select the webhook deliveries" in nothing.text) == (422, True)
    again = await visitor.post(f"{place}/deliveries", {"form_token": seen.form_token, "delivery:1": "on"})
    assert again.goes_to == f"{place}/deliveries?done=again"
    (delivery,) = (await visitor.world.call("GET", "/api/v2/webhooks/1/deliveries")).body["data"]
    assert delivery["status"] in ("pending", "exhausted")
    gone = await visitor.post(f"{place}/deliveries", {"form_token": seen.form_token, "delivery:99": "on"})
    assert gone.status == 404
    assert (await visitor.get(f"{place}/deliveries?status=skipped")).status == 200
    assert (await visitor.get(f"{place}/deliveries?status=none&since=x")).status == 422


async def test_too_many_fields_and_too_large_forms_are_refused(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data") as world:
        visitor = await signed_in(world)
        token = (await visitor.get(NEW_ARTICLE)).form_token
        many = {f"field{number}": "x" for number in range(300)}
        assert (await visitor.post(NEW_ARTICLE, {**many, "form_token": token})).status == 400
        assert (await visitor.post(NEW_ARTICLE, {"name": "x" * 70_000, "form_token": token})).status == 413
