"""The rules that a company's own file holds: what may be received beyond an order, and what is little stock."""

import json
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from wmsd.base import cells
from wmsd.base.fields import Input
from wmsd.base.problems import FieldErrors, Problem, invalid
from wmsd.base.quantity import to_text
from wmsd.base.validation import check
from wmsd.db.transaction import Transaction
from wmsd.purchase_orders import store as purchase_orders
from wmsd.purchase_orders.schema import InboundRules
from wmsd.stock import store as stock
from wmsd.stock.schema import StockRules

NONE: Final = "none"


class Rule(NamedTuple):
    """A field of a model, and how it is read and written; in millionths."""

    model: type[Input]
    read: Callable[[Transaction], int | None]
    write: Callable[[Transaction, int | None], None]
    is_optional: bool = False


RULES: Final[Mapping[str, Rule]] = {
    "over_receipt_pct": Rule(InboundRules, purchase_orders.over_receipt_pct, purchase_orders.set_over_receipt_pct),
    "min_stock": Rule(StockRules, stock.min_stock, stock.set_min_stock, is_optional=True),
}


def setter(given: Mapping[str, str]) -> Callable[[Transaction], None]:
    """A unit of work that sets the rules. Raises Problem (422) with what is wrong with the texts."""
    errors: FieldErrors = {}
    values: dict[str, int | None] = {}
    for name, text in given.items():
        try:
            values[name] = _value(name, text)
        except (ValueError, Problem) as error:
            sentences = error.errors[name] if isinstance(error, Problem) else [str(error)]
            errors[f"--{name.replace('_', '-')}"] = sentences
    if errors:
        raise invalid(errors)

    def write(tx: Transaction) -> None:
        for name, value in values.items():
            RULES[name].write(tx, value)

    return write


def _value(name: str, text: str) -> int | None:
    rule = RULES[name]
    if rule.is_optional and text.strip().lower() == NONE:
        return None
    number = cells.reader(rule.model.model_fields[name])(text)
    value: int | None = getattr(check(rule.model, {name: number}), name)
    return value


def shown(tx: Transaction) -> dict[str, object]:
    """The rules as numbers."""
    values = {name: rule.read(tx) for name, rule in RULES.items()}
    return {name: None if value is None else json.loads(to_text(value)) for name, value in values.items()}
