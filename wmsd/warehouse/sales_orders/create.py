"""The creation of one or many sales orders.

Each order can only use the stock that the orders before it have left.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem
from wmsd.contract.field_errors import refuse_field_errors
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.document_events import emit_several_created
from wmsd.warehouse.documents.document_packaging import goes_with
from wmsd.warehouse.documents.document_references import Articles, check_document, not_initial
from wmsd.warehouse.documents.document_reservations import find_stock, places_of
from wmsd.warehouse.sales_orders.rules import LOADED
from wmsd.warehouse.sales_orders.sales_order_references import Lines, find_lines
from wmsd.warehouse.sales_orders.schema import SalesOrderFields
from wmsd.warehouse.sales_orders.store import ORDER_LINES, ORDERS
from wmsd.warehouse.stock import store as stock
from wmsd.warehouse.stock.stock_reservations import Reservation, reserve_for_new
from wmsd.warehouse.stock.store import Place

Made = Record | Problem


def create_orders(tx: Transaction, bodies: Sequence[SalesOrderFields]) -> list[Made]:
    """Create the orders. Return the record of each order, or the problem that prevented its creation.

    The references of all orders are read together, and the lines of all orders are written together.
    """
    articles = Articles(tx, [line for body in bodies for line in body.lines])
    found = [find_lines(tx, body.lines, body.warehouse_id, articles=articles) for body in bodies]
    places = {place for lines in found for place in places_of(lines.rows)}
    new = _New(tx, stock.available_at(tx, places))
    made: list[int | Problem] = []
    for body, lines in zip(bodies, found, strict=True):
        try:
            made.append(new.add(body, lines))
        except Problem as problem:
            made.append(problem)
    records = new.tell()
    return [each if isinstance(each, Problem) else records[each] for each in made]


@dataclass(slots=True)
class _New:
    """Collects new orders. Each order is inserted immediately. The lines and reservations of all orders are
    written together later.
    """

    tx: Transaction
    there: dict[Place, tuple[int, int]]
    """The stock that is left after the orders that were added so far. The key is the article and the warehouse.
    The value is the id of the stock record and the available quantity.
    """
    ids: list[int] = field(default_factory=list)
    _lines: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    _reservations: dict[int, Reservation] = field(default_factory=dict)

    def add(self, body: SalesOrderFields, lines: Lines) -> int:
        """Insert the order and return its id. Raise Problem (422) with every error."""
        tx = self.tx
        values = ORDERS.replacement(body)
        errors = [
            *not_initial(ORDERS, body.status),
            *goes_with(body.packaging, None, LOADED),
            *check_document(tx, ORDERS, None, values, {}),
            *lines.errors,
        ]
        wanted = find_stock(tx, ORDERS, None, lines.rows, errors, body.warehouse_id, self.there)
        refuse_field_errors(errors)
        order_id = ORDERS.insert(tx, values)
        self.ids.append(order_id)
        self._lines[order_id], self._reservations[order_id] = lines.rows, wanted
        for place in places_of(lines.rows):
            stock_id, free = self.there[place]
            self.there[place] = stock_id, free - wanted.stock[stock_id]
        if wanted.lots or wanted.serials:
            self._write()  # the next orders check lots and serials against the stored reservations
        return order_id

    def _write(self) -> None:
        ORDER_LINES.insert(self.tx, self._lines)
        reserve_for_new(self.tx, ORDERS.entity, self._reservations)
        self._lines.clear()
        self._reservations.clear()

    def tell(self) -> dict[int, Record]:
        self._write()
        return emit_several_created(self.tx, ORDERS, self.ids)
