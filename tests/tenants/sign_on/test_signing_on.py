"""People sign in through a provider: a known person gets in, with their own rights and no more."""

import os
from pathlib import Path

import pytest

from tests.interfaces.pages.visitor import Visitor, cookie_of, sign_on_cookie_of
from tests.support.world import PASSWORD, World
from tests.tenants.sign_on.providers import ANA, SUBJECT, Provider, Scene, open_scene, public
from wmsd.tenants.accounts import actions as accounts
from wmsd.tenants.accounts import store
from wmsd.tenants.accounts.rules import User
from wmsd.tenants.sign_on.actions import unlink_user

OF_ACME = {"claim": "groups", "value": "wms-acme", "companies": ["ACME"], "abilities": ["stock:read"]}
OF_ADMINS = {"claim": "groups", "value": "wms-admins", "role": "platform-admin"}


async def user(world: World, email: str = "ana@example.com") -> User | None:
    return await world.installation.platform.read(lambda tx: store.user_by_email(tx, email))


async def is_in(visitor: Visitor) -> bool:
    return (await visitor.get("/today")).status == 200


async def test_who_is_known_by_the_e_mail_address_comes_in(scene: Scene) -> None:
    form = await scene.visitor.get("/sign-in?next=/account")
    assert 'href="/sign-in/company?next=/account"' in form.text
    begun = await scene.provider.begin(scene.visitor, "/account")
    assert begun.status == 303
    assert begun.goes_to.startswith(f"{scene.provider.issuer}/authorize?tenant=1&response_type=code&")
    assert scene.provider.begun["redirect_uri"] == f"{scene.world.base_url}/sign-in/company/back"
    assert scene.provider.begun["code_challenge_method"] == "S256"
    assert set(scene.visitor.cookies) == {sign_on_cookie_of(scene.world)}
    done = await scene.provider.come_back(scene.visitor)
    assert (done.status, done.goes_to) == (303, "/account")
    assert set(scene.visitor.cookies) == {cookie_of(scene.world)}
    assert await is_in(scene.visitor)
    assert (await scene.audit())[-2:] == [
        ("user.link company", "ana@example.com"),
        ("session.begin by company", "ana@example.com"),
    ]


async def test_the_cookies_go_where_they_must_and_nowhere_else(scene: Scene) -> None:
    """The provider redirects the browser back, so the cookies are sent with links from other sites, but not with
    forms.
    """
    begun = await scene.provider.begin(scene.visitor)
    assert begun.headers["Set-Cookie"].endswith("HttpOnly; Max-Age=600; Path=/; SameSite=Lax")
    done = await scene.provider.come_back(scene.visitor)
    assert done.headers["Set-Cookie"].endswith("HttpOnly; Path=/; SameSite=Lax")


async def test_the_provider_leads_back_to_the_public_url(tmp_path: Path) -> None:
    public = {"public_url": "https://wms.example.com"}
    async with open_scene(tmp_path / "data", server=public) as scene:
        await scene.provider.begin(scene.visitor)
        assert scene.provider.begun["redirect_uri"] == "https://wms.example.com/sign-in/company/back"


async def test_an_account_is_linked_and_stays_so_when_its_address_changes(scene: Scene) -> None:
    await scene.provider.sign_on(scene.visitor)
    scene.provider.claims = {"email": "other@example.com"}
    again = Visitor(scene.world)
    assert (await scene.provider.sign_on(again)).goes_to == "/today"
    assert "ana@example.com" in (await again.get("/account")).text


async def test_another_account_with_the_same_address_is_not_let_in(scene: Scene) -> None:
    """A person who gets the mailbox of a former colleague does not get the colleague's user."""
    await scene.provider.sign_on(scene.visitor)
    scene.provider.claims = {**ANA, "sub": "subject-2"}
    other = Visitor(scene.world)
    seen = await scene.provider.sign_on(other)
    assert seen.status == 403
    assert "another account of the provider is linked with the user ana@example.com" in seen.text
    assert other.secret is None
    assert await scene.world.installation.platform.write(lambda tx: unlink_user(tx, "ana@example.com")) == 1
    assert not await is_in(scene.visitor)
    assert (await scene.provider.sign_on(other)).status == 303


@pytest.mark.parametrize(
    ("made", "claimed"),
    [("josé@example.com", "Jose\u0301@Example.com"), ("ana@müller.example", "ana@xn--mller-kva.example")],
)
async def test_one_mailbox_is_one_user_however_the_provider_writes_it(
    scene: Scene, made: str, claimed: str
) -> None:
    user_id = await scene.world.new_user(made, "platform-admin")
    scene.provider.claims = {**ANA, "email": claimed}
    assert (await scene.provider.sign_on(scene.visitor)).goes_to == "/today"
    found = await user(scene.world, made)
    assert found is not None
    assert (found.id, (await scene.audit())[-2]) == (user_id, ("user.link company", found.email))


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        (
            {"email": "nobody@example.com"},
            "no user has the e-mail address nobody@example.com. Ask a platform admin",
        ),
        ({"email_verified": False}, "does not confirm that the address ana@example.com is verified"),
        ({"email_verified": None}, "does not confirm that the address ana@example.com is verified"),
        ({"email_verified": "yes"}, "does not confirm that the address ana@example.com is verified"),
        ({"email_verified": 1}, "does not confirm that the address ana@example.com is verified"),
        ({"email": None}, "sent no e-mail address (claim email)"),
        ({"email": 7}, "sent no e-mail address (claim email)"),
        ({"email": "\u212aim@example.com"}, "the e-mail address is not valid for users of this installation"),
        ({"email": "a@b, ana@example.com"}, "the e-mail address is not valid for users of this installation"),
        ({"email": "an\u200ba@example.com"}, "the e-mail address is not valid for users of this installation"),
    ],
)
async def test_no_match_is_no_entry(scene: Scene, claims: dict[str, object], says: str) -> None:
    await scene.world.new_user("kim@example.com", "platform-admin")
    scene.provider.claims = {**ANA, **claims}
    seen = await scene.provider.sign_on(scene.visitor)
    assert (seen.status, seen.heading) == (403, "You are not signed in")
    assert "company says that you are" in seen.text
    assert says in seen.text
    assert scene.visitor.cookies == {}


async def test_a_disabled_user_is_not_let_in(scene: Scene) -> None:
    await scene.provider.sign_on(scene.visitor)
    await scene.world.installation.platform.write(lambda tx: accounts.disable_user(tx, "ana@example.com"))
    seen = await scene.provider.sign_on(Visitor(scene.world))
    assert (seen.status, "the user ana@example.com is disabled" in seen.text) == (403, True)
    assert not await is_in(scene.visitor)


async def test_a_new_sign_on_ends_the_session_before(scene: Scene) -> None:
    await scene.visitor.sign_in("ana@example.com", PASSWORD)
    before = Visitor(scene.world, dict(scene.visitor.cookies))
    await scene.provider.sign_on(scene.visitor)
    assert await is_in(scene.visitor)
    assert not await is_in(before)


async def test_what_the_id_token_lacks_is_asked_for(scene: Scene) -> None:
    scene.provider.claims, scene.provider.more = {}, dict(ANA)
    assert (await scene.provider.sign_on(scene.visitor)).status == 303
    assert scene.provider.asked[-1] == "/userinfo"


async def test_userinfo_about_another_subject_is_not_believed(scene: Scene) -> None:
    scene.provider.claims, scene.provider.more = {}, {**ANA, "sub": "subject-2"}
    assert (await scene.provider.sign_on(scene.visitor)).status == 503
    assert scene.visitor.secret is None


async def test_the_secret_can_stand_in_the_form_and_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("s+cr/t: %\n")
    async with open_scene(tmp_path / "data", {"client_secret": "", "client_secret_file": str(file)}) as scene:
        await scene.world.new_user("ana@example.com", "platform-admin")
        scene.provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
        assert (await scene.provider.sign_on(scene.visitor)).status == 303
        file.unlink()
        assert (await scene.provider.sign_on(scene.visitor)).status == 503
        os.mkfifo(file)
        assert (await scene.provider.sign_on(scene.visitor)).status == 503, "nobody waits for its other end"
        file.unlink()
        file.write_text("\n")
        assert (await scene.provider.sign_on(scene.visitor)).status == 503, "an empty secret is none"


@pytest.mark.parametrize("algorithm", ["RS256", "RS512", "PS256", "PS384", "ES256", "ES384", "ES512", "EdDSA"])
async def test_every_accepted_algorithm(scene: Scene, algorithm: str) -> None:
    scene.provider.keys = [public("ES256", 7), public(algorithm, 1, use="sig", alg=algorithm)]
    scene.provider.signs_with, scene.provider.head = (algorithm, 1), {"kid": f"{algorithm}-1"}
    assert (await scene.provider.sign_on(scene.visitor)).status == 303


async def test_the_addresses_of_another_claim_are_trusted_only_when_told_so(tmp_path: Path) -> None:
    """`email_verified` says nothing about addresses in another claim."""
    claims = {"upn": "ana@example.com", "email_verified": True, "name": "Ana"}
    for trusts, status in ((False, 403), (True, 303)):
        configured = {"email_claim": "upn", "trust_email": trusts}
        async with open_scene(tmp_path / str(trusts), configured) as scene:
            await scene.world.new_user("ana@example.com", "platform-admin")
            scene.provider.claims = claims
            assert (await scene.provider.sign_on(scene.visitor)).status == status


async def test_a_new_user_is_made_with_what_the_rules_give(tmp_path: Path) -> None:
    async with open_scene(tmp_path / "data", {"create_users": True, "rules": [OF_ADMINS, OF_ACME]}) as scene:
        scene.provider.claims = {**ANA, "groups": ["wms-acme", "others"]}
        assert (await scene.provider.sign_on(scene.visitor)).status == 303
        made = await user(scene.world)
        assert made is not None
        assert (made.name, made.role, made.abilities) == ("Ana", "member", ("stock:read",))
        assert made.company_ids == {scene.world.company}
        assert [each for each in await scene.audit() if each[1] == "ana@example.com"] == [
            ("user.create member by company", "ana@example.com"),
            ("user.link company", "ana@example.com"),
            ("session.begin by company", "ana@example.com"),
        ]
        assert (await scene.visitor.get("/companies/1/stock")).status == 200
        scene.provider.claims = {**ANA, "groups": ["wms-admins"]}
        assert (await scene.provider.sign_on(scene.visitor)).status == 303
        still = await user(scene.world)
        assert still is not None
        assert still.role == "member", "the rules are for new users only"


async def test_no_password_opens_a_user_that_a_provider_has_made(tmp_path: Path) -> None:
    async with open_scene(tmp_path / "data", {"create_users": True, "rules": [OF_ACME]}) as scene:
        scene.provider.claims = {**ANA, "groups": "wms-acme"}
        await scene.provider.sign_on(scene.visitor)
        for guess in ("nobody has this password", "x", " "):
            assert (await Visitor(scene.world).sign_in("ana@example.com", guess)).status == 401


async def test_nobody_is_made_whom_no_rule_fits(tmp_path: Path) -> None:
    async with open_scene(tmp_path / "data", {"create_users": True, "rules": [OF_ACME]}) as scene:
        for groups in (None, [], ["others"], "wms-acme-2", {"wms-acme": 1}, 5):
            scene.provider.claims = {**ANA, "groups": groups}
            seen = await scene.provider.sign_on(scene.visitor)
            assert (seen.status, "no rule matches this account" in seen.text) == (403, True)
        assert await user(scene.world) is None


async def test_rights_follow_the_rules_at_every_sign_on(tmp_path: Path) -> None:
    async with open_scene(tmp_path / "data", {"follow_rules": True, "rules": [OF_ADMINS, OF_ACME]}) as scene:
        await scene.world.new_user("ana@example.com", "member", [], ["articles:read"])
        scene.provider.claims = {**ANA, "groups": ["wms-admins"]}
        await scene.provider.sign_on(scene.visitor)
        first = await user(scene.world)
        assert first is not None and (first.role, first.may_use) == ("platform-admin", None)
        scene.provider.claims = {**ANA, "groups": ["wms-acme"]}
        await scene.provider.sign_on(Visitor(scene.world))
        then = await user(scene.world)
        assert then is not None
        assert (then.role, then.abilities) == ("member", ("stock:read",))
        assert then.company_ids == {scene.world.company}
        assert (await scene.visitor.get("/companies/1/articles")).status == 403, "also where one was signed in"
        scene.provider.claims = {**ANA, "groups": []}
        assert (await scene.provider.sign_on(Visitor(scene.world))).status == 403
        assert await is_in(scene.visitor), "a session that has begun goes on"


async def test_the_last_platform_admin_is_kept(tmp_path: Path) -> None:
    async with open_scene(tmp_path / "data", {"follow_rules": True, "rules": [OF_ACME]}) as scene:
        await scene.world.new_user("ana@example.com", "platform-admin")
        await scene.world.installation.platform.write(lambda tx: accounts.disable_user(tx, "admin@example.com"))
        scene.provider.claims = {**ANA, "groups": ["wms-acme"]}
        seen = await scene.provider.sign_on(scene.visitor)
        assert (seen.status, "You are the only platform admin" in seen.text) == (403, True)
        kept = await user(scene.world)
        assert kept is not None and kept.role == "platform-admin"
        await scene.world.new_user("ion@example.com", "platform-admin")
        assert (await scene.provider.sign_on(scene.visitor)).status == 303


async def test_accounts_of_two_providers_can_be_one_user(tmp_path: Path) -> None:
    other = Provider(lambda: scene.world.clock.now(), "partner")
    async with open_scene(tmp_path / "data", None, (other,)) as scene:
        await scene.world.new_user("ana@example.com", "platform-admin")
        assert (await scene.provider.sign_on(scene.visitor)).status == 303
        assert (await other.sign_on(Visitor(scene.world))).status == 303
        issuers = await scene.world.installation.platform.read(
            lambda tx: tx.rows("SELECT issuer, subject FROM sign_on_identities ORDER BY linked_at, issuer")
        )
        assert sorted(issuers) == sorted([(scene.provider.issuer, SUBJECT), (other.issuer, SUBJECT)])


async def test_a_session_of_before_does_not_rise(tmp_path: Path) -> None:
    """An old session may belong to another person: see test_growing_reach.py."""
    rules = {"follow_rules": True, "rules": [OF_ADMINS, OF_ACME]}
    async with open_scene(tmp_path / "data", rules) as scene:
        world = scene.world
        await world.new_user("root@example.com", "platform-admin")
        await world.new_user("ana@example.com", "member", ["ACME"])
        other = Visitor(world)
        await other.sign_in("ana@example.com", PASSWORD)
        scene.provider.claims = {**ANA, "groups": ["wms-admins"]}
        await scene.provider.sign_on(scene.visitor)
        ana = await user(world)
        assert ana is not None
        assert ana.role == "platform-admin"
        assert (await scene.visitor.get("/admin/operators")).status == 200
        assert await is_in(other)
        assert (await other.get("/admin/operators")).status == 403


async def test_a_sign_on_ends_no_session_of_somebody_else(tmp_path: Path) -> None:
    async with open_scene(tmp_path / "data") as scene:
        world = scene.world
        await world.new_user("ana@example.com", "platform-admin")
        await world.new_user("bob@example.com", "member", ["ACME"])
        await scene.visitor.sign_in("ana@example.com", PASSWORD)
        await scene.provider.begin(scene.visitor)
        account = await scene.visitor.get("/account")
        await scene.visitor.post("/sign-out", {"form_token": account.form_token})
        bob = Visitor(world)
        await bob.sign_in("bob@example.com", PASSWORD)
        await scene.provider.come_back(scene.visitor)
        assert await is_in(bob)
