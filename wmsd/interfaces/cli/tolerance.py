"""A company's over-receipt tolerance, which its own file holds."""

import json
from collections.abc import Callable

from wmsd.base import cells
from wmsd.base.problems import Problem, invalid
from wmsd.base.quantity import to_text
from wmsd.base.validation import check
from wmsd.db.transaction import Transaction
from wmsd.purchase_orders import store
from wmsd.purchase_orders.schema import InboundRules

FIELD = "over_receipt_pct"


def tolerance_setter(text: str) -> Callable[[Transaction], None]:
    """A unit of work that sets it. Raises Problem (422) when the text is no such percentage."""
    try:
        number = cells.reader(InboundRules.model_fields[FIELD])(text)
        rules = check(InboundRules, {FIELD: number})
    except (ValueError, Problem) as error:
        sentences = error.errors[FIELD] if isinstance(error, Problem) else [str(error)]
        raise invalid({"--over-receipt-pct": sentences}) from None
    return lambda tx: store.set_over_receipt_pct(tx, rules.over_receipt_pct)


def tolerance(tx: Transaction) -> object:
    """The percentage as a number."""
    return json.loads(to_text(store.over_receipt_pct(tx)))
