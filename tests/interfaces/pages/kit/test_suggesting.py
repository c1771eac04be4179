"""Forms suggest the existing codes that the user may see."""

import html
import re

import pytest

from tests.interfaces.pages.administering import LEAD, signed_in_as
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import EMAIL, signed_in
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import World
from wmsd.interfaces.pages.kit import suggestions


@pytest.fixture
async def admin(world: World) -> Visitor:
    await world.new_company("B")
    return await signed_in(world)


def listed(seen: Seen, field: str) -> list[str] | None:
    """Return the suggestions for a field, or None if the field has none."""
    assert seen.status == 200
    found = re.search(rf'<datalist id="{field}-list">(.*?)</datalist>', seen.text)
    assert (f'list="{field}-list"' in seen.text) == (found is not None)
    return found and [html.unescape(each) for each in re.findall(r'value="(.*?)"', found[1])]


async def test_a_company_an_operator_and_a_user_are_suggested(admin: Visitor) -> None:
    await admin.world.new_operator("OPS")
    assert listed(await admin.get("/admin/sites/new"), "company_code") == ["ACME", "B"]
    assert listed(await admin.get("/admin/companies/new"), "operator_code") == ["OPS"]
    seen = await admin.get("/admin/tokens/new")
    assert EMAIL in (listed(seen, "user") or [])
    assert "One per line. Possible values: ACME, B." in seen.text


async def test_nobody_is_told_of_what_is_not_theirs(admin: Visitor) -> None:
    await admin.world.new_user(LEAD, "company-admin", ["ACME"])
    lead = await signed_in_as(admin.world, LEAD)
    seen = await lead.get("/admin/users/new")
    assert "Possible values: ACME." in seen.text
    assert "<datalist" not in seen.text


async def test_a_form_with_an_error_suggests_too(admin: Visitor) -> None:
    seen = await sent(admin, "/admin/sites/new", company_code="C", name="Dock", warehouse_code="W")
    assert seen.status == 422
    assert '<datalist id="company_code-list"><option value="ACME"><option value="B"></datalist>' in seen.text


async def test_more_than_anybody_reads_are_not_suggested(admin: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestions, "MOST", 1)
    monkeypatch.setattr(suggestions, "MOST_IN_TEXT", 1)
    assert listed(await admin.get("/admin/sites/new"), "company_code") is None
    assert "Possible values:" not in (await admin.get("/admin/users/new")).text


async def test_in_romanian(admin: Visitor) -> None:
    seen = await admin.get("/admin/users/new", {"Accept-Language": "ro"})
    assert "Valori posibile: ACME, B." in seen.text
