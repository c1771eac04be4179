"""Opening stock and stock counts in bulk: each row says how much is there now."""

from collections.abc import Iterable
from typing import Final

from pydantic import ValidationError

from wmsd.articles import store as articles
from wmsd.base.fields import Amount, Code, Input
from wmsd.base.importing import FirstSeen, Outcome, Row
from wmsd.base.problems import FieldErrors, Problem
from wmsd.base.validation import field_errors
from wmsd.db.transaction import Transaction
from wmsd.directory import store as directory
from wmsd.stock.actions import count_stock

REASON: Final = "import"
REFERENCES: Final = ("article_code", "warehouse_code")


class CountRow(Input):
    article_code: Code
    warehouse_code: Code
    quantity: Amount


def import_stock(tx: Transaction, rows: Iterable[Row], outcome: Outcome) -> None:
    warehouses = directory.ids_by_code(tx, directory.WAREHOUSES)
    places = FirstSeen()
    for row in rows:
        article_code, warehouse_code = (str(row.values.get(name, "")) for name in REFERENCES)
        article_id = articles.id_of_code(tx, article_code)
        warehouse_id = warehouses.get(warehouse_code)
        errors: FieldErrors = {}
        if article_id is None:
            errors["article_code"] = ["is not an article of this company"]
        if warehouse_id is None:
            errors["warehouse_code"] = ["is not a warehouse of this company"]
        before = places.line_before((article_code, warehouse_code), row.line)
        if before is not None and not errors:
            errors["article_code"] = [f"is counted twice in this warehouse; first in row {before}"]
        quantity = 0
        try:
            quantity = CountRow.model_validate(row.values).quantity
        except ValidationError as error:
            errors |= field_errors(error)
        if errors or article_id is None or warehouse_id is None:
            outcome.refuse(row.line, errors)
            continue
        try:
            moved = count_stock(tx, article_id, warehouse_id, quantity, REASON)
        except Problem as problem:
            outcome.refuse(row.line, problem.errors)
            continue
        outcome.updated += moved
        outcome.unchanged += not moved
