"""Doctor's check of packaging: balances are the sums of their movements, and no movement lacks a balance."""

from typing import Final

from wmsd.base.checking import Check

CHECKS: Final = (
    Check(
        "a packaging balance is the sum of its movements",
        """
        WITH moved AS (
            SELECT packaging_type_id, partner_id, sum(iif(direction = 'OUT', quantity, -quantity)) AS quantity
            FROM packaging_movements GROUP BY partner_id, packaging_type_id
        ), compared AS (
            SELECT packaging_type_id, partner_id, coalesce(moved.quantity, 0) AS expected,
                coalesce(kept.quantity, 0) AS found
            FROM packaging_balances AS kept FULL JOIN moved USING (packaging_type_id, partner_id)
        )
        SELECT packaging_types.code || ' of ' || partners.code, expected, found
        FROM compared
        JOIN packaging_types ON packaging_types.id = packaging_type_id
        JOIN partners ON partners.id = partner_id
        WHERE expected <> found
        """,
    ),
)
