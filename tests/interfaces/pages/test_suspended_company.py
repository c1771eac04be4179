"""A suspended company: its pages say so, and its imports stop."""

import asyncio

import pytest

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.interfaces.pages.work.test_import_files import settled, upload
from tests.support.shop import Shop
from wmsd.tenants.companies import actions

SENTENCE = "The company ACME has been suspended since 2026-11-20T12:00:00.000Z: not paid. Its data is kept"


@pytest.fixture
async def admin(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


async def suspend(admin: Visitor) -> None:
    await admin.world.installation.platform.write(lambda tx: actions.suspend_company(tx, "ACME", "not paid"))
    await admin.world.jobs._notice_changes()


async def resume(admin: Visitor) -> None:
    await admin.world.installation.platform.write(lambda tx: actions.resume_company(tx, "ACME"))


async def test_its_pages_say_why_nobody_may_use_it_and_today_that_it_is_so(admin: Visitor) -> None:
    await suspend(admin)
    for path in ("/companies/1", "/companies/1/articles", "/companies/1/articles/1", "/companies/1/articles.csv"):
        shown = await admin.get(path)
        assert (shown.status, SENTENCE in shown.text) == (403, True), path
    today = await admin.get("/today")
    assert (today.status, "suspended since 20 Nov 2026, 12:00 UTC" in today.text) == (200, True)
    await resume(admin)
    assert (await admin.get("/companies/1/articles")).status == 200


async def test_an_import_that_is_at_work_ends(admin: Visitor) -> None:
    rows = "".join(f"N{number},x\n" for number in range(80_000))
    sent = await upload(admin, "articles", f"code,name\n{rows}")
    assert sent.status == 303, sent.text
    imports = admin.world.jobs.imports
    assert imports is not None
    async with asyncio.timeout(20):
        while not imports._processes:  # noqa: ASYNC110 -- there is no event to wait for
            await asyncio.sleep(0.01)
        await suspend(admin)
        while imports._processes:  # noqa: ASYNC110 -- there is no event to wait for
            await asyncio.sleep(0.01)
    await resume(admin)
    seen = await settled(admin, sent.goes_to)
    assert "would be created" not in seen.text
