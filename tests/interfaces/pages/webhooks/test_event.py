"""The page of one event."""

from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.support.shop import Shop


async def test_an_event_shows_the_body_that_webhooks_send(shop: Shop) -> None:
    """The page of an event displays the body that webhooks send, also for fractional quantities."""
    await shop.order({"article_id": 2, "quantity": 0.5})
    visitor = await signed_in(shop.world)
    rows = await shop.world.rows("SELECT id, event FROM events ORDER BY sequence")
    for event_id, name in rows:
        seen = await visitor.get(f"/companies/1/events/{event_id}")
        assert seen.status == 200, name
        assert name in text_of(seen.text)
    created = [event_id for event_id, name in rows if name == "sales_order.created"]
    assert "&#34;quantity&#34;: 0.5" in (await visitor.get(f"/companies/1/events/{created[0]}")).text
