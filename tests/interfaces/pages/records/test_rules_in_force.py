"""The page of a company displays the limits and policies in force, with their source and the place to change
them.
"""

import html
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.pages.administering import LEAD, signed_in_as
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop
from tests.support.world import World, open_world
from wmsd.base.problems import Problem, unavailable
from wmsd.platform.admin_view.service import Started
from wmsd.settings.paths import Layer

PATH = "/admin/companies/1"
UNLIMITED = "1 000 000 000"
"""The limit at the start of the tests."""
CONFIGURED: dict[str, dict[str, Any]] = {
    "limits": {"data_per_minute": 300, "sandbox_per_minute": 7},
    "storage": {"quota_megabytes": 500},
    "returns": {"require_write_ability": True},
}


@pytest.fixture
async def admin(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


def in_force(seen: Seen) -> dict[str, list[str]]:
    """Return the limits by name: the value, the source, and the place to change it."""
    assert seen.status == 200, seen.text
    found = re.search(r'id="in-force".*?<tbody>(.*?)</tbody>', seen.text, re.DOTALL)
    assert found, seen.text
    cells = [
        [text_of(cell).replace(" ,", ",") for cell in re.findall(r"<td.*?>(.*?)</td>", row, re.DOTALL)]
        for row in re.findall(r"<tr>(.*?)</tr>", found[1], re.DOTALL)
    ]
    return {name: rest for name, *rest in cells}


def links(seen: Seen) -> set[str]:
    (table,) = re.findall(r'id="in-force".*?</section>', seen.text, re.DOTALL)
    return {html.unescape(each) for each in re.findall(r'href="(.*?)"', table)}


async def test_what_nobody_has_set_is_built_in(admin: Visitor) -> None:
    seen = await admin.get(PATH)
    assert "<h2>Limits and policies in force</h2>" in seen.text
    assert in_force(seen) == {
        "Requests per minute": [UNLIMITED, "built in", "Change, limits.data_per_minute"],
        "GraphQL requests per minute": [
            UNLIMITED,
            "built in",
            "Change, limits.graphql_per_minute",
        ],
        "Storage quota, MB": ["none", "built in", "Change, storage.quota_megabytes"],
        "Largest uploaded file, MB": ["100", "built in", "imports.megabytes"],
        "A token needs returns:write to create or change returns": [
            "no",
            "built in",
            "returns.require_write_ability",
        ],
        "Sandbox": ["no", "built in", "Change"],
        "Over-receipt, %": ["0", "built in", "Change the policies"],
        "Minimum stock": ["none", "built in", "Change the policies"],
    }


async def test_what_the_company_has_set_is_its_own_and_counts(admin: Visitor) -> None:
    own = {"requests_per_minute": "90", "graphql_per_minute": "45", "quota_megabytes": "2000"}
    assert (await sent(admin, f"{PATH}/change", **own)).status == 303
    assert (await sent(admin, f"{PATH}/policies", over_receipt_pct="2.5", min_stock="10")).status == 303
    found = in_force(await admin.get(PATH))
    assert {name: cells[:2] for name, cells in found.items() if cells[1] == "this company"} == {
        "Requests per minute": ["90", "this company"],
        "GraphQL requests per minute": ["45", "this company"],
        "Storage quota, MB": ["2 000", "this company"],
        "Over-receipt, %": ["2.5", "this company"],
        "Minimum stock": ["10", "this company"],
    }
    answer = await admin.world.call("GET", "/api/articles")
    assert answer.headers["X-RateLimit-Limit"] == "90"


async def test_each_leads_to_where_it_is_changed(admin: Visitor) -> None:
    addresses = links(await admin.get(PATH))
    assert addresses == {
        f"{PATH}/change",
        f"{PATH}/policies",
        *(
            f"/admin/settings?search={setting}"
            for setting in (
                *("limits.data_per_minute", "limits.graphql_per_minute", "storage.quota_megabytes"),
                *("imports.megabytes", "returns.require_write_ability"),
            )
        ),
    }
    for address in addresses:
        assert (await admin.get(address)).status == 200


async def test_a_sandbox_has_limits_of_its_own_and_webhooks_by_its_operator(admin: Visitor) -> None:
    operator = (await sent(admin, "/admin/operators/new", code="OPS", name="Ops")).goes_to.partition("?")[0]
    typed = {"sandbox": "true", "operator_code": "OPS"}
    assert (await sent(admin, f"{PATH}/change", **typed)).status == 303
    seen = await admin.get(PATH)
    found = in_force(seen)
    assert found["Sandbox"][:2] == ["yes", "this company"]
    assert found["Requests per minute"][2] == "Change, limits.sandbox_per_minute"
    assert found["Sandbox webhooks"] == ["no", "the operator", "Change the operator"]
    assert f"{operator}/change" in links(seen)
    assert (await sent(admin, f"{operator}/change", sandbox_webhooks="true")).status == 303
    assert in_force(await admin.get(PATH))["Sandbox webhooks"][0] == "yes"


async def test_a_company_of_a_sandbox_operator_is_one_by_its_operator(admin: Visitor) -> None:
    typed = {"code": "OPS", "name": "Ops", "sandbox": "true"}
    operator = (await sent(admin, "/admin/operators/new", **typed)).goes_to.partition("?")[0]
    assert (await sent(admin, f"{PATH}/change", operator_code="OPS")).status == 303
    seen = await admin.get(PATH)
    assert in_force(seen)["Sandbox"] == ["yes", "the operator", "Change, Change the operator"]
    assert f"{operator}/change" in links(seen)


@pytest.fixture
async def configured(tmp_path: Path) -> AsyncIterator[World]:
    layers = [Layer("file", "wmsd.toml", CONFIGURED)]
    async with open_world(tmp_path / "data", CONFIGURED, started=lambda _: Started(layers=layers)) as world:
        yield world


async def test_what_the_configuration_sets_says_so(configured: World) -> None:
    admin = await signed_in(configured)
    found = in_force(await admin.get(PATH))
    assert {name: cells[0] for name, cells in found.items() if cells[1] == "the configuration"} == {
        "Requests per minute": "300",
        "Storage quota, MB": "500",
        "A token needs returns:write to create or change returns": "yes",
    }


async def test_a_lead_is_told_and_led_only_to_what_a_lead_may_change(admin: Visitor) -> None:
    world = admin.world
    await world.new_user(LEAD, "company-admin", ["ACME"])
    lead = await signed_in_as(world, LEAD)
    seen = await lead.get(PATH)
    of_admin = in_force(await admin.get(PATH))
    assert {name: cells[:2] for name, cells in in_force(seen).items()} == {
        name: cells[:2] for name, cells in of_admin.items()
    }
    assert in_force(seen)["Requests per minute"][2] == "ask a platform admin"
    assert in_force(seen)["Minimum stock"][2] == "Change the policies"
    assert links(seen) == {f"{PATH}/policies"}


async def test_a_company_whose_file_is_out_of_service_is_still_shown(
    admin: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_: int) -> Problem:
        raise unavailable("The file is away.", 30)

    monkeypatch.setattr(admin.world.installation.files, "get", fails)
    seen = await admin.get(PATH)
    assert (seen.status, seen.heading) == (200, "ACME")
    (section,) = re.findall(r'id="in-force">(.*?)</section>', seen.text, re.DOTALL)
    assert text_of(section) == "Limits and policies in force The file is away."


async def test_in_romanian(admin: Visitor) -> None:
    seen = await admin.get(PATH, {"Accept-Language": "ro"})
    found = in_force(seen)
    assert "<h2>Limite și politici în vigoare</h2>" in seen.text
    assert found["Cereri pe minut"][1] == "din fabrică"
    assert found["Stoc minim"][0] == "niciunul"
