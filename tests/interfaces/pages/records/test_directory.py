"""Clients, partners and warehouses on the pages: a user with partners:write creates and changes the first two,
admins all three, and others only read.
"""

import pytest

from tests.interfaces.pages.records.test_act import form_of, sent
from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.support.shop import Shop
from tests.support.world import PASSWORD, all_rows
from wmsd.contract.access import ABILITIES, READ_ABILITIES

KINDS = ("clients", "partners", "warehouses")
BY_ABILITY = KINDS[:2]


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


async def member(visitor: Visitor, *more: str) -> Visitor:
    """Sign in a member who may read, with the abilities `more`."""
    await visitor.world.new_user("member@example.com", "member", ["ACME"], [*READ_ABILITIES, *more])
    found = Visitor(visitor.world)
    await found.sign_in("member@example.com", PASSWORD)
    return found


@pytest.mark.parametrize("kind", KINDS)
async def test_one_is_made_and_changed(visitor: Visitor, kind: str) -> None:
    typed = {"code": "N1", "name": "Novel", "address.city": "Cluj"}
    made = await sent(visitor, f"/companies/1/{kind}/new", **typed)
    assert made.status == 303, made.text
    record = made.goes_to.partition("?")[0]
    api = record.replace("/companies/1", "/api")
    before = (await visitor.world.call("GET", api)).body
    assert (before["code"], before["active"]) == ("N1", True)
    assert before["address"] == {"street": None, "city": "Cluj", "postal_code": None, "country": None}
    assert f"{kind[:-1].capitalize()} created." in (await visitor.get(made.goes_to)).text

    changed = await sent(visitor, f"{record}/change", name="Newer", **{"address.city": ""})
    assert (changed.status, changed.goes_to) == (303, f"{record}?done=change")
    after = (await visitor.world.call("GET", api)).body
    assert (after["name"], after["address"], after["id"]) == ("Newer", None, before["id"])


async def test_a_partner_has_a_type(visitor: Visitor) -> None:
    made = await sent(visitor, "/companies/1/partners/new", code="S1", name="Supplier", type="FURNIZOR")
    api = made.goes_to.partition("?")[0].replace("/companies/1", "/api")
    assert (await visitor.world.call("GET", api)).body["type"] == "FURNIZOR"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_code_is_given_once(visitor: Visitor, kind: str) -> None:
    taken = (await visitor.world.call("GET", f"/api/{kind}/1")).body["code"]
    for path in (f"/companies/1/{kind}/new", f"/companies/1/{kind}/1/change"):
        other = await sent(visitor, f"/companies/1/{kind}/new", code="OTHER", name="Other")
        assert other.status in (303, 422)
        refused = await sent(visitor, path, name="X", code=taken if path.endswith("new") else "OTHER")
        assert refused.status == 422
        assert f"Code is taken by another {kind[:-1]}." in refused.text


async def test_what_is_wrong_is_told_beside_its_field(visitor: Visitor) -> None:
    refused = await sent(visitor, "/companies/1/clients/new", code="x" * 65, name="Name", email="no address")
    assert refused.status == 422
    assert 'id="code" name="code" autofocus aria-invalid="true"' in refused.text
    assert f'value="{"x" * 65}"' in refused.text
    assert 'id="email-error"' in refused.text


async def test_a_change_does_not_undo_another(visitor: Visitor) -> None:
    path = "/companies/1/partners/1/change"
    form = form_of(await visitor.get(path))
    assert (await sent(visitor, path, name="Theirs")).status == 303
    late = await visitor.post(path, {**form, "name": "Ours"})
    assert late.status == 412
    assert (await visitor.world.call("GET", "/api/partners/1")).body["name"] == "Theirs"


async def test_a_form_that_is_sent_twice_makes_one(visitor: Visitor) -> None:
    form = {**form_of(await visitor.get("/companies/1/clients/new")), "code": "TWICE", "name": "Once"}
    first, second = [await visitor.post("/companies/1/clients/new", form) for _ in range(2)]
    assert first.goes_to == second.goes_to != ""
    assert await visitor.world.rows("SELECT count(*) FROM clients WHERE code = 'TWICE'") == [(1,)]


@pytest.mark.parametrize(
    ("kind", "has", "lacks"),
    [
        ("clients", set(ABILITIES) - {"partners:write"}, "You lack the ability partners:write"),
        ("partners", set(ABILITIES) - {"partners:write"}, "You lack the ability partners:write"),
        ("warehouses", set(ABILITIES), "Only a company admin may do this"),
    ],
)
async def test_others_only_read_them(visitor: Visitor, kind: str, has: set[str], lacks: str) -> None:
    other = await member(visitor, *has)
    form = {**form_of(await visitor.get(f"/companies/1/{kind}/new")), "code": "N", "name": "N"}
    before = await (await visitor.world.database()).read(all_rows)
    assert "New " not in (await other.get(f"/companies/1/{kind}")).text
    assert f"/{kind}/1/change" not in (await other.get(f"/companies/1/{kind}/1")).text
    token = (await other.get(f"/companies/1/{kind}")).form_token
    for path in ("new", "1/change"):
        refused = await other.post(f"/companies/1/{kind}/{path}", {**form, "form_token": token})
        assert (refused.status, lacks in refused.text) == (403, True)
    assert await (await visitor.world.database()).read(all_rows) == before


@pytest.mark.parametrize("kind", BY_ABILITY)
async def test_whoever_has_the_ability_makes_and_changes_them(visitor: Visitor, kind: str) -> None:
    other = await member(visitor, "partners:write")
    assert f"/{kind}/new" in (await other.get(f"/companies/1/{kind}")).text
    made = await sent(other, f"/companies/1/{kind}/new", code="N1", name="Novel")
    assert made.status == 303, made.text
    record = made.goes_to.partition("?")[0]
    assert f"{record}/change" in (await other.get(record)).text
    assert (await sent(other, f"{record}/change", name="Newer")).status == 303
    record = record.replace("/companies/1", "/api")
    assert (await visitor.world.call("GET", record)).body["name"] == "Newer"


async def test_programs_cannot_write_them(visitor: Visitor) -> None:
    for kind in KINDS:
        answer = await visitor.world.send("POST", f"/api/{kind}", {"code": "N", "name": "N"})
        assert answer.status == 405


@pytest.mark.parametrize("kind", ["sales-orders", "purchase-orders", "returns"])
async def test_a_partner_is_made_beside_the_form_of_an_order(visitor: Visitor, kind: str) -> None:
    link = 'href="/companies/1/partners/new" target="_blank" rel="noopener"'
    other = await member(visitor, *(set(ABILITIES) - {"partners:write"}))
    assert link in (await visitor.get(f"/companies/1/{kind}/new")).text
    assert link not in (await other.get(f"/companies/1/{kind}/new")).text, "it lacks partners:write"
    form = form_of(await visitor.get("/companies/1/sales-orders/new"))
    await sent(visitor, "/companies/1/partners/new", code="N1", name="Novel")
    line = {"lines.0.article_code": "A", "lines.0.quantity": "1"}
    done = await visitor.post(
        "/companies/1/sales-orders/new", {**form, "partner": "N1", "warehouse": "MAIN", **line}
    )
    assert done.status == 303
