"""A form that is sent after its session has ended waits in its browser tab. Meanwhile the person signs in through
a provider in another tab, and the browser may keep the session.
"""

import pytest

from tests.interfaces.pages.people.test_forms_sent_too_late import NIGHT, carried
from tests.interfaces.pages.records.test_act import form_of
from tests.interfaces.pages.visitor import Seen, cookie_of
from tests.support.world import PASSWORD
from tests.tenants.sign_on.providers import ANA, Scene

PATH = "/companies/1/partners/new"
OTHER_TAB = "/sign-in?done=tab"


async def sent_too_late(scene: Scene) -> Seen:
    """Sign in as Ana, open a form, and send it the next day."""
    await scene.provider.sign_on(scene.visitor)
    fields = {**form_of(await scene.visitor.get(PATH)), "code": "N1", "name": "Novel"}
    scene.world.clock.advance(NIGHT)
    return await scene.visitor.post(PATH, fields)


async def go_on(scene: Scene, late: Seen, **more: str) -> Seen:
    return await scene.visitor.post("/sign-in", {**carried(late), "go_on": "1", **more})


async def partners(scene: Scene) -> int:
    (number,) = (await scene.world.rows("SELECT count(*) FROM partners WHERE code = 'N1'"))[0]
    return int(number)


async def test_the_form_stands_there_filled(scene: Scene) -> None:
    late = await sent_too_late(scene)
    assert (late.status, "I am signed in: continue" in late.text) == (401, True)
    link = '<a class="button" href="/sign-in/company?next=/sign-in%3Fdone%3Dtab" target="_blank" rel="noopener">'
    assert link in late.text
    early = await go_on(scene, late)
    assert (early.status, "You are not signed in yet." in early.text) == (401, True)
    assert carried(early) == carried(late)
    done = await scene.provider.sign_on(scene.visitor, OTHER_TAB)
    assert done.goes_to == OTHER_TAB
    assert "Go back to the tab with your form" in (await scene.visitor.get(OTHER_TAB)).text
    on = await go_on(scene, early)
    assert (on.status, on.heading) == (200, "You are signed in")
    form = await scene.visitor.post(PATH, carried(on))
    assert "but it is not saved yet." in form.text
    assert (form_of(form)["code"], form_of(form)["name"], await partners(scene)) == ("N1", "Novel", 0)
    assert (await scene.visitor.post(PATH, form_of(form))).status == 303
    assert await partners(scene) == 1


async def test_somebody_else_does_not_get_it(scene: Scene) -> None:
    await scene.world.new_user("bo@example.com", "platform-admin")
    late = await sent_too_late(scene)
    scene.provider.claims = {**ANA, "sub": "subject-2", "email": "bo@example.com"}
    await scene.provider.sign_on(scene.visitor, OTHER_TAB)
    on = await go_on(scene, late)
    assert (on.status, on.goes_to) == (303, PATH)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_no_other_site_has_it_go_on(scene: Scene, site: str) -> None:
    late = await sent_too_late(scene)
    await scene.provider.sign_on(scene.visitor)
    sent = {**carried(late), "go_on": "1"}
    assert (await scene.visitor.post("/sign-in", sent, site=site)).status == 403


async def test_the_password_is_a_way_too(scene: Scene) -> None:
    late = await sent_too_late(scene)
    sent = {**carried(late), "email": "ana@example.com", "password": PASSWORD}
    on = await scene.visitor.post("/sign-in", sent)
    assert form_of(await scene.visitor.post(PATH, carried(on)))["name"] == "Novel"


@pytest.mark.parametrize("stays", [True, False])
async def test_the_browser_keeps_the_session_if_it_is_asked_to(scene: Scene, stays: bool) -> None:
    page = await scene.visitor.get("/sign-in?next=/account")
    assert "/sign-in/company?stay=on&amp;next=/account" in page.text
    done = await scene.provider.sign_on(scene.visitor, f"/account{'&stay=on' if stays else ''}")
    assert done.goes_to == "/account"
    kept = done.headers["Set-Cookie"]
    assert (kept.startswith(f"{cookie_of(scene.world)}="), "Max-Age" in kept) == (True, stays)
