"""A user who signs in at too many places learns about the ended session on the next page, however the user signed
in.
"""

from pathlib import Path

import pytest

from tests.interfaces.pages.administering import audit
from tests.interfaces.pages.people.test_second_factor import code_now, enrolled, first_step, second_step
from tests.interfaces.pages.people.test_signing_in import EMAIL, is_in, signed_in
from tests.interfaces.pages.visitor import Seen, Visitor, with_secret
from tests.interfaces.pages.work.test_live import again
from tests.support.world import World
from tests.tenants.sign_on.providers import open_scene
from wmsd.installation import demo
from wmsd.tenants.accounts.sessions import MOST_OF_A_USER, TOO_MANY_PLACES
from wmsd.tenants.one_time_links.demo import DEMO_EMAIL as DEMO

WHY = f'<p class="note warn" role="status">{TOO_MANY_PLACES}</p>'


async def filled(visitor: Visitor, email: str = EMAIL) -> list[Visitor]:
    """Fill up the number of sessions of a user. The visitor's session is the least recently used one."""
    visitor.world.clock.advance(60)
    return [await again(visitor, email) for _ in range(MOST_OF_A_USER - 1)]


async def told(visitor: Visitor, language: str = "en") -> Seen:
    sent = await visitor.get("/account")
    assert (sent.status, sent.goes_to) == (303, "/sign-in?next=/account")
    return await visitor.get(sent.goes_to, {"Accept-Language": language})


async def test_the_next_page_says_why(world: World) -> None:
    await world.new_user(EMAIL, "platform-admin")
    visitor = await signed_in(world)
    others = await filled(visitor)
    last = await signed_in(world)
    assert WHY in (await told(visitor)).text
    romanian = (await told(visitor, "ro")).text
    assert "V-ați autentificat pe mai mult de 20 de dispozitive sau browsere" in romanian
    assert [await is_in(each) for each in (*others, last)] == [True] * MOST_OF_A_USER
    assert ["session.end 1 oldest", EMAIL] in [each[1:3] for each in await audit(last)]
    await visitor.sign_in(EMAIL, "a guess")
    assert WHY in (await told(visitor)).text, "until somebody has signed in there"
    done = await visitor.sign_in(EMAIL, "correct horse battery")
    assert (done.status, await is_in(visitor)) == (303, True)


async def test_a_form_that_was_sent_then_is_not_lost(world: World) -> None:
    await world.new_user(EMAIL, "platform-admin")
    visitor = await signed_in(world)
    page = f"{world.base_url}/companies/1/articles?search=a"
    await filled(visitor)
    await signed_in(world)
    sent = await visitor.post("/account/language", {}, {"Referer": page})
    seen = await visitor.get(sent.goes_to)
    assert WHY in seen.text
    assert "Your session ended before you sent the form" in seen.text


async def test_who_is_signed_out_for_another_reason_is_told_nothing_of_places(world: World) -> None:
    await world.new_user(EMAIL, "platform-admin")
    visitor = await signed_in(world)
    world.clock.advance(13 * 3600)
    assert TOO_MANY_PLACES not in (await told(visitor)).text
    assert TOO_MANY_PLACES not in (await told(with_secret(world, "stolen"))).text


async def test_after_the_second_step(world: World) -> None:
    await world.new_user(EMAIL, "platform-admin")
    visitor = await signed_in(world)
    secret, _ = await enrolled(visitor)
    await filled(visitor)
    new, pending = await first_step(world)
    assert await is_in(visitor), "a password alone ends nothing"
    assert (await second_step(new, pending, code_now(world, secret))).status == 303
    assert WHY in (await told(visitor)).text
    assert await is_in(new)


async def test_after_single_sign_on(tmp_path: Path) -> None:
    async with open_scene(tmp_path / "data") as scene:
        await scene.world.new_user(EMAIL, "platform-admin")
        visitor = await signed_in(scene.world)
        await filled(visitor)
        await scene.provider.sign_on(scene.visitor)
        assert WHY in (await told(visitor)).text
        assert await is_in(scene.visitor)


@pytest.mark.parametrize("times", [1, 3])
async def test_after_the_link_into_the_demo(world: World, times: int) -> None:
    loaded = await demo.load(world.installation)
    visitor = Visitor(world)
    await visitor.post("/demo", {"code": loaded.links[0][1]})
    others = await filled(visitor, DEMO)
    for _ in range(times):
        link = (await demo.load(world.installation)).links[0][1]
        assert (await Visitor(world).post("/demo", {"code": link})).status == 303
    assert WHY in (await told(visitor)).text
    assert [await is_in(each) for each in others].count(True) == MOST_OF_A_USER - times
