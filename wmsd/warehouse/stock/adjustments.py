"""Changes of stock by hand: adjustments, quarantine and release. Each change has a reason, and is posted to the
ledger.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from wmsd.base.problems import FieldErrors, by_path, refuse_errors
from wmsd.base.quantity import SCALE, to_text
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.articles import store as articles
from wmsd.warehouse.stock import lots, store
from wmsd.warehouse.stock.parts import NOTHING, Amounts, Contents, PartKey, Parts, contents_of
from wmsd.warehouse.stock.rules import Change, Fault, count_total, faults_of, only, part_changes
from wmsd.warehouse.stock.schema import Adjustment, Quarantining, StockChange
from wmsd.warehouse.stock.stock_ledger import Kind, Movement, post_all

Make = Callable[[Contents, list[Fault]], Parts]
"""A function that receives the contents of a stock record and a list of faults. It returns the new parts of the
record. If something forbids the change, it adds the reason to the list.
"""


def adjust(tx: Transaction, article_id: int, warehouse_id: int, body: Adjustment) -> list[Change]:
    """Change the quantity of the article in the warehouse. `body` gives a difference or a new total.

    If `body` names a lot or serials, only their quantity changes. Goods can be added without a lot or serial, even
    if the article is tracked by lots or serials.

    Raise Problem (422) if less would remain than orders have reserved. Goods with a lot or serial cannot be
    removed unless `body` names them.
    """
    column = "by" if body.by is not None else "to"
    refuse_errors(_adjustment_errors(body))
    make = partial(_adjusted_serials if body.serials else _adjusted, body)
    return change_parts(tx, (article_id, warehouse_id), make, "adjustment", body.reason, column)


def quarantine(tx: Transaction, article_id: int, warehouse_id: int, body: Quarantining) -> list[Change]:
    """Put goods in quarantine. The quantity stays the same, and the available quantity falls.

    Raise Problem (422) if orders have reserved the goods. Also raise it if `body` gives a quantity, but less is in
    stock outside quarantine. This quantity does not include goods whose lot or serial `body` does not name. Only
    `everything` includes all goods.
    """
    return _quarantine(tx, (article_id, warehouse_id), body, enters=True)


def release(tx: Transaction, article_id: int, warehouse_id: int, body: Quarantining) -> list[Change]:
    """Release goods from quarantine. The quantity stays the same, and the available quantity rises.

    Raise Problem (422) if less than the given quantity is in quarantine. This quantity does not include goods
    whose lot or serial `body` does not name. Only `everything` includes all goods.
    """
    return _quarantine(tx, (article_id, warehouse_id), body, enters=False)


def _quarantine(tx: Transaction, place: tuple[int, int], body: Quarantining, enters: bool) -> list[Change]:
    refuse_errors(_quarantining_errors(body))
    kind: Kind = "quarantine" if enters else "release"
    make = partial(_quarantined_serials if body.serials else _quarantined, body, enters)
    return change_parts(tx, place, make, kind, body.reason, "everything" if body.everything else "quantity")


def change_parts(
    tx: Transaction, place: tuple[int, int], make: Make, kind: Kind, reason: str, column: str
) -> list[Change]:
    """Post a change of a stock record to the ledger. `make` computes the new content. Return the changes of its
    parts.

    `place` is the article and the warehouse. `column` is the field at which errors about a quantity are reported.
    """
    stock_id, (article_id, _) = store.id_of(tx, *place), place
    before = contents_of(tx, [stock_id])[stock_id]
    (article,) = articles.references(tx, [article_id], [])
    faults: list[Fault] = []
    after = make(before, faults)
    made = part_changes(before.parts, after)
    if not faults:
        faults = [*faults_of(before, after, article.tracks_serials), *_elsewhere(tx, article_id, made)]
    columns = {"quantity": column, "quarantined": column, "serial": "serials"}
    refuse_errors(by_path((columns[fault.column], fault.sentence) for fault in faults))
    post_all(tx, [(stock_id, _movement(change, kind, reason)) for change in made])
    return made


def _movement(change: Change, kind: Kind, reason: str) -> Movement:
    return Movement(
        change.difference.quantity,
        kind=kind,
        quarantined=change.difference.quarantined,
        lot_number=change.goods.lot_number,
        serial=change.goods.serial,
        reason=reason,
    )


def _elsewhere(tx: Transaction, article_id: int, made: Sequence[Change]) -> Iterator[Fault]:
    """Yield a fault for each added serial that is already in stock in another warehouse."""
    added = [(article_id, goods.serial) for goods, before, _ in made if goods.serial and before == NOTHING]
    for (_, serial), warehouse in lots.warehouses_of(tx, added).items():
        yield Fault(None, "serial", f"{serial} is in stock in {warehouse} already")


def _adjustment_errors(body: Adjustment) -> FieldErrors:
    errors = _serial_errors(body, None if body.by is None else abs(body.by), "by")
    if (body.by is None) == (body.to is None):
        errors["by"] = [
            "is required if `to` is missing, and not allowed together with `to`: send only one of them"
        ]
    elif body.by == 0:
        errors["by"] = ["must not be 0"]
    elif body.serials and body.to is not None:
        errors["to"] = ["cannot be combined with serials: use the field `by` instead"]
    return errors


def _quarantining_errors(body: Quarantining) -> FieldErrors:
    errors = _serial_errors(body, body.quantity, "quantity")
    if body.everything and (body.serials or body.quantity is not None):
        errors["everything"] = ["cannot be combined with a quantity or serials"]
    elif not body.everything and not body.serials and body.quantity is None:
        errors["quantity"] = ["is required if `serials` and `everything` are missing"]
    return errors


def _serial_errors(body: StockChange, quantity: int | None, column: str) -> FieldErrors:
    if not body.serials:
        return {}
    if len(set(body.serials)) < len(body.serials):
        return {"serials": ["contains the same serial twice"]}
    if quantity not in (None, len(body.serials) * SCALE):
        return {column: [f"must be {len(body.serials)}, the number of serials"]}
    return {}


def _adjusted(body: Adjustment, before: Contents, faults: list[Fault]) -> Parts:
    if body.by is None:
        assert body.to is not None
        return count_total(before, body.lot_number, body.to, None, faults)
    there = before.parts.get(PartKey(body.lot_number), NOTHING)
    if there.free_of_quarantine + body.by < 0:
        state = " and not in quarantine" if there.quarantined else ""
        most = only(before, body.lot_number, there.free_of_quarantine, state)
        faults.append(Fault(None, "quantity", f"would remove {to_text(-body.by)}, but {most}"))
    return _replaced(before.parts, PartKey(body.lot_number), Amounts(there.quantity + body.by, there.quarantined))


def _adjusted_serials(body: Adjustment, before: Contents, faults: list[Fault]) -> Parts:
    assert body.by is not None
    if body.by < 0:
        gone = set(_found(body, before, faults))
        return {goods: there for goods, there in before.parts.items() if goods not in gone}
    known = {goods.serial for goods in before.parts}
    faults += [_of(serial, "is in stock already") for serial in body.serials if serial in known]
    return {**before.parts, **{PartKey(body.lot_number, serial): Amounts(SCALE) for serial in body.serials}}


def _quarantined(body: Quarantining, enters: bool, before: Contents, faults: list[Fault]) -> Parts:
    if body.everything:
        chosen = [goods for goods in before.parts if body.lot_number in (None, goods.lot_number)]
        if not chosen:
            faults.append(Fault(None, "quantity", "matches no goods in stock"))
        return {**before.parts, **{goods: _whole(before.parts[goods], enters) for goods in chosen}}
    assert body.quantity is not None
    there = before.parts.get(PartKey(body.lot_number), NOTHING)
    most, state = (there.free_of_quarantine, "not ") if enters else (there.quarantined, "")
    if body.quantity > most:
        sentence = only(before, body.lot_number, most, f" and {state}in quarantine")
        faults.append(Fault(None, "quantity", f"is {to_text(body.quantity)}, but {sentence}"))
    change = body.quantity if enters else -body.quantity
    return _replaced(before.parts, PartKey(body.lot_number), Amounts(there.quantity, there.quarantined + change))


def _quarantined_serials(body: Quarantining, enters: bool, before: Contents, faults: list[Fault]) -> Parts:
    chosen = _found(body, before, faults)
    state = "in quarantine already" if enters else "not in quarantine"
    faults += [
        _of(goods.serial, f"is {state}") for goods in chosen if bool(before.parts[goods].quarantined) == enters
    ]
    return {**before.parts, **{goods: _whole(before.parts[goods], enters) for goods in chosen}}


def _found(body: StockChange, before: Contents, faults: list[Fault]) -> list[PartKey]:
    """Return the keys of the serials that `body` names, in the stock `before`. Add a fault for each serial that is
    not in stock, or is in another lot than `body` says.
    """
    known = {goods.serial: goods for goods in before.parts if goods.serial is not None}
    for serial in body.serials:
        if serial not in known:
            faults.append(_of(serial, "is not in stock in this warehouse"))
        elif body.lot_number not in (None, known[serial].lot_number):
            faults.append(_of(serial, f"does not belong to lot {body.lot_number}"))
    return [known[serial] for serial in body.serials if serial in known]


def _of(serial: str | None, sentence: str) -> Fault:
    return Fault(None, "serial", f"{serial} {sentence}")


def _whole(there: Amounts, enters: bool) -> Amounts:
    return Amounts(there.quantity, there.quantity if enters else 0)


def _replaced(parts: Parts, goods: PartKey, there: Amounts) -> Parts:
    return {each: amount for each, amount in {**parts, goods: there}.items() if amount != NOTHING}
