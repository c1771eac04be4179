"""The ledger is read by its indexes, however long it is."""

from typing import Any

import pytest

from tests.support.goods import Store
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.stock import history

FILTERS: dict[str, dict[str, Any]] = {
    "article": {"article_id": 2},
    "warehouse": {"warehouse_id": 1},
    "both": {"article_id": 2, "warehouse_id": 1},
    "lot": {"lot_number": "L1"},
    "lot of an article": {"lot_number": "L1", "article_id": 2},
    "serial": {"serial": "S1"},
    "document": {"document_id": 1, "kinds": ("loading",)},
}


@pytest.mark.parametrize("after", [None, 0, 2])
@pytest.mark.parametrize("case", FILTERS)
async def test_what_is_asked_for_is_searched_and_not_scanned(
    store: Store, case: str, after: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.count("P,EAST,,,1,\nL,MAIN,L1,,5,\nL,MAIN,L2,,5,\nL,EAST,L1,,5,\nS,MAIN,L1,S1,1,\n")
    await store.load(await store.order(2, 6))
    plans: list[str] = []
    records = Transaction.records

    def explained(tx: Transaction, sql: str, parameters: Any = ()) -> list[dict[str, Any]]:
        plans.extend(row[3] for row in tx.rows(f"EXPLAIN QUERY PLAN {sql}", parameters))
        return records(tx, sql, parameters)

    monkeypatch.setattr(Transaction, "records", explained)
    database = await store.world.database()
    found = await database.read_long(lambda tx: history.movements(tx, FILTERS[case], after, 10))
    assert found == sorted(found, key=lambda movement: movement["id"])
    assert found
    assert plans
    assert not [step for step in plans if step.startswith(("SCAN movement", "SCAN stock_movements"))]


@pytest.mark.parametrize("few", [0, 2000])
async def test_many_records_and_few_are_read_alike(
    store: Store, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.count("P,EAST,,,1,\nL,MAIN,L1,,5,\nL,MAIN,L2,,5,\nL,EAST,L1,,5,\nS,MAIN,L1,S1,1,\n")
    monkeypatch.setattr(history, "FEW", few)
    database = await store.world.database()

    async def ids(after: int | None, limit: int, **filters: int) -> list[int]:
        found = await database.read_long(lambda tx: history.movements(tx, filters, after, limit))
        return [movement["id"] for movement in found]

    assert await ids(None, 2, warehouse_id=1) == [3, 5]
    assert await ids(0, 2, warehouse_id=1) == [2, 3]
    assert await ids(2, 9, article_id=2) == [3, 4]
    assert await ids(4, 9, article_id=2) == []
