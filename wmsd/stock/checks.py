"""What stock promises: balances are the sums of what is under them."""

from typing import Final

from wmsd.base.checking import Check

NAMED: Final = """
    (SELECT articles.code || ' in ' || warehouses.code FROM articles, warehouses
     WHERE articles.id = stock.article_id AND warehouses.id = stock.warehouse_id)
"""


def _sum(balance: str, table: str, column: str) -> str:
    return f"""
        SELECT {NAMED}, coalesce(under.sum, 0), stock.{balance}
        FROM stock LEFT JOIN (
            SELECT stock_id, sum({column}) AS sum FROM {table} GROUP BY stock_id
        ) AS under ON under.stock_id = stock.id
        WHERE stock.{balance} <> coalesce(under.sum, 0)
    """


CHECKS: Final = (
    Check("a quantity is the sum of its movements", _sum("quantity", "stock_movements", "quantity")),
    Check(
        "what is quarantined is the sum of its movements", _sum("quarantined", "stock_movements", "quarantined")
    ),
    Check("what is reserved is the sum of its reservations", _sum("reserved", "reservations", "quantity")),
)
