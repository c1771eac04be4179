"""The doctor's check of counts: the booked quantities must match the counted quantities (stock laws, section
7).
"""

from typing import Final

from wmsd.contract.invariants import Check
from wmsd.db.sql.records import decimal_sql
from wmsd.warehouse.counts.rules import FINAL
from wmsd.warehouse.documents.checks import LINE

NOT_BOOKED: Final = "not booked"


def _shown(quantity: str) -> str:
    return f"coalesce({decimal_sql(quantity)}, '{NOT_BOOKED}')"


BOOKED: Final = f"""
    SELECT code || ', line ' || id, {_shown("expected")}, {_shown("booked_quantity")}
    FROM (
        SELECT counts.code, line.id, line.booked_quantity, iif(
            counts.status = '{FINAL}' AND line.counted_quantity IS NOT NULL AND NOT line.count_again,
            line.counted_quantity - line.ledger_quantity, NULL
        ) AS expected
        FROM count_lines AS line JOIN counts ON counts.id = line.count_id
    )
    WHERE expected IS NOT booked_quantity
"""

CHECKS: Final = (
    Check(
        "each line of a finished count must have booked the counted quantity minus the ledger quantity, and "
        "lines of other counts must have booked nothing",
        BOOKED,
        in_millionths=False,
        words=(LINE, NOT_BOOKED),
    ),
)
