"""An overview of all companies is computed once for all users with the same rights, and again after a change."""

from collections.abc import Mapping

import pytest

from tests.support.shop import Shop
from wmsd.platform.today.overviews import MOST_KEPT, NEEDED, Overview, Overviews

ALL = frozenset(NEEDED)


@pytest.fixture
def overviews(shop: Shop) -> Overviews:
    return Overviews(shop.world.jobs.today, shop.world.installation.access)


def figures(overview: Overview) -> Mapping[str, Mapping[str, int | None]]:
    return {each.company.code: each.figures for each in overview.views}


async def test_it_holds_until_a_company_or_its_figures_change(shop: Shop, overviews: Overviews) -> None:
    world = shop.world
    await world.jobs.today.keep()
    first = await overviews.of(None, ALL)
    await world.jobs.today.keep()
    assert await overviews.of(None, ALL) is first, "nothing has changed"
    await shop.order(status="IN_LUCRU")
    await world.jobs.today.keep()
    second = await overviews.of(None, ALL)
    assert figures(second)["ACME"]["orders_in_work"] == second.totals["orders_in_work"] == 1
    await world.new_company("B")
    assert set(figures(await overviews.of(None, ALL))) == {"ACME", "B"}
    await world.set_module("ACME", "outbound", enabled=False)
    assert figures(await overviews.of(None, ALL))["ACME"]["orders_in_work"] is None


async def test_who_may_see_less_gets_another(shop: Shop, overviews: Overviews) -> None:
    await shop.world.jobs.today.keep()
    await shop.world.new_company("B")
    of_one = await overviews.of(frozenset({1}), frozenset({"low"}))
    assert set(figures(of_one)) == {"ACME"}
    assert {name for name, value in figures(of_one)["ACME"].items() if value is not None} == {"low"}
    assert set(figures(await overviews.of(None, ALL))) == {"ACME", "B"}


async def test_those_of_many_people_are_not_all_kept(overviews: Overviews) -> None:
    first = await overviews.of(frozenset({1}), ALL)
    used = await overviews.of(frozenset({2}), ALL)
    for number in range(3, MOST_KEPT + 2):
        await overviews.of(frozenset({number}), ALL)
        assert await overviews.of(frozenset({2}), ALL) is used, "it is looked at all the time"
    assert await overviews.of(frozenset({1}), ALL) is not first


@pytest.mark.parametrize(
    ("change", "company"),
    [
        ("UPDATE companies SET name = 'Other' WHERE id = 1", ("Other", False)),
        ("UPDATE companies SET sandbox = 1 WHERE id = 1", ("Company ACME", True)),
        ("INSERT INTO company_deletions (company_id, code, begun_at) VALUES (1, 'ACME', '')", None),
    ],
    ids=["name", "sandbox", "deletion"],
)
async def test_a_change_of_a_company_is_seen_at_once(
    shop: Shop, overviews: Overviews, change: str, company: tuple[str, bool] | None
) -> None:
    world = shop.world
    await world.jobs.today.keep()
    await overviews.of(None, ALL)
    await world.installation.platform.write(lambda tx: tx.execute(change))
    found = [(each.company.name, each.company.sandbox) for each in (await overviews.of(None, ALL)).views]
    assert found == ([] if company is None else [company])


async def test_at_the_end_of_a_month_no_events_are_billed_yet(shop: Shop, overviews: Overviews) -> None:
    world = shop.world
    await shop.order()
    await world.jobs.today.keep()
    assert (await overviews.of(None, ALL)).totals["events"]
    world.clock.advance(31 * 86_400)
    assert (await overviews.of(None, ALL)).totals["events"] == 0
