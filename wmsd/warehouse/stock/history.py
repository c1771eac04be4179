"""Queries of the ledger: what moved, when, why, and who moved it."""

from collections.abc import Mapping
from typing import Any, Final

from wmsd.base.strict_json import dumps
from wmsd.contract.results import CursorPage
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.joined_records import number_that_fits
from wmsd.db.sql.records import record_sql
from wmsd.warehouse.stock.schema import StockMovement, StockMovementQuery

OF_DOCUMENT: Final = """
    movement.document_id = :document_id AND movement.kind IN (SELECT value FROM json_each(:kinds))
"""
CONDITIONS: Final = {
    "document_id": OF_DOCUMENT,
    "serial": "movement.serial = :serial",
    "lot_number": "movement.lot_number = :lot_number",
    "article_id": "stock.article_id = :article_id",
    "warehouse_id": "stock.warehouse_id = :warehouse_id",
}
"""The SQL condition of each filter. A filter that matches few movements comes before a filter that matches many. A
query uses the index of the first of these filters that the caller gives.
"""
INDEXES: Final = {
    "document_id": "INDEXED BY stock_movements_by_document",
    "serial": "INDEXED BY stock_movements_by_serial",
    "lot_number": "INDEXED BY stock_movements_by_lot",
}
FEW: Final = 2000

MOVEMENTS: Final = """
    SELECT movement.id, movement.occurred_at, movement.kind, articles.code AS article,
        warehouses.code AS warehouse, movement.quantity, movement.quarantined, movement.destroyed,
        movement.lot_number, movement.serial, movement.document_id, movement.reason, movement.actor
    FROM ({chosen}) AS chosen
    CROSS JOIN stock_movements AS movement ON movement.id = chosen.id
    CROSS JOIN stock ON stock.id = movement.stock_id
    CROSS JOIN articles ON articles.id = stock.article_id
    CROSS JOIN warehouses ON warehouses.id = stock.warehouse_id
    ORDER BY movement.id
"""
ALONG_THE_LEDGER: Final = """
    SELECT movement.id FROM stock_movements AS movement {index} CROSS JOIN stock ON stock.id = movement.stock_id
    WHERE {conditions} ORDER BY movement.id {direction} LIMIT :limit
"""
OF_EACH_RECORD: Final = """
    SELECT movement.id FROM stock CROSS JOIN stock_movements AS movement ON movement.id IN (
        SELECT id FROM stock_movements AS movement
        WHERE stock_id = stock.id AND {beyond} ORDER BY id {direction} LIMIT :limit
    )
    WHERE {conditions} ORDER BY movement.id {direction} LIMIT :limit
"""


def movements(
    tx: Transaction, filters: Mapping[str, object], after: int | None, limit: int
) -> list[dict[str, Any]]:
    """Return at most `limit` movements, in the order of their ids. If `after` is None, return the latest
    movements. If not, return the first movements whose ids are greater than `after`.

    Quantities are in millionths. The keys of `filters` are names in `CONDITIONS`. With `document_id`, `filters`
    also needs `kinds`: the kinds of movements that documents of this kind cause. The ids alone are not enough,
    because documents of different kinds can have the same id.
    """
    named = {"kinds": dumps(filters.get("kinds", ())), "after": after, "limit": limit}
    given = [name for name in CONDITIONS if name in filters]
    beyond, direction = ("true", "DESC") if after is None else ("movement.id > :after", "ASC")
    conditions = " AND ".join([beyond, *(CONDITIONS[name] for name in given)])
    parameters = {**filters, **named}
    # With few stock records, search each record. With many records, a search along the ledger soon finds enough.
    few_records = given and given[0] not in INDEXES and _are_few(tx, given, filters)
    chosen = (OF_EACH_RECORD if few_records else ALONG_THE_LEDGER).format(
        index=INDEXES.get(given[0], "") if given else "",
        conditions=conditions,
        beyond=beyond,
        direction=direction,
    )
    return tx.records(MOVEMENTS.format(chosen=chosen), parameters)


def _are_few(tx: Transaction, given: list[str], filters: Mapping[str, object]) -> bool:
    where = " AND ".join(CONDITIONS[name] for name in given)
    return tx.number(f"SELECT count(*) FROM (SELECT 1 FROM stock WHERE {where} LIMIT {FEW})", filters) < FEW


def is_there(tx: Transaction, stock_id: int) -> bool:
    """Return True if there is a stock record with this id."""
    return bool(tx.value("SELECT EXISTS (SELECT 1 FROM stock WHERE id = ?)", (stock_id,)))


BEFORE: Final = f"""
    SELECT id, {record_sql(StockMovement)} FROM stock_movements INDEXED BY stock_movements_by_stock
    WHERE stock_id = :stock_id AND id < :position AND id > :after AND id <= :until
        AND (:kind IS NULL OR kind = :kind)
    ORDER BY id DESC LIMIT :limit
"""
BEYOND_ALL: Final = 2**62


def before(tx: Transaction, stock_id: int, query: StockMovementQuery, position: int) -> CursorPage:
    """Return the movements whose ids are below `position`, the newest first. With position 0, start at the end of
    the ledger.
    """
    given = {
        "stock_id": stock_id,
        "position": position or BEYOND_ALL,
        "after": query.after or 0,
        "until": query.until or BEYOND_ALL,
        "kind": query.kind,
        "limit": query.per_page + 1,
    }
    found = tx.rows(BEFORE, given)
    page = found[: number_that_fits([text for _, text in found[: query.per_page]])]
    records, positions = (",".join(texts) for texts in ([text for _, text in page], [str(id) for id, _ in page]))
    return CursorPage(records, page[-1][0] if page else position, len(found) > len(page), positions)
