"""What everybody may see is counted by address and kind, and by the session of who is signed in."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.interfaces.pages.test_browsing import EMAIL, text_of
from tests.interfaces.pages.visitor import Visitor
from tests.support.world import PASSWORD, UNLIMITED, World, open_world

MOST = 4


@pytest.fixture
async def narrow(tmp_path: Path) -> AsyncIterator[World]:
    limits = {**UNLIMITED["limits"], "open_per_minute": MOST, "refused_per_minute": 3}
    async with open_world(tmp_path / "data", {"limits": limits}) as world:
        await world.new_user(EMAIL, "platform-admin")
        yield world


async def statuses(visitor: Visitor, path: str, times: int) -> list[int]:
    return [(await visitor.get(path)).status for _ in range(times)]


@pytest.mark.parametrize("path", ["/docs", "/docs/api", "/docs/search?q=stock", "/docs/webhooks"])
async def test_reading_the_guide_leaves_the_sign_in_page_alone(narrow: World, path: str) -> None:
    stranger = Visitor(narrow)
    assert await statuses(stranger, path, MOST + 1) == [200] * MOST + [429]
    assert await statuses(stranger, "/sign-in", MOST) == [200] * MOST
    assert (await stranger.get("/sign-in")).status == 429


async def test_a_refusal_is_a_page_with_the_seconds_to_wait(narrow: World) -> None:
    stranger = Visitor(narrow)
    await statuses(stranger, "/docs", MOST)
    seen = await stranger.get("/docs")
    assert (seen.status, seen.heading) == (429, "Too many requests at once")
    wait = seen.headers["Retry-After"]
    assert f"the limit is {MOST} a minute. Try again in {wait} s." in text_of(seen.text)
    assert "Content-Security-Policy" in seen.headers
    told = await stranger.get("/docs", {"Accept-Language": "ro"})
    assert told.heading == "Prea multe cereri deodată"


async def test_who_is_signed_in_is_not_counted_by_address(narrow: World) -> None:
    admin = Visitor(narrow)
    assert (await admin.sign_in(EMAIL, PASSWORD)).status == 303
    assert await statuses(Visitor(narrow), "/docs", MOST + 1) == [200] * MOST + [429]
    for path in ("/docs", "/docs/api", "/sign-in"):
        assert set(await statuses(admin, path, 2 * MOST)) <= {200, 303}
    assert (await Visitor(narrow).get("/sign-in")).status == 200, "nor do others pay for it"


async def test_a_session_that_is_none_gets_nobody_past_the_limit(narrow: World) -> None:
    found = [
        (await Visitor(narrow, cookies={"wmsd": f"guessed-{number}"}).get("/sign-in")).status
        for number in range(9)
    ]
    assert found[-1] == 429


async def test_style_and_scripts_do_not_use_up_the_sign_in_page(narrow: World) -> None:
    stranger = Visitor(narrow)
    seen = await stranger.get("/sign-in")
    style = seen.text.split('rel="stylesheet" href="')[1].split('"')[0]
    await statuses(stranger, style, MOST)
    assert (await stranger.get("/sign-in")).status == 200
