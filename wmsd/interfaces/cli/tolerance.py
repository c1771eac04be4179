"""How much more than was ordered a company receives: the rule of its own that stands in its file."""

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
    """Raises Problem (422) when the text is no such per cent."""
    try:
        number = cells.reader(InboundRules.model_fields[FIELD])(text)
        rules = check(InboundRules, {FIELD: number})
    except (ValueError, Problem) as error:
        sentences = error.errors[FIELD] if isinstance(error, Problem) else [str(error)]
        raise invalid({"--over-receipt-pct": sentences}) from None
    return lambda tx: store.set_over_receipt_pct(tx, rules.over_receipt_pct)


def tolerance(tx: Transaction) -> object:
    """The per cent as a number."""
    return json.loads(to_text(store.over_receipt_pct(tx)))
