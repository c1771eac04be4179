"""The parts of a stock record. Each lot is a part, each serial is a part, and the goods without lot and serial are
a part.

Every unit belongs to exactly one part. A unit with a serial belongs to the part of its serial. A unit with a lot
but no serial belongs to the part of its lot. All remaining units belong to the part without lot and serial.
Therefore the sum of the parts is the balance of the record. Counts, adjustments and quarantine change parts.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.quantity import SCALE
from wmsd.base.strict_json import dumps
from wmsd.contract.bulk_imports import chunks
from wmsd.db.engine.transaction import Transaction


class PartKey(NamedTuple):
    """Identifies a part of a stock record.

    If `serial` is set, the part is the goods with this serial. If only `lot_number` is set, it is the goods of the
    lot that have no serial. If both are None, it is the goods without lot and serial.
    """

    lot_number: str | None = None
    serial: str | None = None


UNNAMED: Final = PartKey()


class Amounts(NamedTuple):
    """The quantity in stock, and the quarantined part of it, in millionths."""

    quantity: int = 0
    quarantined: int = 0

    @property
    def free_of_quarantine(self) -> int:
        return self.quantity - self.quarantined


NOTHING: Final = Amounts()
Parts = Mapping[PartKey, Amounts]


@dataclass(slots=True)
class Contents:
    """The parts of a stock record, and the reserved quantities. The parts are in the order in which they leave
    stock.
    """

    parts: dict[PartKey, Amounts] = field(default_factory=dict)
    reserved: int = 0
    lots_reserved: dict[str, int] = field(default_factory=dict)
    serials_held: list[PartKey] = field(default_factory=list)


def total(parts: Parts, lot_number: str | None = None) -> Amounts:
    """Return the sum of all parts, or of the parts of one lot."""
    there = [part for goods, part in parts.items() if lot_number in (None, goods.lot_number)]
    return Amounts(sum(part.quantity for part in there), sum(part.quarantined for part in there))


RECORDS: Final = """
    SELECT stock.id, quantity, quarantined, reserved
    FROM json_each(?) AS chosen CROSS JOIN stock ON stock.id = chosen.value
"""
LOTS: Final = """
    SELECT stock_id, lot_number, quantity, quarantined, reserved
    FROM json_each(?) AS chosen CROSS JOIN stock_lots ON stock_id = chosen.value
    WHERE quantity > 0 ORDER BY chosen.key, stock_lots.id
"""
SERIALS: Final = """
    SELECT stock_id, lot_number, serial, quarantined, holder_id IS NOT NULL
    FROM json_each(?) AS chosen CROSS JOIN stock_serials ON stock_id = chosen.value
    ORDER BY chosen.key, stock_serials.id
"""


def contents_of(tx: Transaction, stock_ids: Iterable[int]) -> dict[int, Contents]:
    """Return the contents of each stock record, by id, in the order of the ids."""
    ids = dumps(list(stock_ids))
    found: dict[int, Contents] = {}
    rests: dict[tuple[int, str | None], Amounts] = {}
    serials: dict[tuple[int, str | None], dict[PartKey, Amounts]] = {}
    for stock_id, quantity, quarantined, reserved in tx.rows(RECORDS, (ids,)):
        found[stock_id] = Contents(reserved=reserved)
        rests[stock_id, None] = Amounts(quantity, quarantined)
    for stock_id, lot_number, quantity, quarantined, reserved in tx.rows(LOTS, (ids,)):
        rests[stock_id, lot_number] = Amounts(quantity, quarantined)
        rests[stock_id, None] = _less(rests[stock_id, None], quantity, quarantined)
        if reserved:
            found[stock_id].lots_reserved[lot_number] = reserved
    for stock_id, lot_number, serial, is_quarantined, is_held in tx.rows(SERIALS, (ids,)):
        goods, there = PartKey(lot_number, serial), Amounts(SCALE, SCALE * is_quarantined)
        serials.setdefault((stock_id, lot_number), {})[goods] = there
        rests[stock_id, lot_number] = _less(rests[stock_id, lot_number], *there)
        if is_held:
            found[stock_id].serials_held.append(goods)
    for (stock_id, lot_number), rest in sorted(rests.items(), key=lambda item: item[0][1] is None):
        parts = found[stock_id].parts
        parts.update(serials.get((stock_id, lot_number), {}))
        if rest != NOTHING:
            parts[PartKey(lot_number)] = rest
    return found


def _less(there: Amounts, quantity: int, quarantined: int) -> Amounts:
    return Amounts(there.quantity - quantity, there.quarantined - quarantined)


ALL: Final = """
    SELECT stock.id, articles.code, warehouses.code FROM stock
    CROSS JOIN articles ON articles.id = stock.article_id
    CROSS JOIN warehouses ON warehouses.id = stock.warehouse_id
    ORDER BY stock.id
"""


def every(tx: Transaction) -> Iterator[tuple[str, str, PartKey, Amounts]]:
    """Return every part of every stock record, with the codes of article and warehouse, for exports.

    An empty record yields one part with the quantity 0.
    """
    for chunk in chunks(tx.execute(ALL)):
        found = contents_of(tx, [stock_id for stock_id, _, _ in chunk])
        for stock_id, article, warehouse in chunk:
            for goods, there in (found[stock_id].parts or {UNNAMED: NOTHING}).items():
                yield article, warehouse, goods, there
