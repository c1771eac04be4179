"""The expected explanations, in plain Python, over every movement of the ledger."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.support.world import World
from wmsd.warehouse.stock.explanation import explain

Explained = dict[str, Any]
LEDGER = """
    SELECT id, quantity / 1e6, quarantined / 1e6, destroyed / 1e6, kind, document_id, lot_number, reason, actor,
        occurred_at
    FROM stock_movements WHERE stock_id = ? ORDER BY id
"""


class Moved(NamedTuple):
    id: int
    quantity: float
    quarantined: float
    destroyed: float
    kind: str
    document_id: int | None
    lot_number: str | None
    reason: str | None
    actor: str
    at: str


async def ledger(world: World, stock_id: int) -> list[Moved]:
    return [Moved(*row) for row in await world.rows(LEDGER, (stock_id,))]


async def explained(world: World, stock_id: int, at: str | None = None) -> Explained:
    found = await (await world.database()).read(lambda tx: explain(tx, stock_id, at))
    assert found is not None
    answer: Explained = json.loads(found.json)
    return answer


def same(moved: Sequence[Moved], name: str) -> Any:
    """Return the common value of an attribute of all movements, or None if the values differ."""
    values = {getattr(each, name) for each in moved}
    return values.pop() if len(values) == 1 else None


def until(moved: list[Moved], at: str | None) -> list[Moved]:
    """Return the movements up to the last one that is not later than `at`; None returns all of them."""
    if at is None:
        return moved
    return moved[: max((place for place, each in enumerate(moved, 1) if each.at <= at), default=0)]


def last_count(moved: list[Moved]) -> tuple[list[Moved], list[Moved]]:
    """Return the movements of the last count, and the movements after the count."""
    end = max((place for place, each in enumerate(moved, 1) if each.kind == "count"), default=0)
    begin = end
    while begin and (moved[begin - 1].kind, moved[begin - 1].at) == ("count", moved[end - 1].at):
        begin -= 1
    return moved[begin:end], moved[end:]


def foreseen(moved: list[Moved], at: str | None) -> Explained:
    """Return the expected explanation, without its levels and the fields of the stock record itself."""
    known = until(moved, at)
    count, since = last_count(known)
    return {
        "quantity": sum(each.quantity for each in known),
        "quarantined": sum(each.quarantined for each in known),
        "begins_with": sum(each.quantity for each in known) - sum(each.quantity for each in since),
        "count": {
            "at": count[-1].at,
            "difference": sum(each.quantity for each in count),
            "document_id": same(count, "document_id"),
            "reason": same(count, "reason"),
            "actor": same(count, "actor"),
        }
        if count
        else None,
        "groups": [
            _group([each for each in since if each.kind == kind])
            for kind in dict.fromkeys(each.kind for each in since)
        ],
    }


def _group(moved: list[Moved]) -> Explained:
    documents = sorted({each.document_id for each in moved if each.document_id is not None})
    return {
        "kind": moved[0].kind,
        "quantity": sum(each.quantity for each in moved),
        "quarantined": sum(each.quarantined for each in moved),
        "destroyed": sum(each.destroyed for each in moved),
        "movements": len(moved),
        "documents": len(documents),
        "document_ids": documents if len(documents) <= 2 else [],
        "first_at": min(each.at for each in moved),
        "last_at": max(each.at for each in moved),
        "lot_number": same(moved, "lot_number"),
        "reason": same(moved, "reason"),
        "actor": same(moved, "actor"),
    }


async def is_explained(world: World) -> int:
    """Check the explanation of every balance, now and at every time of its past. Return the number of checked
    explanations.
    """
    looked_at = 0
    for stock_id, quantity in await world.rows("SELECT id, quantity / 1e6 FROM stock"):
        moved = await ledger(world, stock_id)
        moments = sorted({each.at for each in moved})
        for at in (None, "2001-01-01T00:00:00.000Z", *moments):
            found, expected = await explained(world, stock_id, at), foreseen(moved, at)
            assert {name: found[name] for name in expected} == expected, at
            assert found["begins_with"] + sum(each["quantity"] for each in found["groups"]) == found["quantity"]
            _are_levels(found, until(moved, at))
            looked_at += 1
        assert (await explained(world, stock_id))["quantity"] == quantity
    return looked_at


def _are_levels(found: Explained, known: list[Moved]) -> None:
    """Check that each level is a past quantity, the first one the quantity before, the last one the explained
    quantity.
    """
    first, *levels = found["levels"]
    balances, balance = [], 0.0
    for each in known:
        balance += each.quantity
        balances.append((each.at, balance))
    expected = balances[len(balances) - len(levels) :]
    assert [(each["at"], each["quantity"]) for each in levels] == expected
    before = balances[: len(balances) - len(levels)]
    assert first["quantity"] == (before[-1][1] if before else 0)
