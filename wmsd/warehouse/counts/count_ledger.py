"""Reads the stock of all articles of a count at once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.counts import store
from wmsd.warehouse.counts.rules import Row
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.parts import NOTHING, Contents, PartKey, contents_of
from wmsd.warehouse.stock.store import Place


class Ledger:
    """The stock of some articles in one warehouse. An article that was never in the warehouse has no stock record,
    and its stock is 0.
    """

    def __init__(self, tx: Transaction, stock_ids: dict[int, int]) -> None:
        """Create the object. `stock_ids` has the ids of the articles' stock records, by article id."""
        self._tx = tx
        self.stock_ids = stock_ids
        self._by_name: dict[int, tuple[Mapping[str, PartKey], Mapping[str, list[PartKey]]]] = {}

    @classmethod
    def of(cls, tx: Transaction, warehouse_id: int, article_ids: Iterable[int]) -> "Ledger":
        places = [Place(article_id, warehouse_id) for article_id in sorted(set(article_ids))]
        found = stock.available_at(tx, places)
        return cls(tx, {place.article_id: stock_id for place, (stock_id, _) in found.items()})

    @cached_property
    def _contents(self) -> dict[int, Contents]:
        return contents_of(self._tx, self.stock_ids.values())

    @cached_property
    def last_movement(self) -> int:
        return store.last_movement(self._tx)

    def contents(self, article_id: int) -> Contents:
        stock_id = self.stock_ids.get(article_id)
        return Contents() if stock_id is None else self._contents[stock_id]

    def quantity(self, article_id: int, goods: PartKey) -> int:
        return self.contents(article_id).parts.get(goods, NOTHING).quantity

    def _named(self, article_id: int) -> tuple[Mapping[str, PartKey], Mapping[str, list[PartKey]]]:
        """Return the keys of the article's goods in two dicts: by serial, and by lot. The dicts are cached,
        because a count may name many lots and serials.
        """
        if article_id not in self._by_name:
            by_serial: dict[str, PartKey] = {}
            by_lot: dict[str, list[PartKey]] = {}
            for goods in self.contents(article_id).parts:
                if goods.serial is not None:
                    by_serial.setdefault(goods.serial, goods)
                if goods.lot_number is not None:
                    by_lot.setdefault(goods.lot_number, []).append(goods)
            self._by_name[article_id] = (by_serial, by_lot)
        return self._by_name[article_id]

    def part_of_serial(self, article_id: int, serial: str) -> PartKey:
        """Return the key of the goods with this serial. If the serial is in stock in the warehouse, the key also
        contains the lot of the serial.
        """
        return self._named(article_id)[0].get(serial) or PartKey(None, serial)

    def parts(self, article_id: int, named: PartKey) -> list[PartKey]:
        """Return the keys of all goods in stock that match `named`. If `named` has no lot and no serial, all goods
        of the article match. If it has only a lot, all goods of the lot match.

        If `named` has a serial, or if no goods match, return only `named`.
        """
        if named.serial is not None:
            return [named]
        if named.lot_number is None:
            return list(self.contents(article_id).parts) or [named]
        return self._named(article_id)[1].get(named.lot_number) or [named]

    def line(self, article_id: int, goods: PartKey) -> Row:
        """Return a new line, which is not counted yet."""
        return {
            "id": None,
            "article_id": article_id,
            **goods._asdict(),
            "expected_quantity": self.quantity(article_id, goods),
            "counted_quantity": None,
            "counted_at": None,
            "arrived_at": None,
            "ledger_quantity": None,
            "last_movement": self.last_movement,
            "count_again": 0,
            "booked_quantity": None,
        }

    def lines_of_all(self) -> Iterator[Row]:
        """Yield a new line for each part of the stock: each lot, each serial, and the goods that have neither."""
        for article_id in self.stock_ids:
            for goods in self.contents(article_id).parts:
                yield self.line(article_id, goods)

    def moved(self, seen: Sequence[tuple[Row, str | None]]) -> list[bool]:
        """Return for each item of `seen` whether its goods have moved since the counting person last saw them.

        Each item of `seen` is a line, and the time when the person saw the goods. If this time is None, use the
        time when the line was last counted. If it was never counted, use the time when it was created.
        """
        asked, places = [], []
        for place, (row, at) in enumerate(seen):
            stock_id = self.stock_ids.get(row["article_id"])
            if stock_id is not None:
                places.append(place)
                asked.append(store.Seen(stock_id, row["lot_number"], row["serial"], row["last_movement"], at))
        moved = {places[number] for number in store.moved_since(self._tx, asked)}
        return [place in moved for place in range(len(seen))]
