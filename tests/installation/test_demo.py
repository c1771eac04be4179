"""The demo at a further start: what it hands out neither piles up nor warns of its end."""

from datetime import timedelta

from tests.interfaces.pages.records.test_browse import signed_in
from tests.support.world import World
from wmsd.contract.access import EVERYTHING
from wmsd.db.engine.transaction import Transaction
from wmsd.installation import demo
from wmsd.tenants.accounts.actions import create_token
from wmsd.tenants.one_time_links.actions import DEMO_EMAIL as EMAIL

TOKENS = """
    SELECT tokens.name, revoked_at IS NULL FROM tokens JOIN users ON users.id = user_id WHERE email = ?
    ORDER BY tokens.id
"""


async def tokens(world: World) -> list[tuple[str, bool]]:
    """The name of each of the demo's user, and whether it is good."""
    found = await world.installation.platform.read(lambda tx: list(tx.rows(TOKENS, (EMAIL,))))
    return [(name, bool(is_good)) for name, is_good in found]


async def test_the_token_of_the_start_before_goes_on(world: World) -> None:
    first = await demo.load(world.installation)
    second = await demo.load(world.installation)
    world.company = second.company_id
    assert await tokens(world) == [("demo", True), ("demo", True)]
    for token in (first.token, second.token):
        assert (await world.call("GET", "/api/articles", token=token)).body["data"] != []


async def test_tokens_that_people_have_made_stay(world: World) -> None:
    def make(tx: Transaction) -> str:
        week = timedelta(days=7)
        return create_token(tx, email=EMAIL, name="shop", abilities=[EVERYTHING], company_codes=[], lifetime=week)

    await demo.load(world.installation)
    await world.installation.platform.write(make)
    await demo.load(world.installation)
    assert await tokens(world) == [("demo", True), ("shop", True), ("demo", True)]


async def test_nobody_is_warned_of_its_end(world: World) -> None:
    await demo.load(world.installation)
    world.clock.advance(25 * 86_400)
    await demo.load(world.installation)
    admin = await signed_in(world)
    assert 'href="/admin/tokens?expires_within' not in (await admin.get("/today")).text
