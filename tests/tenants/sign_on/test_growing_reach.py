"""An attacker uses Bob's link before Bob does, and keeps the password, a session and tokens. In whatever way Bob
gets more rights, the attacker's credentials gain none of them. Bob can use the rights after single sign-on, or
with a password chosen by a later link.
"""

import html
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.pages.administering import NEW_PASSWORD, chosen, id_of, invited, shown_once, signed_in_as
from tests.interfaces.pages.people.test_second_factor import code_now, enrolled, second_step
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.visitor import Visitor
from tests.support.world import PASSWORD, World
from tests.tenants.sign_on.providers import Scene, open_scene
from wmsd import docs
from wmsd.contract.validation import validate_model
from wmsd.interfaces.cli.kit.operations import act
from wmsd.maintenance.company_moves import deletion_store
from wmsd.tenants.accounts import user_administration
from wmsd.tenants.accounts.schema import UserSettingsPatch

BOB = "bob@example.com"
EVIL, CAROL, ROOT = "evil@example.com", "carol@example.com", "root@example.com"
"""The admin of ACME, the admin of ACME and OTHER, and the admin of everything."""
ACME, OTHER, MADE = 1, 2, 3
HAD = ["stock:read", "articles:read"]
AGAIN = "another long pass phrase"
CLAIMS = {"email": BOB, "email_verified": True, "name": "Bob", "sub": "bob", "groups": ["both"]}
RULES = [{"claim": "groups", "value": "both", "companies": ["ACME", "OTHER"], "abilities": HAD}]

KEEP, REACH = "keep what they have", "reach it at once"
WAITS, OPENS, CLOSED = "waits", "access", "no access"


@dataclass(frozen=True)
class New:
    """A new right of Bob: a list in a company, read by the pages and by the API."""

    company: int
    what: str = "articles"
    page: str = ""

    async def is_read_by(self, visitor: Visitor) -> bool:
        seen = await visitor.get(self.page or f"/companies/{self.company}/{self.what}")
        assert seen.status in (200, 403, 404), seen.text
        return seen.status == 200

    async def is_read_with(self, world: World, token: str) -> bool:
        answer = await world.send("GET", f"/api/{self.what}", token=token, company=self.company)
        assert answer.status in (200, 403, 422), answer.raw
        return answer.status == 200


@dataclass
class Held:
    """The credentials that the attacker who opened the link has kept."""

    session: Visitor
    tokens: list[str]


@dataclass
class Stage:
    scene: Scene
    admins: dict[str, Visitor] = field(default_factory=dict)

    @property
    def world(self) -> World:
        return self.scene.world

    async def change(self, by: str, **typed: str) -> None:
        admin = self.admins[by]
        done = await sent(admin, f"/admin/users/{await id_of(admin, BOB)}/change", **typed)
        assert done.status == 303, done.text

    async def link(self, by: str) -> str:
        admin = self.admins[by]
        return shown_once(await sent(admin, f"/admin/users/{await id_of(admin, BOB)}/link"))["link"]

    async def token_by_password(self, password: str, *abilities: str) -> str:
        """Return a token for these abilities, or an empty text if the password does not open all of them."""
        body = {"email": BOB, "password": password, "abilities": list(abilities), "device_name": "API"}
        answer = await self.world.send("POST", "/api/auth/token", body, token="", company="")
        assert answer.status in (200, 403), answer.raw
        return str(answer.body.get("token", ""))

    async def signed_on(self) -> Visitor:
        """Return the browser of Bob after single sign-on."""
        bob = Visitor(self.world)
        seen = await self.scene.provider.sign_on(bob)
        assert seen.status == 303, seen.text
        return bob


Grant = Callable[[Stage], Awaitable[object]]


@dataclass(frozen=True)
class Way:
    """A way in which Bob may get more rights. `password` and `afterwards` are the columns of the guide."""

    grant: Grant
    new: New
    existing: str = KEEP
    password: str = WAITS
    afterwards: str = OPENS
    granter: str = ROOT
    inviter: str = EVIL
    role: str = "member"


def given(by: str = ROOT, **typed: str) -> Grant:
    return lambda stage: stage.change(by, **typed)


async def at_the_command_line(stage: Stage) -> None:
    body = validate_model(UserSettingsPatch, {"company_codes": ["ACME", "OTHER"]})
    user_id = await id_of(stage.admins[ROOT], BOB)
    await act(stage.world.installation, user_administration.change_user, id=user_id, body=body)


async def by_the_rules(stage: Stage) -> None:
    await stage.signed_on()


async def an_operator(stage: Stage) -> None:
    await stage.world.new_operator("OPS")
    for company in (ACME, OTHER):
        done = await sent(stage.admins[ROOT], f"/admin/companies/{company}/change", operator_code="OPS")
        assert done.status == 303, done.text


async def a_company(stage: Stage) -> None:
    assert await stage.world.new_company("MADE") == MADE


BOTH = "ACME OTHER"
IN_OTHER, ADMIN = New(OTHER), New(ACME, "clients", page="/admin/users")
CLIENTS = {"abilities:clients:read": "on"}
WAYS: dict[str, Way] = {
    "Company, from an admin of both companies": Way(given(CAROL, company_codes=BOTH), IN_OTHER, granter=CAROL),
    "Company, from a platform admin": Way(given(company_codes=BOTH), IN_OTHER),
    "Company, from the command line": Way(at_the_command_line, IN_OTHER),
    "Company, from the rules of single sign-on": Way(by_the_rules, IN_OTHER),
    "Company, if a platform admin created the link": Way(
        given(company_codes=BOTH), IN_OTHER, password=OPENS, inviter=ROOT
    ),
    "Abilities, in companies of the link's creator": Way(given(**CLIENTS), New(ACME, "clients"), password=OPENS),
    "Abilities and a company": Way(given(company_codes=BOTH, **CLIENTS), New(ACME, "clients")),
    "Role company-admin, in companies of the link's creator": Way(
        given(role="company-admin"), ADMIN, password=OPENS
    ),
    "Role company-admin and a company": Way(given(role="company-admin", company_codes=BOTH), ADMIN),
    "Role platform-admin": Way(given(role="platform-admin", company_codes=""), IN_OTHER),
    "New company, for a platform admin": Way(
        a_company, New(MADE), REACH, OPENS, inviter=ROOT, role="platform-admin"
    ),
    "Operator of a company, or companies of an operator": Way(
        an_operator, IN_OTHER, password=CLOSED, afterwards=CLOSED
    ),
}


@asynccontextmanager
async def staged(folder: Path, **configured: Any) -> AsyncIterator[Stage]:
    async with open_scene(folder, configured) as scene:
        world = scene.world
        scene.provider.claims = dict(CLAIMS)
        assert await world.new_company("OTHER") == OTHER
        await world.new_user(ROOT, "platform-admin")
        await world.new_user(EVIL, "company-admin", ["ACME"])
        await world.new_user(CAROL, "company-admin", ["ACME", "OTHER"])
        admins = {email: await signed_in_as(world, email) for email in (ROOT, EVIL, CAROL)}
        yield Stage(scene, admins)


async def held_before(stage: Stage, inviter: str = EVIL, role: str = "member") -> Held:
    """Invite Bob, let the attacker open the link, and return what the attacker keeps."""
    admin = stage.admins[inviter]
    is_member = role == "member"
    typed = {f"abilities:{name}": "on" for name in HAD} if is_member else {}
    codes = "ACME" if is_member else ""
    link = await invited(admin, BOB, role=role, company_codes=codes, **typed)
    assert (await chosen(Visitor(stage.world), link)).status == 303
    session = await signed_in_as(stage.world, BOB, NEW_PASSWORD)
    abilities = {f"abilities:{name}": "on" for name in (HAD if is_member else ["*"])}
    own = shown_once(await sent(session, "/admin/tokens/new", name="own", **abilities))["token"]
    by_admin = await sent(admin, "/admin/tokens/new", name="given", user=BOB, **abilities)
    by_password = await stage.token_by_password(NEW_PASSWORD, *(HAD if is_member else ["*"]))
    return Held(session, [own, shown_once(by_admin)["token"], by_password])


async def check_that_all_goes_on(world: World, held: Held) -> None:
    assert (await held.session.get(f"/companies/{ACME}/stock")).status == 200
    for token in held.tokens:
        assert (await world.send("GET", "/api/stock", token=token, company=ACME)).status == 200


async def check_existing(stage: Stage, held: Held, way: Way) -> None:
    expected = way.existing == REACH
    assert await way.new.is_read_by(held.session) is expected
    assert [await way.new.is_read_with(stage.world, each) for each in held.tokens] == [expected] * 3
    await check_that_all_goes_on(stage.world, held)


async def check_password(stage: Stage, way: Way) -> None:
    """Check what the old password opens, and what a token created with the old password opens."""
    again = await signed_in_as(stage.world, BOB, NEW_PASSWORD)
    assert await way.new.is_read_by(again) is (way.password == OPENS)
    needed = f"{way.new.what}:read"
    token = await stage.token_by_password(NEW_PASSWORD, needed)
    assert bool(token and await way.new.is_read_with(stage.world, token)) is (way.password == OPENS)
    made = await sent(again, "/admin/tokens/new", name="later", **{f"abilities:{needed}": "on"})
    token = shown_once(made)["token"] if made.status == 200 else ""
    assert bool(token and await way.new.is_read_with(stage.world, token)) is (way.password == OPENS)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_what_exists_does_not_grow_and_bob_comes_in_by_a_new_link(tmp_path: Path, way: Way) -> None:
    async with staged(tmp_path, follow_rules=True, rules=RULES) as stage:
        held = await held_before(stage, way.inviter, way.role)
        await way.grant(stage)
        await check_existing(stage, held, way)
        await check_password(stage, way)
        own_link = await stage.link(way.granter)
        assert (await chosen(Visitor(stage.world), own_link, AGAIN, AGAIN)).status == 303
        assert (await Visitor(stage.world).sign_in(BOB, NEW_PASSWORD)).status == 401
        bob = await signed_in_as(stage.world, BOB, AGAIN)
        assert await way.new.is_read_by(bob) is (way.afterwards == OPENS)
        token = await stage.token_by_password(AGAIN, f"{way.new.what}:read")
        assert bool(token and await way.new.is_read_with(stage.world, token)) is (way.afterwards == OPENS)
        assert (await held.session.get("/today")).status == 303, "a new password ends sessions, as ever"
        for kept in held.tokens[:2]:
            assert await way.new.is_read_with(stage.world, kept) is (way.existing == REACH)
            assert (await stage.world.send("GET", "/api/stock", token=kept, company=ACME)).status == 200


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_bob_comes_in_by_single_sign_on_and_the_password_still_waits(tmp_path: Path, way: Way) -> None:
    rules = {"follow_rules": True, "rules": RULES} if way.grant is by_the_rules else {}
    async with staged(tmp_path, **rules) as stage:
        held = await held_before(stage, way.inviter, way.role)
        await way.grant(stage)
        bob = await stage.signed_on()
        assert await way.new.is_read_by(bob) is (way.afterwards == OPENS)
        await check_existing(stage, held, way)
        await check_password(stage, way)
        assert await way.new.is_read_by(bob) is (way.afterwards == OPENS)


def test_the_guide_has_the_same_table() -> None:
    page = (Path(docs.__file__).parent / "people.md").read_text(encoding="utf-8")
    section = page.partition("## More rights")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    table = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines[2:]]
    assert table == [(name, way.password, way.afterwards) for name, way in WAYS.items()]


async def test_who_grants_and_who_waits_are_told(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        held = await held_before(stage)
        root = stage.admins[ROOT]
        path = f"/admin/users/{await id_of(root, BOB)}"
        assert "New rights are waiting" not in (await root.get(path)).text
        done = await sent(root, f"{path}/change", company_codes=BOTH, role="company-admin")
        seen = await root.get(done.goes_to)
        assert "The user is changed. The new rights are waiting: see below." in seen.text
        assert f"First {BOB} must sign in by single sign-on, or set a new password" in seen.text
        assert f'<a class="button" href="{path}/link">Create password link</a></p>' in seen.text
        facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", seen.text))
        assert (facts["Pending companies"], facts["Pending role"]) == ("OTHER", "company-admin")
        for page in ("/today", "/account"):
            told = html.unescape((await held.session.get(page)).text)
            assert "You cannot use your new rights or companies yet" in told
            assert "OTHER" not in told, "whoever kept the session learns nothing of the company"
        link = shown_once(await sent(root, f"{path}/link"))["link"]
        assert (await chosen(Visitor(stage.world), link, AGAIN, AGAIN)).status == 303
        seen = await root.get(path)
        assert ("New rights are waiting" in seen.text, "Pending" in seen.text) == (False, False)
        assert (
            "new rights or companies"
            not in (await (await signed_in_as(stage.world, BOB, AGAIN)).get("/today")).text
        )


async def test_who_only_has_to_sign_in_again_is_told_so(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        held = await held_before(stage)
        await stage.change(EVIL, **CLIENTS)
        told = (await held.session.get("/today")).text
        assert (
            "You were given new rights or companies after you signed in here. Sign out and sign in again" in told
        )
        again = await signed_in_as(stage.world, BOB, NEW_PASSWORD)
        assert "new rights or companies" not in (await again.get("/today")).text


async def test_no_other_link_opens_what_waits(tmp_path: Path) -> None:
    """Neither an older link nor a link from someone who knows an admin's password opens the waiting rights."""
    async with staged(tmp_path) as stage:
        await held_before(stage)
        before = await stage.link(EVIL)
        await stage.change(ROOT, company_codes=BOTH)
        assert (await chosen(Visitor(stage.world), before)).status == 404
        evil = stage.admins[EVIL]
        assert BOB not in (await evil.get("/admin/users")).text
        bob = await id_of(stage.admins[ROOT], BOB)
        token = (await evil.get("/account")).form_token
        assert (await evil.post(f"/admin/users/{bob}/link", {"form_token": token})).status == 404


async def test_another_password_that_whoever_knows_the_old_one_chooses_opens_no_more(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        held = await held_before(stage)
        await stage.change(ROOT, company_codes=BOTH)
        token = (await held.session.get("/account/password")).form_token
        typed = {"form_token": token, "current": NEW_PASSWORD, "password": AGAIN, "again": AGAIN}
        assert (await held.session.post("/account/password", typed)).goes_to.startswith("/account?done=password")
        assert not await IN_OTHER.is_read_by(held.session)
        assert not await IN_OTHER.is_read_by(await signed_in_as(stage.world, BOB, AGAIN))


async def test_an_admin_whose_rights_wait_vouches_for_no_more_than_the_session_reaches(tmp_path: Path) -> None:
    """Evil knows the password of the admin Bob and invites a user: the password of that user is no better."""
    async with staged(tmp_path) as stage:
        held = await held_before(stage)
        await stage.change(EVIL, role="company-admin")
        await stage.change(ROOT, company_codes=BOTH)
        impostor = await signed_in_as(stage.world, BOB, NEW_PASSWORD)
        link = await invited(
            impostor, "sid@example.com", company_codes="ACME", **{"abilities:articles:read": "on"}
        )
        assert (await chosen(Visitor(stage.world), link)).status == 303
        root = stage.admins[ROOT]
        number = await id_of(root, "sid@example.com")
        assert (await sent(root, f"/admin/users/{number}/change", company_codes=BOTH)).status == 303
        sid = await signed_in_as(stage.world, "sid@example.com", NEW_PASSWORD)
        assert not await IN_OTHER.is_read_by(sid)
        assert not await IN_OTHER.is_read_by(held.session)


async def test_what_shrinks_shrinks_at_once_and_what_is_given_back_is_new(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        held = await held_before(stage)
        await stage.change(ROOT, company_codes="OTHER")
        assert (await held.session.get(f"/companies/{ACME}/stock")).status == 404
        for token in held.tokens:
            assert (await stage.world.send("GET", "/api/stock", token=token, company=ACME)).status == 422
        await stage.change(ROOT, company_codes="ACME")
        assert (await held.session.get(f"/companies/{ACME}/stock")).status == 404
        for token in held.tokens:
            assert (await stage.world.send("GET", "/api/stock", token=token, company=ACME)).status == 422


async def test_the_password_of_who_made_no_link_is_that_of_a_platform_admin(tmp_path: Path) -> None:
    """`wmsd user create` and `set-password` are run by a person with access to the machine."""
    async with staged(tmp_path) as stage:
        await stage.world.new_user(BOB, "member", ["ACME"], HAD)
        await stage.change(ROOT, company_codes=BOTH)
        assert await IN_OTHER.is_read_by(await signed_in_as(stage.world, BOB, PASSWORD))


async def test_a_second_factor_opens_no_more_than_the_password(tmp_path: Path) -> None:
    """Anyone who knows the password can set up a second factor."""
    async with staged(tmp_path) as stage:
        held = await held_before(stage)
        secret, _ = await enrolled(held.session)
        await stage.change(ROOT, company_codes=BOTH)
        again = Visitor(stage.world)
        (pending,) = re.findall(r'name="pending" value="(.*?)"', (await again.sign_in(BOB, NEW_PASSWORD)).text)
        done = await second_step(again, html.unescape(pending), code_now(stage.world, secret))
        assert done.status == 303
        assert await New(ACME).is_read_by(again)
        assert not await IN_OTHER.is_read_by(again)


async def test_what_waits_for_a_company_that_is_deleted_waits_no_more(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        held = await held_before(stage)
        await stage.change(ROOT, company_codes=BOTH)
        installation = stage.world.installation
        company = (await installation.access.companies())[OTHER]
        await installation.platform.write(lambda tx: deletion_store.end(tx, company))
        root = stage.admins[ROOT]
        assert "New rights are waiting" not in (await root.get(f"/admin/users/{await id_of(root, BOB)}")).text
        assert "new rights" not in (await held.session.get("/today")).text
