"""Purchase orders, receptions, and sales orders that load the received goods, in any order: each step is compared
with the model.
"""

from itertools import product
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from tests.warehouse.documents.machine import DocumentsMachine, latest, walk
from tests.warehouse.documents.model import Document
from tests.warehouse.purchase_orders.model import EXPECTS_MORE
from tests.warehouse.receptions import strategies
from tests.warehouse.sales_orders.model import TRANSITIONS
from tests.warehouse.sales_orders.observing import get
from tests.warehouse.sales_orders.wishes import WISH, WISHES, Wish
from tests.warehouse.stock.model import MILLION, Json

pytestmark = pytest.mark.long

SALES_STATUSES = st.sampled_from(list(TRANSITIONS))
ON = {"CREAT": "IN_LUCRU", "IN_LUCRU": "INCARCAT", "INCARCAT": "IN_LUCRU"}
"""The next status of an order that is loaded and unloaded repeatedly."""
has_orders = precondition(lambda self: self.depot.purchases.by_id)
has_receptions = precondition(lambda self: self.depot.receptions.by_id)
has_sales = precondition(lambda self: self.depot.sales.by_id)


class ReceptionsMachine(DocumentsMachine):
    @invariant()
    def an_order_has_received_what_was_posted_and_no_more_than_it_tolerates(self) -> None:
        receptions = self.depot.receptions.by_id.values()
        posted = [line for each in receptions if each.status == "FINALIZAT" for line in each.lines]
        for order in self.depot.purchases.by_id.values():
            for item in order.lines:
                received = sum(line["quantity"] for line in posted if line["po_item_id"] == item["id"])
                assert item["received"] == received <= self.depot.receptions.most(item), (order.id, item)

    @initialize(pct=st.sampled_from([0, 0, 50]), orders=st.lists(strategies.ORDERS, min_size=1, max_size=2))
    def something_came_and_more_is_ordered(self, pct: int, orders: list[Json]) -> None:
        self.run(self.scene.dock.set_over_receipt_pct(pct))
        self.depot.receptions.company_pct = pct * MILLION
        self.ask("POST", "purchase-orders", None, strategies.FIRST_ORDER)
        self.ask("POST", "receptions", None, {**self.rest_of(1, 0), "status": "FINALIZAT"})
        for body in (strategies.LENIENT_ORDER, *orders):
            self.ask("POST", "purchase-orders", None, body)

    @rule(body=strategies.ORDERS, is_keyed=st.booleans())
    def an_order_is_placed(self, body: Json, is_keyed: bool) -> None:
        self.ask("POST", "purchase-orders", None, body, is_keyed)

    @has_orders
    @rule(back=strategies.BACK, changes=strategies.ORDER_CHANGES, is_keyed=st.booleans())
    def an_order_is_changed(self, back: int, changes: Json, is_keyed: bool) -> None:
        """Change an order, including its status: the order is cancelled, or closed short."""
        self.ask("PATCH", "purchase-orders", latest(self.depot.purchases, back).id, changes, is_keyed)

    @has_orders
    @rule(back=strategies.BACK, edit=strategies.EDITS, is_put=st.booleans())
    def items_are_sent_back(self, back: int, edit: strategies.Edit, is_put: bool) -> None:
        """Send the items of an order back; drafts may name the item that is removed."""
        named = [order for order in self.depot.purchases.drafted() if order.status == "CREAT"]
        order = latest(self.depot.purchases, back)
        if named and back < strategies.FURTHEST:
            order = named[back % len(named)]
            edit = edit._replace(
                at=next(
                    place for place, item in enumerate(order.lines) if item["id"] in self.depot.purchases.named()
                )
            )
        body = self.run(get(self.world, f"/api/purchase-orders/{order.id}"))
        items = edit.of(body["items"])
        if is_put:
            self.ask("PUT", "purchase-orders", order.id, {**body, "items": items})
        else:
            self.ask("PATCH", "purchase-orders", order.id, {"items": items})

    @has_orders
    @rule(
        back=strategies.BACK,
        picks=strategies.SEVERAL,
        fields=strategies.RECEPTIONS,
        status=strategies.AT_ONCE,
        is_keyed=st.booleans(),
    )
    def goods_arrive(
        self, back: int, picks: list[strategies.Pick], fields: Json, status: str, is_keyed: bool
    ) -> None:
        self.ask("POST", "receptions", None, {**self.arrival(back, picks), **fields, "status": status}, is_keyed)

    @has_orders
    @rule(back=strategies.BACK, serial=st.integers(0, 39), warehouse=strategies.PLACES, is_at_once=st.booleans())
    def the_rest_arrives(self, back: int, serial: int, warehouse: int, is_at_once: bool) -> None:
        body = self.rest_of(self.open_order(back).id, serial)
        if body["selected_items"]:
            status = "FINALIZAT" if is_at_once else "CREAT"
            self.ask("POST", "receptions", None, {**body, "warehouse_id": warehouse, "status": status})

    @has_orders
    @rule(
        back=strategies.BACK,
        body=strategies.ORDERS,
        picks=strategies.SEVERAL,
        of_order=strategies.ORDER_MISTAKES,
        of_reception=strategies.RECEPTION_MISTAKES,
    )
    def mistakes_are_made(
        self, back: int, body: Json, picks: list[strategies.Pick], of_order: Json, of_reception: Json
    ) -> None:
        if not of_order and not of_reception:
            for kind, method in product(("purchase-orders", "receptions"), ("PATCH", "DELETE")):
                self.ask(method, kind, self.depot.books[kind].last_id + 1, {"status": "ANULAT"})
        if of_order:
            self.ask("POST", "purchase-orders", None, {**body, **of_order})
        if of_reception:
            self.ask("POST", "receptions", None, {**self.arrival(back, picks), **of_reception})
        if self.depot.receptions.by_id:
            self.ask("PATCH", "receptions", latest(self.depot.receptions, back).id, of_reception)

    @has_orders
    @rule(back=strategies.BACK, drafts=st.lists(strategies.SEVERAL, min_size=2, max_size=4))
    def drafts_of_one_order_are_posted_together(self, back: int, drafts: list[list[strategies.Pick]]) -> None:
        """Post several drafts of one order: each draft fits when it is created, but only some of them fit
        together.
        """
        bodies = [self.arrival(back, picks) for picks in drafts]
        last = self.depot.receptions.last_id
        for body in bodies:
            self.ask("POST", "receptions", None, body)
        for made in range(last + 1, self.depot.receptions.last_id + 1):
            self.ask("PATCH", "receptions", made, {"status": "FINALIZAT"})

    @has_receptions
    @rule(back=strategies.BACK, status=strategies.STATUSES, is_keyed=st.booleans())
    def a_reception_is_moved(self, back: int, status: str, is_keyed: bool) -> None:
        self.ask("PATCH", "receptions", latest(self.depot.receptions, back).id, {"status": status}, is_keyed)

    @has_receptions
    @rule(
        back=strategies.BACK,
        picks=st.none() | strategies.SEVERAL,
        changes=strategies.RECEPTION_CHANGES,
        is_keyed=st.booleans(),
    )
    def a_reception_is_changed(
        self, back: int, picks: list[strategies.Pick] | None, changes: Json, is_keyed: bool
    ) -> None:
        reception = latest(self.depot.receptions, back)
        order = self.depot.purchases.by_id[reception.fields["purchase_order_id"]]
        items = (
            {}
            if picks is None
            else {"selected_items": strategies.items(picks, order.lines, self.depot.receptions)}
        )
        self.ask("PATCH", "receptions", reception.id, {**changes, **items}, is_keyed)

    @has_receptions
    @rule(back=strategies.BACK, changes=strategies.RECEPTION_CHANGES, is_reversed=st.booleans())
    def a_reception_is_sent_back(self, back: int, changes: Json, is_reversed: bool) -> None:
        reception = latest(self.depot.receptions, back)
        body = self.run(get(self.world, f"/api/receptions/{reception.id}"))
        items = body["selected_items"][::-1] if is_reversed else body["selected_items"]
        self.ask("PUT", "receptions", reception.id, {**body, "selected_items": items, **changes})

    @rule(back=strategies.BACK, kind=st.sampled_from(["purchase-orders", "receptions"]))
    def a_document_is_deleted(self, back: int, kind: str) -> None:
        if self.depot.books[kind].by_id:
            self.ask("DELETE", kind, latest(self.depot.books[kind], back).id)

    @rule(wishes=WISHES, is_keyed=st.booleans())
    def goods_are_sold(self, wishes: list[Wish], is_keyed: bool) -> None:
        self.ask("POST", "sales-orders", None, self.sale(wishes), is_keyed)

    @has_sales
    @rule(back=strategies.BACK, wishes=WISHES)
    def a_sale_is_changed(self, back: int, wishes: list[Wish]) -> None:
        order = latest(self.depot.sales, back)
        self.ask("PATCH", "sales-orders", order.id, {"lines": self.sale(wishes)["lines"]})

    @has_sales
    @rule(back=strategies.BACK)
    def a_sale_goes_on_or_back(self, back: int) -> None:
        order = latest(self.depot.sales, back)
        self.ask("PATCH", "sales-orders", order.id, {"status": ON.get(order.status, "CREAT")})

    @rule(wishes=WISHES, others=WISHES, is_brought_back=st.booleans())
    def goods_are_sold_and_loaded(self, wishes: list[Wish], others: list[Wish], is_brought_back: bool) -> None:
        """Sell and load goods while another order reserves some of the remaining goods; unload them again if
        `is_brought_back`.
        """
        for each in (wishes, others):
            self.ask("POST", "sales-orders", None, self.sale(each))
        if not self.depot.sales.by_id:
            return
        order = latest(self.depot.sales, 0)
        for status in ("IN_LUCRU", "INCARCAT", *(["IN_LUCRU"] if is_brought_back else [])):
            self.ask("PATCH", "sales-orders", order.id, {"status": status})

    @rule(wish=WISH, share=st.sampled_from([2, 4, 4]))
    def a_lot_is_sold_and_then_serials_of_it(self, wish: Wish, share: int) -> None:
        """Sell a lot, and then serials of the lot. The first order reserves the lot without choosing its
        serials.
        """
        for each in (wish._replace(names="lot", share=share), wish._replace(names="serials")):
            self.ask("POST", "sales-orders", None, self.sale([each]))

    @has_sales
    @rule(back=strategies.BACK, status=SALES_STATUSES, is_keyed=st.booleans())
    def a_sale_is_moved(self, back: int, status: str, is_keyed: bool) -> None:
        self.ask("PATCH", "sales-orders", latest(self.depot.sales, back).id, {"status": status}, is_keyed)

    @precondition(lambda self: self.keyed)
    @rule(back=strategies.BACK, another=st.sampled_from([{}, {}, {"notes": "another"}]))
    def a_key_is_used_again(self, back: int, another: Json) -> None:
        self.send_again(back, another)

    def arrival(self, back: int, picks: list[strategies.Pick]) -> Json:
        order = self.open_order(back)
        items = strategies.items(picks, order.lines, self.depot.receptions)
        return {"purchase_order_id": order.id, "warehouse_id": 1, "selected_items": items}

    def open_order(self, back: int) -> Document:
        """Return an order that expects more goods; for the largest `back`, return any order."""
        orders = list(self.depot.purchases.by_id.values())
        waiting = [order for order in orders if order.status in EXPECTS_MORE]
        chosen = waiting if waiting and back < strategies.FURTHEST else orders
        return chosen[max(0, len(chosen) - 1 - back)]

    def rest_of(self, order_id: int, serial: int) -> Json:
        order = self.depot.purchases.by_id[order_id]
        items = strategies.all_that_is_left(serial, order.lines, self.depot.receptions)
        return {"purchase_order_id": order.id, "warehouse_id": 1, "selected_items": items}

    def sale(self, wishes: list[Wish]) -> Json:
        lines = [wish.of(self.depot.stock) for wish in wishes]
        return {"partner_id": 1, "warehouse_id": 1, "lines": lines}


def test_many_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    walk(ReceptionsMachine, tmp_path, capsys)
