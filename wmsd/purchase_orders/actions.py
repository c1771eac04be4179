"""The use cases of purchase orders."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from wmsd.base.flaws import Flaw, refuse_flaws
from wmsd.base.moves import Step
from wmsd.base.operation import operation
from wmsd.base.problems import not_found
from wmsd.base.results import Page, Record
from wmsd.db.transaction import Transaction
from wmsd.documents.references import Articles, check_fields, check_unique
from wmsd.outbox.events import record_event
from wmsd.purchase_orders import store
from wmsd.purchase_orders.rules import BY_HAND, INITIAL, Status
from wmsd.purchase_orders.schema import (
    ItemFields,
    PurchaseOrder,
    PurchaseOrderChanges,
    PurchaseOrderFields,
    PurchaseOrderQuery,
)

Columns = dict[str, Any]
OWN_FIELDS: Final = tuple(name for name in PurchaseOrderFields.model_fields if name not in ("status", "items"))

reading = partial(
    operation, tag="Purchase orders", returns=PurchaseOrder, module="inbound", ability="purchase-orders:read"
)
writing = partial(
    operation,
    tag="Purchase orders",
    returns=PurchaseOrder,
    module="inbound",
    ability="purchase-orders:write",
    answer="record",
    writes=True,
)
REFUSALS: Final = ("INVALID_PARTNER", "INVALID_WAREHOUSE", "INVALID_ARTICLE")
CHANGED: Final = ("purchase_order.updated", "purchase_order.status_changed")


@reading(answer="page")
def list_purchase_orders(tx: Transaction, query: PurchaseOrderQuery) -> Page:
    """List purchase orders, page by page."""
    return store.page(tx, query)


@reading(answer="record")
def get_purchase_order(tx: Transaction, id: int) -> Record:
    """Get a purchase order."""
    return _one(tx, id)


def _one(tx: Transaction, id: int) -> Record:
    record = store.one(tx, id)
    if record is None:
        raise not_found("purchase order")
    return record


@writing(creates=True, events=("purchase_order.created",), codes=REFUSALS)
def create_purchase_order(tx: Transaction, body: PurchaseOrderFields) -> Record:
    """Create a purchase order."""
    values = {name: getattr(body, name) for name in OWN_FIELDS}
    rows, flaws = _find_items(tx, body.items)
    refuse_flaws([*_not_initial(body.status), *_check_fields(tx, None, values, {}), *flaws])
    order_id = store.insert(tx, values)
    store.write_items(tx, order_id, rows)
    record = _one(tx, order_id)
    record_event(tx, "purchase_order.created", order_id, record.json)
    return record


@writing(events=CHANGED, codes=("INVALID_STATUS", *REFUSALS), precondition=_one)
def replace_purchase_order(tx: Transaction, id: int, body: PurchaseOrderFields) -> Record:
    """Replace a purchase order.

    A field that is not sent takes its default, but code and status stay as they are. Items may change in CREAT
    only, other fields until RECEPTIONAT or ANULAT. When nothing differs, nothing is written and no event is sent.
    """
    given = {name: getattr(body, name) for name in OWN_FIELDS}
    return change(tx, id, given, body.items, body.status if "status" in body.model_fields_set else None)


@writing(events=CHANGED, codes=("INVALID_STATUS", *REFUSALS), precondition=_one)
def update_purchase_order(tx: Transaction, id: int, body: PurchaseOrderChanges) -> Record:
    """Change some fields of a purchase order, or its status.

    By hand an order is cancelled (CREAT to ANULAT) or closed short (PARTIAL to RECEPTIONAT); receptions do the
    rest. `items` replaces all items. When nothing differs, nothing is written and no event is sent.
    """
    given = body.given()
    items, status = given.pop("items", None), given.pop("status", None)
    return change(tx, id, given, items, status)  # type: ignore[arg-type]  # what the model has checked


@operation(
    tag="Purchase orders",
    answer="nothing",
    module="inbound",
    ability="purchase-orders:write",
    writes=True,
    codes=("INVALID_STATUS",),
    precondition=_one,
)
def delete_purchase_order(tx: Transaction, id: int) -> None:
    """Delete a purchase order.

    In CREAT, and when no reception names it. No event tells of it.
    """
    current = store.columns(tx, id)
    if current is None:
        raise not_found("purchase order")
    status = current["status"]
    if status != INITIAL:
        raise BY_HAND.forbidden(f"This purchase order is {status}. It cannot be deleted.", status)
    store.delete(tx, id)


def change(
    tx: Transaction,
    order_id: int,
    given: Mapping[str, Any],
    sent_items: list[ItemFields] | None = None,
    status: Status | None = None,
) -> Record:
    """Lays what was given over the order and moves it, in the order that the statuses allow."""
    current = store.columns(tx, order_id)
    if current is None:
        raise not_found("purchase order")
    values = {**current, **given, "code": given.get("code") or current["code"]}
    before = store.items(tx, order_id) if sent_items is not None else []
    rows, flaws = _find_items(tx, sent_items or [], before)
    items_differ = _ordered(rows) != _ordered(before)
    for step in BY_HAND.steps(current["status"], status or current["status"], values != current, items_differ):
        match step:
            case Step.MOVE:
                move(tx, order_id, current["status"], status or current["status"])
            case Step.CHANGE:
                refuse_flaws([*_check_fields(tx, order_id, values, current), *flaws])
                store.update(tx, order_id, values)
                if items_differ:
                    store.write_items(tx, order_id, rows)
                record_event(tx, "purchase_order.updated", order_id, _one(tx, order_id).json)
    return _one(tx, order_id)


def move(tx: Transaction, order_id: int, current: Status, requested: Status) -> None:
    """Whether it may, the caller has asked: by hand and by receptions different moves are allowed."""
    store.move(tx, order_id, requested)
    data = store.status_changed_data(tx, order_id, current)
    record_event(tx, "purchase_order.status_changed", order_id, data)


def _find_items(
    tx: Transaction, sent: Sequence[ItemFields], before: Sequence[Columns] = ()
) -> tuple[list[Columns], list[Flaw]]:
    """The items as they are stored, with an article that is not known as None, and what is wrong with them."""
    articles = Articles(tx, sent)
    ids, kept = {row["id"] for row in before}, {row["article_id"] for row in before}
    rows, flaws = [], []
    for number, item in enumerate(sent):
        article_id, flaw = articles.find(item, f"items.{number}", kept)
        if flaw is not None:
            flaws.append(flaw)
        item_id = item.id if item.id in ids else None
        ids.discard(item_id)
        rows.append({"id": item_id, "article_id": article_id, "quantity": item.quantity})
    return rows, flaws


def _ordered(rows: Sequence[Columns]) -> list[tuple[Any, ...]]:
    """What makes two lists of items the same."""
    return [(row["article_id"], row["quantity"]) for row in rows]


def _check_fields(
    tx: Transaction, order_id: int | None, values: Mapping[str, Any], current: Mapping[str, Any]
) -> Iterator[Flaw]:
    yield from check_fields(tx, values, current)
    finders = {"code": store.id_of_code, "external_ref": store.id_of_external_ref}
    yield from check_unique(tx, BY_HAND.noun, order_id, values, finders)


def _not_initial(status: Status) -> list[Flaw]:
    if status == INITIAL:
        return []
    return [Flaw("VALIDATION_FAILED", "status", f"must be {INITIAL}: every order begins there")]
