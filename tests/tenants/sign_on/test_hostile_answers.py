"""Attacks between the provider, the browser and wmsd: nobody can sign in, and nobody is redirected to another
site.
"""

import json
from pathlib import Path

import pytest

from tests.interfaces.pages.visitor import Visitor, sign_on_cookie_of
from tests.tenants.sign_on.providers import Provider, Scene, nobody_came_in, open_scene, unsigned


async def test_a_state_is_good_once(scene: Scene) -> None:
    await scene.provider.begin(scene.visitor)
    kept = dict(scene.visitor.cookies)
    assert (await scene.provider.come_back(scene.visitor)).status == 303
    assert (await scene.provider.come_back(scene.visitor)).status == 401, "the browser has forgotten it"
    assert (await scene.provider.come_back(Visitor(scene.world, kept))).status == 401, "and so have we"
    assert scene.provider.asked.count("/token") == 1


async def test_a_state_of_another_browser_is_not_good(scene: Scene) -> None:
    """No user can be signed in as another user by a link."""
    await scene.provider.begin(scene.visitor)
    attackers = dict(scene.provider.begun)
    victim = Visitor(scene.world)
    assert (await scene.provider.come_back(victim)).status == 401
    await scene.provider.begin(victim)
    assert (await scene.provider.come_back(victim, state=attackers["state"])).status == 401
    assert victim.secret is None
    assert "/token" not in scene.provider.asked


async def test_a_sign_on_takes_at_most_ten_minutes(scene: Scene) -> None:
    await scene.provider.begin(scene.visitor)
    scene.world.clock.advance(600)
    nobody_came_in(scene, await scene.provider.come_back(scene.visitor))
    await scene.provider.begin(scene.visitor)
    scene.world.clock.advance(599)
    assert (await scene.provider.come_back(scene.visitor)).status == 303


@pytest.mark.parametrize("kept", ["", "x", "ș", "gAAAAA" + "A" * 200, "x" * 5000])
async def test_what_the_browser_keeps_cannot_be_made_up(scene: Scene, kept: str) -> None:
    await scene.provider.begin(scene.visitor)
    scene.visitor.cookies[sign_on_cookie_of(scene.world)] = kept
    seen = await scene.provider.come_back(scene.visitor)
    assert seen.status in (401, 422)
    assert scene.visitor.secret is None


async def test_an_answer_of_one_provider_is_not_taken_for_that_of_another(tmp_path: Path) -> None:
    """The mix-up attack: a hostile provider redirects the browser to an honest provider, to get the code that
    comes back.
    """
    evil = Provider(lambda: scene.world.clock.now(), "evil")
    async with open_scene(tmp_path / "data", None, (evil,)) as scene:
        await scene.world.new_user("ana@example.com", "platform-admin")
        evil.metadata = {
            "authorization_endpoint": f"{scene.provider.issuer}/authorize",
            "authorization_response_iss_parameter_supported": None,
        }
        await evil.begin(scene.visitor)
        stolen = await evil.come_back(scene.visitor, iss=scene.provider.issuer)
        assert (stolen.status, "The answer to this sign-in did not come from evil." in stolen.text) == (401, True)
        assert "/token" not in evil.asked, "it gets no code"
        await evil.begin(scene.visitor)
        scene.provider.begun = evil.begun
        assert (await scene.provider.come_back(scene.visitor)).status == 401, "at the other's address"
        assert "/token" not in scene.provider.asked


async def test_a_token_of_one_provider_is_not_good_for_another(tmp_path: Path) -> None:
    evil = Provider(lambda: scene.world.clock.now(), "evil")
    async with open_scene(tmp_path / "data", None, (evil,)) as scene:
        await scene.world.new_user("ana@example.com", "platform-admin")
        evil.claims["iss"] = scene.provider.issuer
        assert (await evil.sign_on(scene.visitor)).status == 401


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:1", "/" + "x" * 600]
)
async def test_nobody_is_led_elsewhere(scene: Scene, elsewhere: str) -> None:
    done = await scene.provider.sign_on(scene.visitor, elsewhere)
    assert done.goes_to == "/today"


async def test_a_path_to_go_on_to_is_text(scene: Scene) -> None:
    done = await scene.provider.sign_on(scene.visitor, "/x%22%3E%3Cscript%3E")
    assert (done.goes_to, done.text) == ('/x"><script>', "")


async def test_another_site_begins_no_sign_on(scene: Scene) -> None:
    """Another site could use up the sign-ins of its visitors' address."""
    for site in ("cross-site", "same-site"):
        seen = await scene.visitor.get("/sign-in/company?next=/account", {"Sec-Fetch-Site": site})
        assert (seen.status, seen.goes_to) == (303, "/sign-in?next=%2Faccount")
    assert scene.visitor.cookies == {}
    assert scene.provider.asked == []


async def test_there_is_no_other_provider(scene: Scene) -> None:
    assert (await scene.visitor.get("/sign-in/other")).status == 404
    scene.visitor.cookies[sign_on_cookie_of(scene.world)] = "x"
    assert (await scene.visitor.get("/sign-in/other/back?state=x&code=y")).status == 404
    assert (await scene.visitor.get("/sign-in/Company")).status == 404


async def test_sign_ons_are_limited_as_sign_ins_are(tmp_path: Path) -> None:
    async with open_scene(tmp_path / "data", auth_per_minute=3) as scene:
        await scene.world.new_user("ana@example.com", "platform-admin")
        told = [(await scene.provider.sign_on(Visitor(scene.world), code="guess")).status for _ in range(5)]
        assert told == [503, 503, 503, 429, 429]
        assert scene.provider.asked.count("/token") == 3


async def test_parameters_that_are_given_twice(scene: Scene) -> None:
    await scene.provider.begin(scene.visitor)
    state = scene.provider.begun["state"]
    assert (await scene.visitor.get(f"/sign-in/company/back?code=code-1&state={state}&state=x")).status == 422


async def test_nothing_that_is_secret_is_written_down(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    scene.provider.token = unsigned
    await scene.provider.sign_on(scene.visitor)
    scene.provider.token = None
    await scene.provider.sign_on(scene.visitor)
    told = caplog.text + json.dumps(await scene.audit())
    for secret in ("s+cr/t", "access-1", "code-1", scene.provider.begun["state"]):
        assert secret not in told
