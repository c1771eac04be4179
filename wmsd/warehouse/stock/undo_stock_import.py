"""The undo of a stock import.

Entries of the ledger never change. Therefore the undo posts a counter-movement for each movement of the import.
"""

from collections.abc import Iterator
from dataclasses import field
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.strict_json import dumps
from wmsd.contract.bulk_imports import chunks
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.staged_rows import make_tables
from wmsd.db.sql.undo_rows import CreatedRows
from wmsd.warehouse.articles import store as articles
from wmsd.warehouse.stock import stock_staging
from wmsd.warehouse.stock.parts import NOTHING, Amounts, Contents, PartKey, contents_of
from wmsd.warehouse.stock.rules import faults_of, part_changes
from wmsd.warehouse.stock.stock_ledger import post_staged
from wmsd.warehouse.stock.stock_staging import Movement, Record

MOVED_SINCE: Final = """
    SELECT articles.code, warehouses.code
    FROM stock
    CROSS JOIN articles ON articles.id = stock.article_id
    CROSS JOIN warehouses ON warehouses.id = stock.warehouse_id
    WHERE stock.change_seq > :change
        AND stock.id IN (SELECT stock_id FROM stock_movements WHERE id > :after AND id <= :last)
    LIMIT :most
"""
STOCK: Final = "SELECT DISTINCT stock_id FROM stock_movements WHERE id > :after AND id <= :last ORDER BY stock_id"
SUMS: Final = """
    SELECT stock_id, lot_number, serial, sum(quantity), sum(quarantined) FROM stock_movements
    WHERE id > :after AND id <= :last AND stock_id IN (SELECT value FROM json_each(:ids))
    GROUP BY stock_id, lot_number, serial ORDER BY min(id)
"""
NAMED: Final = """
    SELECT stock.id, stock.article_id, stock.warehouse_id, articles.code, warehouses.code
    FROM json_each(?) AS chosen
    CROSS JOIN stock ON stock.id = chosen.value
    CROSS JOIN articles ON articles.id = stock.article_id
    CROSS JOIN warehouses ON warehouses.id = stock.warehouse_id
"""


def obstacles(tx: Transaction, made: CreatedRows, last_change: int, most: int) -> Iterator[str]:
    """Yield at most `most` sentences that say why the import cannot be undone. Each sentence is about one stock
    record that has moved or was reserved since the import.

    `made` are the movements of the import. `last_change` is the number of the import's last change in the change
    sequence.
    """
    values = {"change": last_change, "after": made.after, "last": made.last, "most": most}
    for article, warehouse in tx.rows(MOVED_SINCE, values):
        yield f"the stock of {article} in {warehouse} has moved or was reserved since the import"


@dataclass(slots=True)
class Counters:
    """The result of `stage`. `wrong` has the errors that forbid the undo. `with_serials` has the ids of the
    articles that are tracked by serials.
    """

    wrong: list[str] = field(default_factory=list)
    with_serials: set[int] = field(default_factory=set)


def stage(tx: Transaction, schema: str, made: CreatedRows, reason: str) -> Counters:
    """Store the counter-movements in temporary tables (`stock_staging.py`). Other writers need not wait for this.

    `made` are the movements of the import. `reason` is the reason of the counter-movements.
    """
    make_tables(tx, schema, stock_staging.TABLES)
    rows, counters = {"after": made.after, "last": made.last}, Counters()
    for chunk in chunks(enumerate((stock_id for (stock_id,) in tx.execute(STOCK, rows)), 1)):
        _stage(tx, rows, {stock_id: place for place, stock_id in chunk}, reason, counters)
    stock_staging.complete(tx)
    return counters


def undo(tx: Transaction, counters: Counters) -> list[str]:
    """Post the staged counter-movements. Call this only if `obstacles` has found nothing. `counters` is the result
    of `stage`.

    If there are errors that forbid the undo, post nothing. Return these errors.
    """
    elsewhere = stock_staging.serials_elsewhere(tx)
    wrong = [*counters.wrong, *(f"{serial} is now in stock in {warehouse}" for _, serial, warehouse in elsewhere)]
    # compared separately, because the stock record does not change when an order takes a serial
    if stock_staging.articles_of_changed_serials(tx, counters.with_serials):
        wrong.append("orders have reserved or released serials of these articles in the meantime: try again")
    if not wrong:
        post_staged(tx, "adjustment")
    return wrong


def _stage(tx: Transaction, rows: dict[str, int], places: dict[int, int], reason: str, counters: Counters) -> None:
    """Store the counter-movements of some stock records in the temporary tables. `places` maps the
    id of each stock record to its row number (`place`) in these tables.
    """
    moved: dict[int, dict[PartKey, Amounts]] = {}
    for stock_id, lot_number, serial, *amounts in tx.rows(SUMS, {**rows, "ids": dumps(list(places))}):
        moved.setdefault(stock_id, {})[PartKey(lot_number, serial)] = Amounts(*amounts)
    named = {stock_id: names for stock_id, *names in tx.rows(NAMED, (dumps(list(places)),))}
    known = {each.id: each for each in articles.references(tx, {names[0] for names in named.values()}, [])}
    with_serials = {each.id for each in known.values() if each.tracks_serials}
    stock_staging.note_serials(tx, with_serials)
    counters.with_serials |= with_serials
    records: list[Record] = []
    movements: list[Movement] = []
    for stock_id, before in contents_of(tx, places).items():
        article_id, warehouse_id, article, warehouse = named[stock_id]
        after = _without(before, moved[stock_id])
        for fault in faults_of(before, after, known[article_id].tracks_serials):
            counters.wrong.append(f"the stock of {article} in {warehouse} {fault.sentence}")
        differing = part_changes(before.parts, after)
        parts = [
            Movement(places[stock_id], part, article_id, *change.difference, *change.goods, reason)
            for part, change in enumerate(differing)
        ]
        records.append(Record.of(places[stock_id], article_id, warehouse_id, stock_id, parts))
        movements += parts
    stock_staging.put(tx, records, movements)


def _without(before: Contents, moved: dict[PartKey, Amounts]) -> dict[PartKey, Amounts]:
    """Return the stock `before` minus the quantities in `moved`. Omit goods with the quantity 0."""
    after = dict(before.parts)
    for goods, (quantity, quarantined) in moved.items():
        there = after.get(goods, NOTHING)
        after[goods] = Amounts(there.quantity - quantity, there.quarantined - quarantined)
    return {goods: there for goods, there in after.items() if there != NOTHING}
