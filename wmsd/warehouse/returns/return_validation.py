"""Finds the articles and the errors in the lines of a return. Also compares the return with the sales order that
shipped the goods.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from wmsd.base.quantity import SCALE, to_text
from wmsd.contract.field_errors import FieldError, invalid_field
from wmsd.contract.operation import MALFORMED
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.documents.document_references import Articles, check_document, references_of
from wmsd.warehouse.documents.whole_lines import whole_lines
from wmsd.warehouse.returns import store
from wmsd.warehouse.returns.rules import TRANSITIONS
from wmsd.warehouse.returns.schema import ReturnLineFields
from wmsd.warehouse.returns.store import RETURN_LINES, RETURNS
from wmsd.warehouse.sales_orders import rules as order_rules
from wmsd.warehouse.sales_orders.rules import SHIPPED
from wmsd.warehouse.sales_orders.store import ORDERS

Row = dict[str, Any]
"""A line as it is stored: id, article_id, quantity, disposition, lot_number, serials (JSON)."""
DISPOSITION: Final = ("disposition",)
DISPOSITION_ONLY: Final = {"id", *DISPOSITION}


def find_lines(
    tx: Transaction, sent: Sequence[ReturnLineFields], before: Sequence[Row], errors: list[FieldError]
) -> list[Row]:
    """Convert the sent lines to stored form and return them. Add their errors to `errors`. If an article is
    unknown, the `article_id` of its line is None.

    `before` are the lines that are stored now.
    """
    if before and all(line.model_fields_set == DISPOSITION_ONLY for line in sent):
        return _disposed(sent, before, errors)
    kept = RETURN_LINES.kept(sent, before)
    lines = [_whole(line, row) for line, row in zip(sent, kept, strict=True)]
    articles = Articles(tx, lines, before)
    rows = []
    for number, (line, row) in enumerate(zip(lines, kept, strict=True)):
        path = f"lines.{number}"
        article = articles.find(line, path, errors)
        errors += [] if article is None else _line_errors(line, path, article.tracks_serials)
        rows.append(RETURN_LINES.row(line, row, article_id=article and article.id))
    return rows


def _disposed(sent: Sequence[ReturnLineFields], before: Sequence[Row], errors: list[FieldError]) -> list[Row]:
    """Return the stored lines with the sent dispositions. Add an error to `errors` for each sent id that is
    unknown or given twice.
    """
    left = {row["id"] for row in before}
    for number, line in enumerate(sent):
        if line.id not in left:
            is_known = any(row["id"] == line.id for row in before)
            sentence = "is given twice" if is_known else "is not a line of this return"
            errors.append(invalid_field(f"lines.{number}.id", sentence))
        left.discard(line.id)
    wanted = {line.id: line.disposition for line in sent}
    return [{**row, "disposition": wanted.get(row["id"], row["disposition"])} for row in before]


def _whole(line: ReturnLineFields, kept: Mapping[str, Any] | None) -> ReturnLineFields:
    """Complete a sent line: fields that were not sent get their stored values. `kept` is the stored line with the
    same id. If it is None, return the line unchanged.
    """
    if kept is None:
        return line
    stored = {**kept, "serials": json.loads(kept["serials"] or "null")}
    names = {*stored} - line.model_fields_set
    if "article_code" in line.model_fields_set:
        names.discard("article_id")
    return line.model_copy(update={name: stored[name] for name in names})


def _line_errors(line: ReturnLineFields, path: str, tracks_serials: bool) -> Iterator[FieldError]:
    if line.quantity is None:
        yield invalid_field(f"{path}.quantity", "is required")
    elif tracks_serials and line.quantity % SCALE:
        yield invalid_field(f"{path}.quantity", "must be a whole number: the article is tracked by serials")
    elif line.serials and not tracks_serials:
        yield invalid_field(f"{path}.serials", "must be empty: the article is not tracked by serials")
    elif line.serials and len(line.serials) * SCALE != line.quantity:
        sentence = (
            f"must have one serial for each unit (units returned: {to_text(line.quantity)}, serials "
            f"given: {len(line.serials)})"
        )
        yield invalid_field(f"{path}.serials", sentence)


def check_return(
    tx: Transaction,
    return_id: int | None,
    values: Mapping[str, Any],
    current: Mapping[str, Any],
    rows: Sequence[Row],
) -> Iterator[FieldError]:
    """Yield three kinds of errors: in the references of the return, for serials that occur twice, and for
    conflicts with the sales order.

    `return_id` is None for a new return.
    """
    yield from check_document(tx, RETURNS, return_id, values, current)
    yield from _repeated_serials(rows)
    yield from _against_order(tx, return_id, values, current, rows)


def _against_order(
    tx: Transaction,
    return_id: int | None,
    values: Mapping[str, Any],
    current: Mapping[str, Any],
    rows: Sequence[Row],
) -> Iterator[FieldError]:
    if values.get("sales_order_id") is None:
        return
    order = ORDERS.find_columns(tx, values["sales_order_id"])
    if order is None:
        return
    if order["status"] not in SHIPPED:
        sentence = f"is {order['status']}: only loaded goods can be returned"
        yield order_rules.TRANSITIONS.forbidding("sales_order_id", sentence, order["status"])
        return
    yield from _other_partner(order, values, current)
    yield from _more_than_shipped(tx, return_id, values["sales_order_id"], rows)
    yield from _not_as_shipped(tx, return_id, values["sales_order_id"], order["code"], rows)


def _other_partner(
    order: Mapping[str, Any], values: Mapping[str, Any], current: Mapping[str, Any]
) -> Iterator[FieldError]:
    is_asked = any(values.get(name) != current.get(name) for name in ("partner_id", "sales_order_id"))
    if is_asked and order["partner_id"] != values.get("partner_id"):
        yield FieldError("INVALID_PARTNER", "partner_id", f"is not the partner of the sales order {order['code']}")


REFERENCES: Final = references_of(RETURNS)


def sent_errors(tx: Transaction, sent: Mapping[str, Any], named: Mapping[str, Any]) -> Iterator[FieldError]:
    """Yield the errors in the references and well-formed lines of a body that also has malformed values. The
    errors of the malformed values are reported elsewhere.

    `sent` is the body, with null in place of each malformed value.
    """
    reference_errors = list(REFERENCES(tx, sent, named))
    yield from reference_errors
    return_id = named.get("id")
    current = None if return_id is None else RETURNS.find_columns(tx, return_id)
    if return_id is not None and (current is None or current["status"] not in TRANSITIONS.lines_change_in):
        return
    before = [] if return_id is None else RETURN_LINES.of(tx, return_id)
    whole = whole_lines(RETURNS.lines, ReturnLineFields, sent, named[MALFORMED])
    errors: list[FieldError] = []
    rows = find_lines(tx, whole.lines, before, errors) if whole.lines else []
    errors += _repeated_serials(rows)
    if sent.get("sales_order_id") is not None:
        errors += _against_order(tx, return_id, {**(current or {}), **sent}, current or {}, rows)
    yield from whole.errors(errors, reference_errors)


def _repeated_serials(rows: Sequence[Row]) -> Iterator[FieldError]:
    seen: set[tuple[int, str]] = set()
    for number, row in enumerate(rows):
        for place, serial in enumerate(json.loads(row["serials"] or "[]")):
            if (row["article_id"], serial) in seen:
                yield invalid_field(f"lines.{number}.serials.{place}", "is given twice")
            seen.add((row["article_id"], serial))


def _more_than_shipped(
    tx: Transaction, return_id: int | None, order_id: int, rows: Sequence[Row]
) -> Iterator[FieldError]:
    """Yield an error for each line with more of an article than can still be returned. All returns of the order
    together, except cancelled ones, must not contain more than the order has shipped.
    """
    shipped, returned = store.shipped(tx, order_id), store.returned(tx, order_id, return_id)
    sums: Counter[int] = Counter()
    for row in rows:
        sums[row["article_id"]] += row["quantity"] or 0
    for number, row in enumerate(rows):
        article_id = row["article_id"]
        left = shipped.get(article_id, 0) - returned.get(article_id, 0)
        if article_id is not None and sums[article_id] > left:
            sentence = (
                f"is more than can be returned: you entered {to_text(sums[article_id])}, "
                f"{to_text(shipped.get(article_id, 0))} were shipped, and {to_text(left)} can still be "
                "returned"
            )
            yield invalid_field(f"lines.{number}.quantity", sentence)


def _not_as_shipped(
    tx: Transaction, return_id: int | None, order_id: int, code: str, rows: Sequence[Row]
) -> Iterator[FieldError]:
    """Yield an error for each lot or serial that the order has not shipped, and for each serial that is already in
    another return of the order. Also yield an error if more of a lot is returned than was shipped.
    """
    if not any(row["lot_number"] or row["serials"] for row in rows):
        return
    shipped, returned = store.shipped_parts(tx, order_id), store.returned_parts(tx, order_id, return_id)
    sums: Counter[tuple[int, str]] = Counter()
    for row in rows:
        sums[row["article_id"], row["lot_number"]] += row["quantity"] or 0
    for number, row in enumerate(rows):
        article_id, lot = row["article_id"], row["lot_number"]
        of_lot = (article_id, lot)
        left = shipped.lots[of_lot] - returned.lots[of_lot]
        if lot is not None and of_lot not in shipped.lots:
            yield invalid_field(f"lines.{number}.lot_number", f"was not shipped with {code}")
        elif lot is not None and sums[of_lot] > left:
            sentence = (
                f"is more than can be returned of lot {lot}: you entered {to_text(sums[of_lot])}, "
                f"{to_text(shipped.lots[of_lot])} were shipped, and {to_text(left)} can still be returned"
            )
            yield invalid_field(f"lines.{number}.quantity", sentence)
        for place, serial in enumerate(json.loads(row["serials"] or "[]")):
            path, unit = f"lines.{number}.serials.{place}", (article_id, serial)
            if unit not in shipped.serials:
                yield invalid_field(path, f"was not shipped with {code}")
            elif unit in returned.serials:
                yield invalid_field(path, f"is already in another return of the sales order {code}")
            elif lot is not None and of_lot in shipped.lots and lot != shipped.serials[unit]:
                yield invalid_field(path, f"was not shipped with {code} as part of lot {lot}")
