"""Attacks on every address of the pages that is served: a new page is attacked without a change in this file."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.interfaces.pages.records.test_act import form_of
from tests.interfaces.pages.visitor import Visitor, with_secret
from tests.support.page_addresses import Address, addresses
from tests.support.thorough import IS_THOROUGH
from tests.support.two_tenants import OWN, THEIRS, TwoTenants, open_premises
from tests.support.world import PASSWORD, UNLIMITED, World, all_rows, open_world
from wmsd.contract.access import ABILITIES, Role, has_role
from wmsd.contract.operation import Operation
from wmsd.interfaces.pages.records.browse import ROUTE_OF

TRIES: Final = 10_000 if IS_THOROUGH else 2_000
SCRIPT: Final = '"></textarea><script>alert(1)</script>'
FOR_EVERYBODY: Final = {
    "/",
    "/sign-in",
    "/sign-in/{provider}",
    "/sign-in/{provider}/back",
    "/first-admin",
    "/demo",
    "/welcome",
    "/live",
    "/second-step",
    "/trust",
    "/trust/wmsd-authority.crt",
}
"""The addresses that reply to visitors who are not signed in."""
HANDED_OVER: Final = {"/sign-out", "/sign-in/{provider}", "/sign-in/{provider}/back", "/live"}
"""The addresses that redirect the browser, or whose reply never ends."""
PEOPLE: Final[dict[str, tuple[Role, tuple[str, ...], tuple[str, ...]]]] = {
    "counter": ("member", (OWN,), ("stock:read",)),
    "reader": ("member", (OWN,), tuple(each for each in ABILITIES if each.endswith(":read"))),
    "worker": ("member", (OWN,), tuple(ABILITIES)),
    "lead": ("company-admin", (OWN,), ()),
    "owner": ("platform-admin", (), ()),
}


@dataclass
class Scene:
    world: World
    own: TwoTenants
    theirs: TwoTenants
    people: dict[str, Visitor]

    def addresses(self, method: str, company: TwoTenants | None = None) -> list[Address]:
        of = company or self.own
        return [each for each in addresses(self.world.app, of.id, of.there) if each.method == method]

    async def rows(self) -> list[Any]:
        """Return all rows of both companies and of the platform, except sessions and the clock."""
        platform = await self.world.installation.platform.read(all_rows)
        return [await self.own.rows(), await self.theirs.rows(), {**platform, "sessions": [], "clock": []}]


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    settings = {
        **UNLIMITED,
        "limits": {**UNLIMITED["limits"], "pages_per_minute": 10**6, "auth_per_minute": 10**6},
    }
    async with open_world(tmp_path / "data", settings) as world:
        own, theirs = await open_premises(world, 5)
        people = {}
        for name, (role, codes, abilities) in PEOPLE.items():
            email = f"{name}@example.com"
            await world.new_user(email, role, codes, abilities)
            people[name] = Visitor(world)
            await people[name].sign_in(email, PASSWORD)
        yield Scene(world, own, theirs, people)


def test_the_addresses_are_all_there(scene: Scene) -> None:
    assert len({each.route for each in addresses(scene.world.app, scene.own.id, scene.own.there)}) > 30
    assert len(scene.addresses("GET")) > 90


async def test_who_is_not_signed_in_is_asked_to_sign_in_everywhere(scene: Scene) -> None:
    gone = scene.people["owner"]
    stolen = Visitor(scene.world, dict(gone.cookies))
    token = (await gone.get("/account")).form_token
    await gone.post("/sign-out", {"form_token": token})
    for each in scene.addresses("GET"):
        if each.route in FOR_EVERYBODY:
            continue
        for visitor in (
            Visitor(scene.world),
            with_secret(scene.world, "x" * 43),
            Visitor(scene.world, {**stolen.cookies}),
        ):
            seen = await visitor.get(each.path)
            assert (seen.status, seen.goes_to[:8]) == (303, "/sign-in"), each.path


async def test_every_page_is_private_and_in_no_frame(scene: Scene) -> None:
    """No page changes anything: a link on another site opens the page with the cookie (SameSite=Lax)."""
    before, shown = await scene.rows(), 0
    for each in scene.addresses("GET"):
        if each.route in HANDED_OVER:
            continue
        seen = await scene.people["owner"].get(each.path, {"Sec-Fetch-Site": "cross-site"})
        assert seen.status < 500, each.path
        policy = seen.headers.get("Content-Security-Policy", "")
        assert seen.headers["Cache-Control"] == "no-store", each.path
        assert seen.headers["X-Content-Type-Options"] == "nosniff"
        if seen.status == 200:
            assert "frame-ancestors 'none'" in policy, each.path
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            shown += 1
    assert shown > 60
    assert await scene.rows() == before


async def test_forms_of_others_are_refused_and_change_nothing(scene: Scene) -> None:
    admin, other = scene.people["owner"], scene.people["lead"]
    own_token, others_token = [(await each.get("/account")).form_token for each in (admin, other)]
    before = await scene.rows()
    for each in scene.addresses("POST"):
        for site in ("cross-site", "same-site", "none"):
            seen = await admin.post(each.path, {"form_token": own_token}, site=site)
            assert seen.status in _refusing(each), (each.path, site)
        foreign = {"Origin": "https://attacker.example"}
        for headers in (foreign, {}):
            seen = await admin.post(each.path, {"form_token": own_token}, headers, site="")
            assert seen.status in _refusing(each), each.path
        if each.route not in FOR_EVERYBODY:
            for fields in ({}, {"form_token": ""}, {"form_token": others_token}):
                assert (await admin.post(each.path, fields)).status == 403, each.path
    assert await scene.rows() == before


def _refusing(each: Address) -> tuple[int, ...]:
    """Return the statuses of a refusal; a used link is not found."""
    return (403, 404) if each.route in FOR_EVERYBODY else (403,)


@pytest.mark.parametrize("name", ["worker", "lead"])
async def test_another_company_is_not_there(scene: Scene, name: str) -> None:
    visitor = scene.people[name]
    token = (await visitor.get("/account")).form_token
    before = await scene.rows()
    for each in (*scene.addresses("GET", scene.theirs), *scene.addresses("POST", scene.theirs)):
        if not each.is_of_company:
            continue
        asked = visitor.get(each.path) if each.method == "GET" else visitor.post(each.path, {"form_token": token})
        seen = await asked
        assert seen.status == 404, each
        assert THEIRS not in seen.text
    assert await scene.rows() == before


async def test_a_record_of_another_company_is_not_there(scene: Scene) -> None:
    visitor = scene.people["owner"]
    token = (await visitor.get("/account")).form_token
    before = await scene.rows()
    for method in ("GET", "POST"):
        for each in addresses(scene.world.app, scene.own.id, scene.theirs.alone):
            if each.method != method or not each.is_of_company or "{id}" not in each.route:
                continue
            if each.path in {own.path for own in scene.addresses(method)}:
                continue  # this kind of record always exists once in each company
            fields = {"form_token": token, "name": "Taken"}
            seen = await (visitor.get(each.path) if method == "GET" else visitor.post(each.path, fields))
            assert seen.status in (404, 422), each
    assert await scene.rows() == before


@pytest.mark.parametrize("name", PEOPLE)
async def test_pages_decide_as_operations_do(scene: Scene, name: str) -> None:
    """For each list, record and act, a user without the role or the ability is refused, and changes nothing."""
    visitor = scene.people[name]
    token = (await visitor.get("/account")).form_token
    role, _, abilities = PEOPLE[name]
    api_token = await scene.world.new_token(f"{name}@example.com", abilities if role == "member" else ("*",))
    before, allowed = await scene.rows(), 0
    for each in (*scene.addresses("GET"), *scene.addresses("POST")):
        operation = _operation(each)
        if operation is None:
            continue
        may = _may(name, operation)
        if each.method == "POST" and may:
            continue  # the tests of the acts show that these users can
        seen = await (
            visitor.get(each.path) if each.method == "GET" else visitor.post(each.path, {"form_token": token})
        )
        refused = seen.status in ((403,) if each.method == "GET" else (403, 404))
        if may and "{act}" in each.route:
            assert seen.status in (200, 403, 404), each  # a form also needs its record
            continue
        assert refused != may, (each, seen.status)
        allowed += may
        route = ROUTE_OF.get(operation.name)
        if route is not None and route.method == "GET" and "{id}" not in route.path:
            answer = await scene.world.send("GET", route.path, token=api_token, company=scene.own.id)
            assert (answer.status == 403) == refused, each
    assert allowed
    assert await scene.rows() == before


def _operation(each: Address) -> Operation | None:
    """Return the operation that an address of the resource tables checks first."""
    resource = each.resource
    if resource is None:
        return None
    if "{act}" in each.route:
        act = each.path.rpartition("/")[2]
        return resource.act(act, makes_one="{id}" not in each.route).operation
    if each.route.endswith(".csv"):
        return resource.walking
    return resource.one if "{id}" in each.route else resource.listing


def _may(name: str, operation: Operation) -> bool:
    role, _, abilities = PEOPLE[name]
    if operation.role is not None:
        return has_role(role, operation.role)
    ability = operation.ability
    return ability is None or role != "member" or ability in abilities


async def test_script_in_every_field_of_every_form_is_text(scene: Scene) -> None:
    visitor, forms = scene.people["owner"], 0
    for each in scene.addresses("GET"):
        if "{act}" not in each.route:
            continue
        seen = await visitor.get(each.path)
        if seen.status != 200:
            continue
        fields = form_of(seen)
        typed = {
            name: value if name in ("form_token", "idempotency_key", "if_match") or value == "on" else SCRIPT
            for name, value in fields.items()
        }
        if set(typed.values()).isdisjoint({SCRIPT}):
            continue  # the form has no field to type in
        answered = await visitor.post(each.path, typed)
        assert answered.status < 500, each.path
        assert "<script>alert" not in answered.text, each.path
        forms += 1
    assert forms >= 8


async def test_a_session_that_somebody_set_is_not_taken(scene: Scene) -> None:
    fixed = with_secret(scene.world, "chosen-by-an-attacker")
    await fixed.sign_in("owner@example.com", PASSWORD)
    assert fixed.secret not in (None, "chosen-by-an-attacker")
    assert (await with_secret(scene.world, "chosen-by-an-attacker").get("/today")).status == 303


ELSEWHERE: Final[Sequence[str]] = (
    "https://attacker.example/",
    "//attacker.example",
    "/\\attacker.example",
    "\\\\attacker.example",
    "/\tattacker.example",
    "javascript:alert(1)",
    "/today\r\nSet-Cookie: wmsd=x",
    " /today",
    "/" + "a" * 600,
)


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
async def test_nobody_is_led_to_another_site(scene: Scene, elsewhere: str) -> None:
    visitor = Visitor(scene.world)
    seen = await visitor.sign_in("reader@example.com", PASSWORD, elsewhere)
    assert seen.status == 303
    assert seen.goes_to.startswith("/")
    assert "attacker" not in seen.goes_to
    assert "\r" not in seen.goes_to


async def test_thousands_of_tries_to_sign_in(tmp_path: Path) -> None:
    """Few attempts are checked, all others are refused immediately, and the owner of the password can sign in from
    elsewhere.
    """
    async with open_world(tmp_path / "data", {"server": {"trusted_proxies": ["127.0.0.1/32"]}}) as world:
        await world.new_user("ana@example.com", "platform-admin")
        at_home = {"X-Forwarded-For": "10.0.0.7"}
        ana = Visitor(world)
        fields = {"email": "ana@example.com", "password": PASSWORD, "next": ""}
        assert (await ana.post("/sign-in", fields, at_home)).status == 303
        statuses: dict[int, int] = {}
        for number in range(TRIES):
            guess = {**fields, "password": f"guess {number}"}
            status = (await Visitor(world).post("/sign-in", guess, {"X-Forwarded-For": "203.0.113.9"})).status
            statuses[status] = statuses.get(status, 0) + 1
        assert set(statuses) <= {401, 422, 429}
        assert statuses[429] > TRIES - 100
        assert (await Visitor(world).post("/sign-in", fields, at_home)).status == 303
