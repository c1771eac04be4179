"""Attacks by a hostile provider, and faults of a broken provider: nobody can sign in, and nothing hangs."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.interfaces.pages.visitor import Visitor
from tests.tenants.sign_on.providers import Scene, nobody_came_in, open_scene
from wmsd.http_client.deadlines import Countdowns
from wmsd.tenants.sign_on.provider_requests import WANTED_BYTES
from wmsd.tenants.sign_on.service import MOST_AT_ONCE

Claims = dict[str, Any]


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
        nobody_came_in(scene, seen)  # the reply is an object, and holds no token
        return
    nobody_came_in(scene, seen, 503)
    assert "company cannot be used at the moment" in seen.text
    assert "<script>" not in seen.text
    assert "no user can sign in through company: " in caplog.text


async def test_a_slow_provider(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow provider delays nobody else, and gets one request for all waiting users."""
    monkeypatch.setattr("wmsd.http_client.client.Countdowns", lambda _, is_over: Countdowns(2.0, is_over))
    scene.provider.answers[PATHS[0]] = _slow
    waiting = [asyncio.create_task(Visitor(scene.world).get("/sign-in/company")) for _ in range(5)]
    assert (await scene.visitor.get("/sign-in")).status == 200
    assert not any(each.done() for each in waiting)
    assert {seen.status for seen in await asyncio.gather(*waiting)} == {503}
    assert scene.provider.asked == [PATHS[0]]
    assert (await scene.provider.begin(scene.visitor)).status == 503
    assert scene.provider.asked == [PATHS[0]], "nor is it asked again at once"
    scene.provider.answers.clear()
    scene.world.clock.advance(10)
    assert (await scene.provider.sign_on(scene.visitor)).status == 303


async def test_an_answer_as_large_as_it_may_be(scene: Scene) -> None:
    scene.provider.metadata["padding"] = "x" * (WANTED_BYTES - 2000)
    assert (await scene.provider.sign_on(scene.visitor)).status == 303


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
    assert "add 169.254.169.254/32 to sign_on.allow_networks" in caplog.text


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
    assert (await scene.provider.sign_on(scene.visitor, iss=None)).status == 303
    assert (await scene.provider.sign_on(scene.visitor, iss="https://evil.example")).status == 401


async def test_an_error_of_the_provider_is_told_by_its_code_only(scene: Scene) -> None:
    seen = await scene.provider.sign_on(scene.visitor, code=None, error="access_denied")
    assert "company refused your sign-in (access_denied)." in seen.text
    seen = await scene.provider.sign_on(scene.visitor, code=None, error="Call 555-1234 <b>now</b>")
    assert "555" not in seen.text


async def test_a_provider_that_fails_is_told_once(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """A guessed code is refused too, and does not hide that the provider is unreachable."""
    for _ in range(5):
        await scene.provider.sign_on(scene.visitor, code="guess")
    scene.world.clock.advance(3600)
    scene.provider.answers[PATHS[0]] = _dead
    for _ in range(5):
        await scene.visitor.get("/sign-in/company")
    told = [each for each in caplog.messages if each.startswith("no user can sign in through company: ")]
    assert ["invalid_grant" in each for each in told] == [True, False]


async def test_only_so_many_are_exchanged_at_once(scene: Scene) -> None:
    """Each exchange occupies a request for as long as the provider takes."""
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
    assert (seen.status, "Too many people are signing in at the same time." in seen.text) == (503, True)
    assert {each.status for each in await asyncio.gather(*under_way)} == {503}
    scene.provider.answers.clear()
    assert (await scene.provider.sign_on(scene.visitor)).status == 303
