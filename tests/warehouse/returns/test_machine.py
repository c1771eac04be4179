"""Returns, with and without sales orders in every status, in any order: each step is compared with the model."""

from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from tests.warehouse.documents.machine import DocumentsMachine, latest, walk
from tests.warehouse.receptions.strategies import FIRST_ORDER, all_that_is_left
from tests.warehouse.returns import strategies
from tests.warehouse.sales_orders.model import TRANSITIONS
from tests.warehouse.sales_orders.observing import get
from tests.warehouse.sales_orders.wishes import WISHES, Wish
from tests.warehouse.stock.model import Json

pytestmark = pytest.mark.long

SALES_STATUSES = st.sampled_from(list(TRANSITIONS))
WAYS = st.sampled_from([["IN_LUCRU", "INCARCAT"], ["IN_LUCRU", "INCARCAT", "LIVRAT"], ["IN_LUCRU"], []])
SERIALS = st.integers(0, 39)
has_returns = precondition(lambda self: self.depot.returns.by_id)
has_sales = precondition(lambda self: self.depot.sales.by_id)


class ReturnsMachine(DocumentsMachine):
    @invariant()
    def never_more_of_an_article_came_back_than_an_order_shipped(self) -> None:
        for order_id in self.depot.sales.came_back:
            shipped, returned = self.depot.returns.shipped(order_id), self.depot.returns.returned(order_id)
            assert all(returned[article] <= shipped[article] for article in returned), (order_id, returned)

    @initialize(serial=SERIALS, several=st.lists(strategies.PIECES, min_size=1, max_size=2))
    def something_came_and_went_and_comes_back(self, serial: int, several: list[list[strategies.Piece]]) -> None:
        self.bring(serial)
        self.send_out(strategies.SOLD, ["IN_LUCRU", "INCARCAT"])
        for pieces in several:
            self.ask("POST", "returns", None, self.of_order(0, pieces))

    @rule(serial=SERIALS)
    def goods_arrive(self, serial: int) -> None:
        """Receive goods, among them serials that left with an order. This order can no longer be unloaded."""
        self.bring(serial)

    @rule(wishes=WISHES, way=WAYS)
    def goods_are_sold(self, wishes: list[Wish], way: list[str]) -> None:
        self.send_out([wish.of(self.depot.stock) for wish in wishes], way)

    @has_sales
    @rule(back=strategies.BACK, status=SALES_STATUSES, is_keyed=st.booleans())
    def a_sale_is_moved(self, back: int, status: str, is_keyed: bool) -> None:
        self.ask("PATCH", "sales-orders", latest(self.depot.sales, back).id, {"status": status}, is_keyed)

    @has_sales
    @rule(back=strategies.BACK)
    def a_sale_is_unloaded_and_loaded_again(self, back: int) -> None:
        order = latest(self.depot.sales, back)
        for status in ("IN_LUCRU", "INCARCAT"):
            self.ask("PATCH", "sales-orders", order.id, {"status": status})

    @has_sales
    @rule(back=strategies.BACK, wishes=WISHES)
    def a_sale_is_loaded_with_other_goods(self, back: int, wishes: list[Wish]) -> None:
        """Load a sales order with other goods. The goods of its first load can no longer come back."""
        order = latest(self.depot.sales, back)
        lines = [wish.of(self.depot.stock) for wish in wishes]
        for change in ({"status": "IN_LUCRU"}, {"status": "CREAT"}, {"lines": lines}):
            self.ask("PATCH", "sales-orders", order.id, change)
        for status in ("IN_LUCRU", "INCARCAT"):
            self.ask("PATCH", "sales-orders", order.id, {"status": status})

    @rule(back=strategies.BACK, pieces=strategies.PIECES, fields=strategies.RETURNS, is_keyed=st.booleans())
    def goods_come_back(self, back: int, pieces: list[strategies.Piece], fields: Json, is_keyed: bool) -> None:
        self.ask("POST", "returns", None, {**self.of_order(back, pieces), **fields}, is_keyed)

    @rule(pieces=strategies.PIECES, fields=strategies.RETURNS)
    def goods_come_back_of_no_order(self, pieces: list[strategies.Piece], fields: Json) -> None:
        self.ask("POST", "returns", None, {"partner_id": 1, "lines": self.lines(None, pieces), **fields})

    @rule(back=strategies.BACK, pieces=strategies.PIECES, mistakes=strategies.MISTAKES)
    def goods_come_back_with_mistakes(self, back: int, pieces: list[strategies.Piece], mistakes: Json) -> None:
        if mistakes:
            self.ask("POST", "returns", None, {**self.of_order(back, pieces), **mistakes})
        else:
            self.ask("PATCH", "returns", self.depot.returns.last_id + 1, {"status": "ANULAT"})

    @rule(back=strategies.BACK, several=st.lists(strategies.PIECES, min_size=2, max_size=3), way=strategies.WALKS)
    def one_order_comes_back_in_parts(
        self, back: int, several: list[list[strategies.Piece]], way: list[str]
    ) -> None:
        last = self.depot.returns.last_id
        for pieces in several:
            self.ask("POST", "returns", None, self.of_order(back, pieces))
        for made in range(last + 1, self.depot.returns.last_id + 1):
            for status in way:
                self.ask("PATCH", "returns", made, {"status": status})

    @has_returns
    @rule(back=strategies.BACK, status=strategies.STATUSES, is_keyed=st.booleans())
    def a_return_is_moved(self, back: int, status: str, is_keyed: bool) -> None:
        self.ask("PATCH", "returns", latest(self.depot.returns, back).id, {"status": status}, is_keyed)

    @has_returns
    @rule(
        back=strategies.BACK,
        dispositions=st.lists(strategies.DISPOSITIONS, min_size=3, max_size=3),
        status=strategies.STATUSES,
    )
    def a_return_is_decided(self, back: int, dispositions: list[str | None], status: str) -> None:
        """Set the disposition of each line, and in some cases move the return in the same request."""
        made = latest(self.depot.returns, back)
        pairs = zip(made.lines, dispositions, strict=False)
        lines = [{"id": line["id"], "disposition": disposition} for line, disposition in pairs]
        self.ask("PATCH", "returns", made.id, {"lines": lines, "status": status})

    @has_returns
    @rule(back=strategies.BACK, changes=strategies.CHANGES, order=st.none() | strategies.BACK)
    def a_return_is_changed(self, back: int, changes: Json, order: int | None) -> None:
        """Change a return; the change may bind the return to an order, or unbind it."""
        bound = {} if order is None else {"sales_order_id": self.shipped_order(order)}
        self.ask("PATCH", "returns", latest(self.depot.returns, back).id, {**changes, **bound})

    @has_returns
    @rule(back=strategies.BACK, edit=strategies.EDITS, pieces=st.none() | strategies.PIECES)
    def lines_are_changed(self, back: int, edit: strategies.Edit, pieces: list[strategies.Piece] | None) -> None:
        """Change the lines of a return. A draft that is bound to an order may not exceed the shipped goods."""
        returns = self.depot.returns.by_id.values()
        bound = [each for each in returns if each.status == "CREAT" and each.fields["sales_order_id"]]
        made = (
            bound[back % len(bound)] if bound and back < strategies.FURTHEST else latest(self.depot.returns, back)
        )
        shown = self.run(get(self.world, f"/api/returns/{made.id}"))["lines"]
        lines = edit.of(shown) if pieces is None else self.lines(made.fields["sales_order_id"], pieces)
        self.ask("PATCH", "returns", made.id, {"lines": lines})

    @has_returns
    @rule(back=strategies.BACK, changes=strategies.CHANGES, edit=strategies.EDITS)
    def a_return_is_sent_back(self, back: int, changes: Json, edit: strategies.Edit) -> None:
        made = latest(self.depot.returns, back)
        body = self.run(get(self.world, f"/api/returns/{made.id}"))
        self.ask("PUT", "returns", made.id, {**body, "lines": edit.of(body["lines"]), **changes})

    @precondition(lambda self: self.keyed)
    @rule(back=strategies.BACK, another=st.sampled_from([{}, {}, {"notes": "another"}]))
    def a_key_is_used_again(self, back: int, another: Json) -> None:
        self.send_again(back, another)

    def bring(self, serial: int) -> None:
        self.ask("POST", "purchase-orders", None, FIRST_ORDER)
        order = latest(self.depot.purchases, 0)
        items = all_that_is_left(serial, order.lines, self.depot.receptions)
        body = {"purchase_order_id": order.id, "warehouse_id": 1, "status": "FINALIZAT", "selected_items": items}
        self.ask("POST", "receptions", None, body)

    def send_out(self, lines: list[Json], way: list[str]) -> None:
        last = self.depot.sales.last_id
        self.ask("POST", "sales-orders", None, {"partner_id": 1, "warehouse_id": 1, "lines": lines})
        for status in way if self.depot.sales.last_id > last else []:
            self.ask("PATCH", "sales-orders", self.depot.sales.last_id, {"status": status})

    def of_order(self, back: int, pieces: list[strategies.Piece]) -> Json:
        order_id = self.shipped_order(back)
        lines = self.lines(order_id, pieces)
        return {"partner_id": 1, "warehouse_id": 1, "sales_order_id": order_id, "lines": lines}

    def shipped_order(self, back: int) -> int | None:
        """Return an order that has shipped; for the largest `back`, return any order."""
        orders = strategies.shipped_orders(self.depot.returns)
        if back == strategies.FURTHEST or not orders:
            orders = list(self.depot.sales.by_id)
        return orders[max(0, len(orders) - 1 - back)] if orders else None

    def lines(self, order_id: int | None, pieces: list[strategies.Piece]) -> list[Json]:
        return [piece.of(self.depot.returns, order_id) for piece in pieces]


def test_many_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walk(ReturnsMachine, tmp_path, capsys)
