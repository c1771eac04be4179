"""What a hostile provider, or somebody between it and us, can try: nobody comes in, and nothing hangs."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from aiohttp import web

from tests.interfaces.pages.visitor import Seen, Visitor
from tests.sign_on.providers import (
    Provider,
    Scene,
    key,
    open_scene,
    public,
    signed_with_public_key,
    unsigned,
)
from wmsd.sign_on.asking import WANTED_BYTES
from wmsd.sign_on.service import MOST_AT_ONCE
from wmsd.webhooks.deadlines import Deadlines

Claims = dict[str, Any]


def nobody_came_in(scene: Scene, seen: Seen, status: int = 401) -> None:
    assert (seen.status, seen.heading) == (status, "You are not signed in"), seen.text
    assert scene.visitor.cookies == {}, "nothing is kept of a sign-on that has ended"


@pytest.mark.parametrize(
    ("forge", "says"),
    [
        (unsigned, "is signed by an algorithm that is not accepted"),
        (lambda claims: unsigned(claims, "NONE"), "is signed by an algorithm that is not accepted"),
        (lambda claims: unsigned(claims, "ES256"), "has no good signature"),
        (lambda claims: signed_with_public_key(claims, "pem"), "is signed by an algorithm that is not accepted"),
        (lambda claims: signed_with_public_key(claims, "jwk"), "is signed by an algorithm that is not accepted"),
        (lambda claims: jwt.encode(claims, key("ES256", 2), "ES256", {"kid": "ES256-1"}), "has no good signature"),
        (
            lambda claims: jwt.encode(claims, key("ES256"), "ES256", {"kid": "x"}),
            "that the provider does not publish",
        ),
        (lambda claims: jwt.encode(claims, key("RS256"), "RS256", {"kid": "ES256-1"}), "does not publish"),
        (lambda claims: _own_key(claims), "has no good signature"),
        (
            lambda claims: jwt.encode(claims, key("ES256"), "ES256", {"kid": "ES256-1", "crit": ["x"]}),
            "cannot be read",
        ),
        (lambda claims: "x" * 40_000, "is none, or longer than 32 kB"),
        (lambda claims: "a.b.c", "cannot be read"),
        (lambda claims: "", "cannot be read"),
    ],
)
async def test_a_forged_id_token(scene: Scene, forge: Callable[[Claims], str], says: str) -> None:
    scene.provider.token = forge
    seen = await scene.provider.sign_on(scene.visitor)
    nobody_came_in(scene, seen)
    assert says in seen.text
    scene.provider.token = None
    assert (await scene.provider.sign_on(scene.visitor)).status == 200


def _own_key(claims: Claims) -> str:
    """The token brings a key along, which is not asked for."""
    head = {"kid": "ES256-1", "jwk": public("ES256", 2), "jku": "http://127.0.0.1:1/keys"}
    return jwt.encode(claims, key("ES256", 2), "ES256", head)


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        ({"iss": "https://evil.example"}, "is from another issuer"),
        ({"aud": "another"}, "is for another client"),
        ({"aud": ["another", "third"]}, "is for another client"),
        ({"aud": ["wmsd at home", "another"]}, "was made for another client"),
        ({"aud": ["wmsd at home", "another"], "azp": "another"}, "was made for another client"),
        ({"azp": "another"}, "was made for another client"),
        ({"nonce": "of another sign-on"}, "answers another sign-on"),
        ({"nonce": None}, "lacks the claim nonce"),
        ({"nonce": ["x"]}, "answers another sign-on"),
        ({"iss": None}, "lacks the claim iss"),
        ({"aud": None}, "lacks the claim aud"),
        ({"exp": None}, "lacks the claim exp"),
        ({"iat": None}, "lacks the claim iat"),
        ({"sub": None}, "lacks the claim sub"),
        ({"sub": ""}, "names no subject that can be used"),
        ({"sub": "ș"}, "names no subject that can be used"),
        ({"sub": "x" * 256}, "names no subject that can be used"),
        ({"exp": "tomorrow"}, "has times that are none"),
        ({"exp": True}, "has times that are none"),
    ],
)
async def test_an_id_token_that_says_something_else(scene: Scene, claims: Claims, says: str) -> None:
    scene.provider.claims |= claims
    seen = await scene.provider.sign_on(scene.visitor)
    nobody_came_in(scene, seen)
    assert says in seen.text


@pytest.mark.parametrize(
    ("name", "seconds", "says"),
    [
        ("exp", -60, "has expired"),
        ("exp", -59, None),
        ("iat", 61, "is from the future"),
        ("iat", 60, None),
        ("nbf", 61, "is from the future"),
        ("nbf", 60, None),
    ],
)
async def test_the_times_of_an_id_token(scene: Scene, name: str, seconds: int, says: str | None) -> None:
    """A minute of difference between the clocks is borne."""
    scene.provider.claims[name] = int(scene.world.clock.now().timestamp()) + seconds
    seen = await scene.provider.sign_on(scene.visitor)
    assert (seen.status, says is None or says in seen.text) == (200 if says is None else 401, True)


async def test_several_audiences_are_good_when_we_are_the_party(scene: Scene) -> None:
    scene.provider.claims |= {"aud": ["wmsd at home", "another"], "azp": "wmsd at home"}
    assert (await scene.provider.sign_on(scene.visitor)).status == 200


async def test_new_keys_are_looked_for_at_most_once_a_minute(scene: Scene) -> None:
    provider = scene.provider
    assert (await provider.sign_on(scene.visitor)).status == 200
    provider.keys = [public("ES256", 2)]
    provider.signs_with, provider.head = ("ES256", 2), {"kid": "ES256-2"}
    scene.visitor = Visitor(scene.world)
    nobody_came_in(scene, await provider.sign_on(scene.visitor))
    scene.world.clock.advance(60)
    assert (await provider.sign_on(scene.visitor)).status == 200
    assert provider.asked.count("/jwks") == 2
    provider.head = {"kid": "unknown"}
    for _ in range(5):
        assert (await provider.sign_on(Visitor(scene.world))).status == 401
    assert provider.asked.count("/jwks") == 2


async def test_keys_that_are_no_longer_published_are_not_accepted_after_an_hour(scene: Scene) -> None:
    assert (await scene.provider.sign_on(scene.visitor)).status == 200
    scene.provider.keys = [public("ES256", 2)]
    assert (await scene.provider.sign_on(scene.visitor)).status == 200
    scene.world.clock.advance(3600)
    assert (await scene.provider.sign_on(scene.visitor)).status == 401


@pytest.mark.parametrize(
    "keys",
    [
        [],
        [{"kty": "oct", "k": "AAAA", "kid": "ES256-1"}],
        [public("ES256", use="enc")],
        [public("ES256", alg="ES384")],
        [{**public("ES256"), "crv": "P-384"}],
        [{**public("ES256"), "x": "AAAA"}],
        [{**public("ES256"), "x": 7}],
        [public("ES256"), public("ES256")],
        ["key", 7, None],
    ],
)
async def test_keys_that_cannot_be_used(scene: Scene, keys: list[Any]) -> None:
    scene.provider.keys = keys
    nobody_came_in(scene, await scene.provider.sign_on(scene.visitor))


async def _dead(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def _huge(request: web.Request) -> web.StreamResponse:
    return web.Response(body=b'{"a":"' + b"x" * 10_000_000 + b'"}', content_type="application/json")


async def _slow(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(60)
    return web.Response()


async def _deep(request: web.Request) -> web.StreamResponse:
    return web.Response(text="[" * 60_000, content_type="application/json")


async def _broken(request: web.Request) -> web.StreamResponse:
    return web.Response(status=500, text="<script>alert(1)</script>")


async def _elsewhere(request: web.Request) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": "http://169.254.169.254/latest"})


async def _list(request: web.Request) -> web.StreamResponse:
    return web.json_response({"keys": [{}] * 200})


PATHS = ("/.well-known/openid-configuration", "/jwks", "/token")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("answer", [_dead, _huge, _deep, _broken, _elsewhere, _list])
async def test_a_broken_provider(scene: Scene, path: str, answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    scene.provider.answers[path] = answer
    begun = await scene.provider.begin(scene.visitor)
    seen = begun if path == PATHS[0] else await scene.provider.come_back(scene.visitor)
    if path == "/token" and answer is _list:
        nobody_came_in(scene, seen)  # it is an object, and holds no token
        return
    nobody_came_in(scene, seen, 503)
    assert "company cannot be used at the moment" in seen.text
    assert "<script>" not in seen.text
    assert "nobody can sign in through company: " in caplog.text


async def test_a_slow_provider(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds up nobody else, and is asked once for all who wait."""
    monkeypatch.setattr("wmsd.webhooks.client.Deadlines", lambda seconds: Deadlines(0.5))
    scene.provider.answers[PATHS[0]] = _slow
    begun = time.monotonic()
    waiting = [asyncio.create_task(Visitor(scene.world).get("/sign-in/company")) for _ in range(5)]
    assert (await scene.visitor.get("/sign-in")).status == 200
    assert time.monotonic() - begun < 0.5
    assert {seen.status for seen in await asyncio.gather(*waiting)} == {503}
    assert scene.provider.asked == [PATHS[0]]
    assert (await scene.provider.begin(scene.visitor)).status == 503
    assert scene.provider.asked == [PATHS[0]], "nor is it asked again at once"
    scene.provider.answers.clear()
    scene.world.clock.advance(10)
    assert (await scene.provider.sign_on(scene.visitor)).status == 200


async def test_an_answer_as_large_as_it_may_be(scene: Scene) -> None:
    scene.provider.metadata["padding"] = "x" * (WANTED_BYTES - 2000)
    assert (await scene.provider.sign_on(scene.visitor)).status == 200


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": "//evil.example"},
        {"authorization_endpoint": "http://a\r\nSet-Cookie: a=b"},
        {"authorization_endpoint": None},
        {"token_endpoint": 7},
        {"jwks_uri": "file:///etc/passwd"},
    ],
)
async def test_metadata_that_leads_elsewhere(scene: Scene, metadata: Claims) -> None:
    scene.provider.metadata = metadata
    nobody_came_in(scene, await scene.provider.begin(scene.visitor), 503)


@pytest.mark.parametrize("name", ["token_endpoint", "jwks_uri", "userinfo_endpoint"])
async def test_an_endpoint_at_a_forbidden_address(
    scene: Scene, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    scene.provider.metadata = {name: "http://169.254.169.254/latest"}
    scene.provider.claims = {}
    seen = await scene.provider.sign_on(scene.visitor)
    nobody_came_in(scene, seen, 503)
    assert "169.254" not in seen.text
    assert "sign_on.allow_networks does not list 169.254.169.254/32 itself" in caplog.text


async def test_a_provider_at_an_address_that_the_settings_do_not_admit(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_scene(tmp_path / "data", allow_networks=[]) as scene:
        nobody_came_in(scene, await scene.provider.begin(scene.visitor), 503)
        assert scene.provider.asked == []
        assert "sign_on.allow_networks" in caplog.text


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"iss": "https://evil.example"}, 401),
        ({"iss": None}, 401),
        ({"state": None}, 401),
        ({"state": "guess"}, 401),
        ({"state": "ș"}, 401),
        ({"code": None}, 403),
        ({"code": "guess"}, 503),
        ({"code": None, "error": "access_denied"}, 403),
    ],
)
async def test_an_answer_that_is_changed_on_its_way(
    scene: Scene, changed: dict[str, str | None], status: int
) -> None:
    nobody_came_in(scene, await scene.provider.sign_on(scene.visitor, "", **changed), status)


async def test_a_provider_that_does_not_say_who_it_is_need_not(scene: Scene) -> None:
    scene.provider.metadata = {"authorization_response_iss_parameter_supported": None}
    assert (await scene.provider.sign_on(scene.visitor, iss=None)).status == 200
    assert (await scene.provider.sign_on(scene.visitor, iss="https://evil.example")).status == 401


async def test_an_error_of_the_provider_is_told_by_its_code_only(scene: Scene) -> None:
    seen = await scene.provider.sign_on(scene.visitor, code=None, error="access_denied")
    assert "company has not let you sign in (access_denied)." in seen.text
    seen = await scene.provider.sign_on(scene.visitor, code=None, error="Call 555-1234 <b>now</b>")
    assert "555" not in seen.text


async def test_a_state_is_good_once(scene: Scene) -> None:
    await scene.provider.begin(scene.visitor)
    kept = dict(scene.visitor.cookies)
    assert (await scene.provider.come_back(scene.visitor)).status == 200
    assert (await scene.provider.come_back(scene.visitor)).status == 401, "the browser has forgotten it"
    assert (await scene.provider.come_back(Visitor(scene.world, kept))).status == 401, "and so have we"
    assert scene.provider.asked.count("/token") == 1


async def test_a_state_of_another_browser_is_not_good(scene: Scene) -> None:
    """So nobody is signed in as somebody else by a link."""
    await scene.provider.begin(scene.visitor)
    attackers = dict(scene.provider.begun)
    victim = Visitor(scene.world)
    assert (await scene.provider.come_back(victim)).status == 401
    await scene.provider.begin(victim)
    assert (await scene.provider.come_back(victim, state=attackers["state"])).status == 401
    assert "wmsd" not in victim.cookies
    assert "/token" not in scene.provider.asked


async def test_a_sign_on_takes_at_most_ten_minutes(scene: Scene) -> None:
    await scene.provider.begin(scene.visitor)
    scene.world.clock.advance(600)
    nobody_came_in(scene, await scene.provider.come_back(scene.visitor))
    await scene.provider.begin(scene.visitor)
    scene.world.clock.advance(599)
    assert (await scene.provider.come_back(scene.visitor)).status == 200


@pytest.mark.parametrize("kept", ["", "x", "ș", "gAAAAA" + "A" * 200, "x" * 5000])
async def test_what_the_browser_keeps_cannot_be_made_up(scene: Scene, kept: str) -> None:
    await scene.provider.begin(scene.visitor)
    scene.visitor.cookies["wmsd-sign-on"] = kept
    seen = await scene.provider.come_back(scene.visitor)
    assert seen.status in (401, 422)
    assert "wmsd" not in scene.visitor.cookies


async def test_an_answer_of_one_provider_is_not_taken_for_that_of_another(tmp_path: Path) -> None:
    """The mix-up attack: a hostile provider leads the browser to an honest one, for the code that comes back."""
    evil = Provider(lambda: scene.world.clock.now(), "evil")
    async with open_scene(tmp_path / "data", None, (evil,)) as scene:
        await scene.world.new_user("ana@example.com", "platform-admin")
        evil.metadata = {
            "authorization_endpoint": f"{scene.provider.issuer}/authorize",
            "authorization_response_iss_parameter_supported": None,
        }
        await evil.begin(scene.visitor)
        stolen = await evil.come_back(scene.visitor, iss=scene.provider.issuer)
        assert (stolen.status, "This answer is not from evil." in stolen.text) == (401, True)
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
    assert 'content="0; url=/today"' in done.text


async def test_a_path_to_go_on_to_is_text(scene: Scene) -> None:
    done = await scene.provider.sign_on(scene.visitor, "/x%22%3E%3Cscript%3E")
    assert "<script>" not in done.text


async def test_another_site_begins_no_sign_on(scene: Scene) -> None:
    """It could use up the sign-ins of its visitors' address."""
    for site in ("cross-site", "same-site"):
        seen = await scene.visitor.get("/sign-in/company?next=/account", {"Sec-Fetch-Site": site})
        assert (seen.status, seen.goes_to) == (303, "/sign-in?next=%2Faccount")
    assert scene.visitor.cookies == {}
    assert scene.provider.asked == []


async def test_there_is_no_other_provider(scene: Scene) -> None:
    assert (await scene.visitor.get("/sign-in/other")).status == 404
    scene.visitor.cookies["wmsd-sign-on"] = "x"
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


async def test_a_provider_that_fails_is_told_once(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """A guessed code is refused too, and does not hide that the provider is gone."""
    for _ in range(5):
        await scene.provider.sign_on(scene.visitor, code="guess")
    scene.world.clock.advance(3600)
    scene.provider.answers[PATHS[0]] = _dead
    for _ in range(5):
        await scene.visitor.get("/sign-in/company")
    told = [each for each in caplog.messages if each.startswith("nobody can sign in through company: ")]
    assert ["invalid_grant" in each for each in told] == [True, False]


async def test_only_so_many_are_exchanged_at_once(scene: Scene) -> None:
    """Each holds a request for as long as the provider takes."""
    all_wait, goes_on = asyncio.Event(), asyncio.Event()

    async def waits(request: web.Request) -> web.StreamResponse:
        if scene.provider.asked.count("/token") == MOST_AT_ONCE:
            all_wait.set()
        await goes_on.wait()
        return web.Response(status=500)

    scene.provider.answers["/token"] = waits
    under_way = []
    for _ in range(MOST_AT_ONCE):
        browser = Visitor(scene.world)
        await scene.provider.begin(browser)
        under_way.append(
            asyncio.create_task(scene.provider.come_back(browser, state=scene.provider.begun["state"]))
        )
    await all_wait.wait()
    seen = await scene.provider.sign_on(scene.visitor)
    goes_on.set()
    assert (seen.status, "Too many people sign on at once." in seen.text) == (503, True)
    assert {each.status for each in await asyncio.gather(*under_way)} == {503}
    scene.provider.answers.clear()
    assert (await scene.provider.sign_on(scene.visitor)).status == 200
