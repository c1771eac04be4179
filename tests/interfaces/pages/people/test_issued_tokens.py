"""Tokens are created on the pages, displayed once, used and revoked."""

import re

import pytest

from tests.interfaces.pages.administering import MEMBER, audit, errors, id_of, shown_once, signed_in_as
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import EMAIL, rows
from tests.interfaces.pages.visitor import Visitor
from wmsd.tenants.accounts import token_administration


async def test_a_token_is_made_used_and_revoked(admin: Visitor) -> None:
    world = admin.world
    made = await sent(
        admin, "/admin/tokens/new", **{"name": "Shop", "abilities:stock:read": "on", "company_codes": "ACME"}
    )
    shown = shown_once(made)
    assert shown["line"].startswith(f"curl {world.base_url}/api/user -H 'Authorization: Bearer {shown['token']}'")
    answer = await world.send("GET", "/api/stock", token=shown["token"])
    assert answer.status == 200
    assert (await world.send("GET", "/api/articles", token=shown["token"])).status == 403
    (cells,) = [each for each in rows(await admin.get("/admin/tokens")) if each[0] == "Shop"]
    assert cells[1:4] == [EMAIL, "stock:read", "yes"]
    assert shown["token"] not in (await admin.get("/admin/tokens")).text
    (number,) = re.findall(r'href="/admin/tokens/(\d+)">Shop', (await admin.get("/admin/tokens")).text)
    assert (await sent(admin, f"/admin/tokens/{number}/revoke")).status == 303
    assert (await world.send("GET", "/api/stock", token=shown["token"])).status == 401
    assert [each[1] for each in (await audit(admin))[:2]] == ["token.revoke", "token.create Shop"]


async def test_where_a_token_was_used_is_told_a_minute_later(admin: Visitor) -> None:
    token = await admin.world.new_token(EMAIL)
    await admin.world.send("GET", "/api/stock", token=token)
    await admin.world.installation.access.write_token_uses()
    assert "127.0.0.1" in [cells[7] for cells in rows(await admin.get("/admin/tokens"))]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"days": "abc"}, "Days must be a whole number, such as 30."),
        ({"days": "12.5"}, "Days must be a whole number, such as 30."),
        ({"days": "99999"}, "Days must be at most 3650 (tokens.most_days in the settings)."),
        ({"days": "9" * 17}, "Days must be at most 3650 (tokens.most_days in the settings)."),
        ({"days": "4000"}, "Days must be at most 3650 (tokens.most_days in the settings)."),
        ({"company_codes": "NONE"}, f"Companies NONE is not a company that {EMAIL} may use."),
        ({"user": "nobody@example.com"}, "User is not the e-mail address of an active user whom you manage."),
    ],
)
async def test_a_token_that_cannot_be_made_is_told(admin: Visitor, typed: dict[str, str], message: str) -> None:
    before = len(rows(await admin.get("/admin/tokens")))
    refused = await sent(admin, "/admin/tokens/new", **{"name": "X", "abilities:stock:read": "on", **typed})
    assert await errors(refused) == [message]
    assert len(rows(await admin.get("/admin/tokens"))) == before


async def test_a_token_without_an_ability_is_asked_for_one(admin: Visitor) -> None:
    refused = await sent(admin, "/admin/tokens/new", name="X")
    assert await errors(refused) == ["Abilities must have at least 1 item."]
    assert 'value="X"' in refused.text, "what was typed stays"


async def test_a_token_does_no_more_than_its_user(lead: Visitor) -> None:
    await lead.world.new_user(MEMBER, "member", ["OTHER"], ["stock:read"])
    fields = {"name": "X", "user": MEMBER, "abilities:stock:read": "on", "abilities:articles:write": "on"}
    refused = await sent(lead, "/admin/tokens/new", **fields)
    assert refused.status == 403
    assert (
        "A token of this user cannot have these abilities, because the user does not have them: articles:write."
    ) in refused.text


async def test_a_token_that_an_admin_made_does_not_grow_with_its_user(admin: Visitor, lead: Visitor) -> None:
    await admin.world.new_user(MEMBER, "member", ["OTHER"], ["stock:read"])
    fields = {"name": "X", "user": MEMBER, "abilities:stock:read": "on"}
    token = shown_once(await sent(lead, "/admin/tokens/new", **fields))["token"]
    path = f"/admin/users/{await id_of(admin, MEMBER)}/change"
    assert (await sent(admin, path, company_codes="OTHER\nACME")).status == 303
    answer = await admin.world.send("GET", "/api/companies", token=token, company="")
    assert [each["code"] for each in answer.body["data"]] == ["OTHER"]


async def test_a_user_has_so_many_tokens_at_most(admin: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_administration, "MOST_TOKENS", 2)
    fields = {"name": "X", "abilities:stock:read": "on"}
    for _ in range(2):
        shown_once(await sent(admin, "/admin/tokens/new", **fields))
    assert await errors(await sent(admin, "/admin/tokens/new", **fields)) == [
        f"Name cannot be created: {EMAIL} already has 2 tokens; revoke some of them first."
    ]


async def test_only_the_abilities_that_one_may_give_are_offered(admin: Visitor) -> None:
    await admin.world.new_user(MEMBER, "member", ["OTHER"], ["stock:read", "articles:write"])
    member = await signed_in_as(admin.world, MEMBER)
    assert await offered(member) == {"stock:read", "articles:write"}
    assert {"*", "stock:read", "articles:write", "webhooks:write"} < await offered(admin)


async def offered(visitor: Visitor) -> set[str]:
    return set(re.findall(r'name="abilities:(.*?)"', (await visitor.get("/admin/tokens/new")).text))


async def test_the_role_that_one_may_not_give_is_not_offered(admin: Visitor, lead: Visitor) -> None:
    role = '<option value="platform-admin"'
    assert role in (await admin.get("/admin/users/new")).text
    assert role not in (await lead.get("/admin/users/new")).text
