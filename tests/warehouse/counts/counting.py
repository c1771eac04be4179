"""Helpers for tests of counts: create a count, enter numbers, book the count."""

from typing import Any

from tests.support.goods import MAIN, Store
from tests.support.world import Answer

PATH = "/api/v2/counts"
CREATED = ["count.created"]
UPDATED = ["count.updated"]
BEGUN = ["count.updated", "count.status_changed"]
BOOKED = ["count.status_changed", "stock.updated"]


async def make_count(store: Store, *lines: dict[str, Any], **fields: Any) -> Answer:
    """Create a count in MAIN; without lines, the count lists everything in stock."""
    body = {"warehouse_id": MAIN, **({"lines": list(lines)} if lines else {}), **fields}
    answer = await store.world.send("POST", PATH, body)
    assert answer.status == 201, answer.raw
    return answer


async def enter(store: Store, count: Answer, *quantities: float | None, **fields: Any) -> Answer:
    """Enter the quantities of the count's lines in their order; None skips a line."""
    lines = [
        {"id": line["id"], "counted_quantity": quantity, **fields}
        for line, quantity in zip(count.body["lines"], quantities, strict=False)
        if quantity is not None
    ]
    answer = await store.world.send("PATCH", f"{PATH}/{count.id}", {"lines": lines})
    assert answer.status == 200, answer.raw
    return answer


async def book(store: Store, count: Answer, status: int = 200, **options: Any) -> Answer:
    answer = await store.world.send("POST", f"{PATH}/{count.id}/book", **options)
    assert answer.status == status, answer.raw
    return answer


def shown(answer: Answer, *names: str) -> list[Any]:
    """Return these fields of each line."""
    return [tuple(line[name] for name in names) for line in answer.body["lines"]]
