"""The lots and serials of a stock record, and the sequence in which sales orders take them.

Goods that came in without a lot have no lot. The reserved and quarantined quantities of a stock record include the
quantities of its lots and serials. So an order without lots never takes goods that are reserved for an order with
lots.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from wmsd.base.dataclass import dataclass
from wmsd.base.quantity import SCALE
from wmsd.base.strict_json import dumps
from wmsd.contract.bulk_imports import chunks
from wmsd.db.engine.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Part:
    """A quantity of goods with the same lot, in millionths. Goods with a serial have the quantity of one unit."""

    quantity: int
    lot_number: str | None = None
    serial: str | None = None


OPEN_LOT: Final = """
    INSERT INTO stock_lots (stock_id, lot_number, quantity, quarantined) VALUES (:stock_id, :lot_number, 0, 0)
    ON CONFLICT (stock_id, lot_number) DO NOTHING
"""
CHANGE_LOT: Final = """
    UPDATE stock_lots SET quantity = quantity + :quantity, quarantined = quarantined + :quarantined
    WHERE stock_id = :stock_id AND lot_number = :lot_number
"""
BRING_SERIAL: Final = """
    INSERT INTO stock_serials (article_id, serial, stock_id, lot_number, quarantined)
    VALUES ((SELECT article_id FROM stock WHERE id = :stock_id), :serial, :stock_id, :lot_number, :quarantined > 0)
"""
"""Inserts a serial. The values come from VALUES and not from a SELECT, because SQLite writes a separate journal
for INSERT from SELECT. The more the unit of work has already written, the longer the journal takes.
"""
THIS_SERIAL: Final = """
    article_id = (SELECT article_id FROM stock WHERE id = :stock_id) AND serial = :serial AND +stock_id = :stock_id
"""
"""The SQL condition that finds a serial. The plus sign makes SQLite use the unique index on article and serial.
The index on the stock record is slower, because SQLite then reads all serials of the record.
"""
TAKE_SERIAL: Final = f"DELETE FROM stock_serials WHERE {THIS_SERIAL}"
QUARANTINE_SERIAL: Final = f"""
    UPDATE stock_serials SET quarantined = quarantined + sign(:quarantined) WHERE {THIS_SERIAL}
"""
CHANGES_OF_SERIALS: Final[tuple[tuple[str, Callable[[int], bool]], ...]] = (
    (TAKE_SERIAL, lambda quantity: quantity < 0),
    (QUARANTINE_SERIAL, lambda quantity: quantity == 0),
    (BRING_SERIAL, lambda quantity: quantity > 0),
)
"""The statements that apply movements to serials, each with a condition. A statement is used for the movements
whose quantity meets its condition. The order matters: a serial that changes its lot must leave the old lot before
it enters the new one.
"""


class LotChange(NamedTuple):
    stock_id: int
    lot_number: str
    quantity: int
    quarantined: int


def post_all(tx: Transaction, movements: Sequence[Mapping[str, Any]]) -> None:
    """Apply movements to their lots and serials, all together. Only the ledger calls this function.

    Raise sqlite3.IntegrityError if a movement takes more of a lot than is free. Also raise it if a movement adds a
    serial that is already in stock.
    """
    change_lots(tx, sums_of_lots(movements))
    moved = [movement for movement in movements if movement["serial"] is not None]
    move_serials(tx, lambda: moved)


def move_serials(tx: Transaction, movements: Callable[[], Iterable[Mapping[str, Any]]]) -> None:
    """Apply movements of serials. `movements` is a function that returns the movements. It is called several
    times, so the movements need not be in memory.
    """
    for sql, is_of in CHANGES_OF_SERIALS:
        for some in chunks(movement for movement in movements() if is_of(movement["quantity"])):
            changed = tx.executemany(sql, some)
            assert changed == len(some), (changed, some[:3])


def sums_of_lots(movements: Iterable[Mapping[str, Any]]) -> list[LotChange]:
    """Return the total change of each lot. Because only the totals are applied, the order of the movements in a
    unit of work does not matter.
    """
    sums: dict[tuple[int, str], tuple[int, int]] = {}
    for movement in movements:
        stock_id, lot_number = movement["stock_id"], movement["lot_number"]
        if lot_number is not None:
            quantity, quarantined = sums.get((stock_id, lot_number), (0, 0))
            sums[stock_id, lot_number] = (quantity + movement["quantity"], quarantined + movement["quarantined"])
    return [LotChange(*lot, *amounts) for lot, amounts in sums.items()]


def change_lots(tx: Transaction, changes: Iterable[LotChange]) -> None:
    """Apply the changes to the lots. There must be at most one change for each lot."""
    for some in chunks(each._asdict() for each in changes):
        tx.executemany(OPEN_LOT, some)
        tx.executemany(CHANGE_LOT, some)


FREE_LOTS: Final = """
    SELECT lot_number, quantity - reserved - quarantined FROM stock_lots
    WHERE stock_id = ? AND quantity > 0 ORDER BY id
"""
LOT: Final = """
    SELECT id, quantity - reserved - quarantined FROM stock_lots WHERE stock_id = ? AND lot_number = ?
"""
FREE_WITHOUT_LOT: Final = """
    SELECT stock.quantity - stock.quarantined - coalesce(
        (SELECT sum(quantity - quarantined) FROM stock_lots WHERE stock_id = stock.id AND quantity > 0), 0)
    FROM stock WHERE id = ?
"""
FREE_SERIALS: Final = """
    SELECT serial FROM stock_serials
    WHERE stock_id = ? AND lot_number IS ? AND holder_id IS NULL AND NOT quarantined ORDER BY id LIMIT ?
"""


def free(tx: Transaction, stock_id: int, lot_number: str | None) -> int:
    """Return the free quantity of the lot, in millionths. Goods are not free if they are in quarantine, or if an
    order that names the lot has reserved them.

    `lot_number` is None for the goods without a lot.
    """
    if lot_number is None:
        return tx.number(FREE_WITHOUT_LOT, (stock_id,))
    found = lot(tx, stock_id, lot_number)
    return 0 if found is None else found[1]


def lot(tx: Transaction, stock_id: int, lot_number: str) -> tuple[int, int] | None:
    """Return the id of the lot and its free quantity in millionths. Return None if there is no such lot."""
    return tx.row(LOT, (stock_id, lot_number))


def oldest_parts(tx: Transaction, stock_id: int, quantity: int, lot_number: str | None) -> list[Part]:
    """Return the parts that leave stock for an order that has reserved `quantity`.

    With `lot_number`, take only parts of this lot. Without it, take the oldest lots first, and goods without a lot
    last. From each lot, take the oldest serials first, and then goods without a serial.
    """
    parts: list[Part] = []
    for name, there in _free_lots(tx, stock_id, lot_number):
        taken = min(quantity, there)
        serials = tx.rows(FREE_SERIALS, (stock_id, name, taken // SCALE))
        parts += [Part(SCALE, name, serial) for (serial,) in serials]
        without_serial = taken - len(serials) * SCALE
        if without_serial:
            parts.append(Part(without_serial, name))
        quantity -= taken
        if not quantity:
            break
    assert not quantity, (stock_id, lot_number, quantity)
    return parts


def _free_lots(tx: Transaction, stock_id: int, lot_number: str | None) -> Iterator[tuple[str | None, int]]:
    if lot_number is None:
        yield from tx.rows(FREE_LOTS, (stock_id,))
    yield lot_number, free(tx, stock_id, lot_number)


NAMED_SERIALS: Final = """
    SELECT stock_serials.serial, stock_serials.id, stock_serials.stock_id, stock_serials.lot_number, stock_lots.id,
        stock_serials.quarantined, stock_serials.holder_kind, stock_serials.holder_id
    FROM json_each(:serials) AS named
    CROSS JOIN stock_serials ON stock_serials.article_id = :article_id AND stock_serials.serial = named.value
    LEFT JOIN stock_lots ON stock_lots.stock_id = stock_serials.stock_id
        AND stock_lots.lot_number = stock_serials.lot_number
"""


class Serial(NamedTuple):
    """A serial that is in stock, in any warehouse."""

    serial: str
    id: int
    stock_id: int
    lot_number: str | None
    lot_id: int | None
    quarantined: int
    holder_kind: str | None
    holder_id: int | None

    def is_free(self, stock_id: int, kind: str, document_id: int | None) -> bool:
        """Return True if the document may take the serial from this stock record."""
        is_held = self.holder_id is not None and (self.holder_kind, self.holder_id) != (kind, document_id)
        return self.stock_id == stock_id and not self.quarantined and not is_held


def serials(tx: Transaction, article_id: int, names: Sequence[str]) -> dict[str, Serial]:
    """Return those of the serials `names` of the article that are in stock, in any warehouse."""
    found = tx.rows(NAMED_SERIALS, {"article_id": article_id, "serials": dumps(list(names))})
    return {row[0]: Serial(*row) for row in found}


WAREHOUSES_OF: Final = """
    SELECT stock_serials.article_id, stock_serials.serial, warehouses.code
    FROM json_each(?) AS named
    CROSS JOIN stock_serials
        ON stock_serials.article_id = named.value ->> 0 AND stock_serials.serial = named.value ->> 1
    CROSS JOIN stock ON stock.id = stock_serials.stock_id
    CROSS JOIN warehouses ON warehouses.id = stock.warehouse_id
"""


def warehouses_of(tx: Transaction, named: Sequence[tuple[int, str]]) -> dict[tuple[int, str], str]:
    """Return the code of the warehouse in which each serial is in stock, by article and serial. Serials that are
    not in stock are omitted.
    """
    found = tx.rows(WAREHOUSES_OF, (dumps(named),))
    return {(article_id, serial): warehouse for article_id, serial, warehouse in found}
