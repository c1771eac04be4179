"""Takes a count back: the ledger is never changed, so each of its movements gets a counter movement."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from wmsd.articles import store as articles
from wmsd.base.importing import chunks
from wmsd.base.strict_json import dumps
from wmsd.db.kept_rows import Made
from wmsd.db.transaction import Transaction
from wmsd.stock import lots
from wmsd.stock.adjusting import post_changes
from wmsd.stock.contents import NOTHING, Amounts, Contents, PartKey, contents_of
from wmsd.stock.rules import Change, changes, faults_of

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
    SELECT stock.id, stock.article_id, articles.code, warehouses.code
    FROM json_each(?) AS chosen
    CROSS JOIN stock ON stock.id = chosen.value
    CROSS JOIN articles ON articles.id = stock.article_id
    CROSS JOIN warehouses ON warehouses.id = stock.warehouse_id
"""


def obstacles(tx: Transaction, made: Made, last_change: int, most: int) -> Iterator[str]:
    """What has moved or was reserved since; a count says nothing of that."""
    values = {"change": last_change, "after": made.after, "last": made.last, "most": most}
    for article, warehouse in tx.rows(MOVED_SINCE, values):
        yield f"the stock of {article} in {warehouse} has moved or was reserved since"


class Counters(NamedTuple):
    """The changes that take a count back, each with its stock record and reason, and what forbids them."""

    changes: list[tuple[int, Change, str]]
    wrong: list[str]
    articles: dict[int, int]
    """By stock record."""


def take_back(tx: Transaction, made: Made, reason: str) -> list[str]:
    """Posts the counter movements. Answers what forbids them; then nothing is posted."""
    rows = {"after": made.after, "last": made.last}
    counters = Counters([], [], {})
    for chunk in chunks([stock_id for (stock_id,) in tx.execute(STOCK, rows)]):
        _plan(tx, rows, chunk, reason, counters)
    wrong = [*counters.wrong, *_elsewhere(tx, counters)]
    if not wrong:
        post_changes(tx, counters.changes, "adjustment")
    return wrong


def _plan(tx: Transaction, rows: dict[str, int], stock_ids: list[int], reason: str, counters: Counters) -> None:
    moved: dict[int, dict[PartKey, Amounts]] = {}
    for stock_id, lot_number, serial, *amounts in tx.rows(SUMS, {**rows, "ids": dumps(stock_ids)}):
        moved.setdefault(stock_id, {})[PartKey(lot_number, serial)] = Amounts(*amounts)
    named = {stock_id: names for stock_id, *names in tx.rows(NAMED, (dumps(stock_ids),))}
    known = {each.id: each for each in articles.references(tx, {names[0] for names in named.values()}, [])}
    for stock_id, before in contents_of(tx, stock_ids).items():
        article_id, article, warehouse = named[stock_id]
        after = _without(before, moved[stock_id])
        for fault in faults_of(before, after, known[article_id].tracks_serials):
            counters.wrong.append(f"the stock of {article} in {warehouse} {fault.sentence}")
        counters.changes.extend((stock_id, change, reason) for change in changes(before.parts, after))
        counters.articles[stock_id] = article_id


def _elsewhere(tx: Transaction, counters: Counters) -> Iterator[str]:
    """Serials that would come back and are in stock in another place, which they would not leave."""
    arriving: list[tuple[int, str]] = []
    leaving: set[tuple[int, str]] = set()
    for stock_id, (goods, before, after), _ in counters.changes:
        if goods.serial is not None and before == NOTHING:
            arriving.append((counters.articles[stock_id], goods.serial))
        elif goods.serial is not None and after == NOTHING:
            leaving.add((counters.articles[stock_id], goods.serial))
    for chunk in chunks(each for each in arriving if each not in leaving):
        for (_, serial), warehouse in lots.warehouses_of(tx, chunk).items():
            yield f"{serial} is in stock in {warehouse} now"


def _without(before: Contents, moved: dict[PartKey, Amounts]) -> dict[PartKey, Amounts]:
    """The parts as they are without what has moved."""
    after = dict(before.parts)
    for goods, (quantity, quarantined) in moved.items():
        there = after.get(goods, NOTHING)
        after[goods] = Amounts(there.quantity - quantity, there.quarantined - quarantined)
    return {goods: there for goods, there in after.items() if there != NOTHING}
