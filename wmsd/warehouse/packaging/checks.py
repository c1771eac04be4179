"""The doctor's check of packaging: each balance is the sum of its movements, and each movement has a balance."""

from typing import Final

from wmsd.contract.invariants import Check, unequal_sums
from wmsd.warehouse.packaging.store import OWED

MOVED: Final = f"SELECT packaging_type_id, partner_id, {OWED} AS amount FROM packaging_movements"
OF_PARTNER: Final = "{packaging} of {partner}"
KEPT: Final = "SELECT packaging_type_id, partner_id, quantity AS amount FROM packaging_balances"
BALANCES: Final = f"""
    SELECT packaging_types.code || ' of ' || partners.code, expected, found
    FROM ({unequal_sums("packaging_type_id, partner_id", MOVED, KEPT)})
    JOIN packaging_types ON packaging_types.id = packaging_type_id
    JOIN partners ON partners.id = partner_id
"""

CHECKS: Final = (Check("a packaging balance must equal the sum of its movements", BALANCES, words=(OF_PARTNER,)),)
