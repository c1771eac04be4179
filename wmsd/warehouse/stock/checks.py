"""The doctor's checks of stock: balances match their movements, and lots and serials are parts of balances."""

from typing import Final

from wmsd.base.quantity import SCALE
from wmsd.contract.invariants import Check, unequal_sums
from wmsd.warehouse.stock.store import COLUMNS, MIN_STOCK

NAMED: Final = """
    (SELECT articles.code || ' in ' || warehouses.code FROM articles, warehouses
     WHERE articles.id = stock.article_id AND warehouses.id = stock.warehouse_id)
"""
OF_LOT: Final = "coalesce(', lot ' || lot_number, '')"
IN_WAREHOUSE: Final = "{article} in {warehouse}"
LOT: Final = "{goods}, lot {lot}"
SERIAL: Final = "{goods}, serial {serial}"
RESERVED: Final = "{goods}, reserved"
QUARANTINED: Final = "{goods}, quarantined"
NOT_QUARANTINED: Final = "{goods}, not quarantined"
WORDS_OF_LOT: Final = (LOT, IN_WAREHOUSE)
WORDS_OF_SERIAL: Final = (SERIAL, LOT, IN_WAREHOUSE)


def _sum(balance: str, table: str, column: str) -> str:
    return f"""
        SELECT {NAMED}, coalesce(under.sum, 0), stock.{balance}
        FROM stock LEFT JOIN (
            SELECT stock_id, sum({column}) AS sum FROM {table} GROUP BY stock_id
        ) AS under ON under.stock_id = stock.id
        WHERE stock.{balance} <> coalesce(under.sum, 0)
    """


def _sum_of_lot(balance: str) -> str:
    keys = "stock_id, lot_number"
    moved = f"SELECT {keys}, {balance} AS amount FROM stock_movements WHERE lot_number IS NOT NULL"
    kept = f"SELECT {keys}, {balance} AS amount FROM stock_lots"
    return f"""
        SELECT {NAMED} || {OF_LOT}, expected, found
        FROM ({unequal_sums(keys, moved, kept)}) CROSS JOIN stock ON stock.id = stock_id
    """


LOTS_RESERVED: Final = f"""
    SELECT {NAMED} || {OF_LOT}, coalesce(under.sum, 0), stock_lots.reserved
    FROM stock_lots
    LEFT JOIN (
        SELECT lot_id, sum(quantity) AS sum FROM lot_reservations GROUP BY lot_id
    ) AS under ON under.lot_id = stock_lots.id
    CROSS JOIN stock ON stock.id = stock_lots.stock_id
    WHERE stock_lots.reserved <> coalesce(under.sum, 0)
"""


def _lots_together(label: str, amount: str) -> str:
    return f"""
        SELECT {NAMED} || '{label}', most, sum
        FROM (SELECT stock_id, sum({amount}) AS sum FROM stock_lots GROUP BY stock_id)
        CROSS JOIN (SELECT id, article_id, warehouse_id, {amount} AS most FROM stock) AS stock
            ON stock.id = stock_id
        WHERE sum > most
    """


LOTS_TOGETHER: Final = " UNION ALL ".join(
    _lots_together(label, amount)
    for label, amount in (
        ("", "quantity"),
        (", reserved", "reserved"),
        (", quarantined", "quarantined"),
        (", not quarantined", "quantity - quarantined"),
    )
)


def _sum_of_serial(moved_amount: str, kept_amount: str) -> str:
    keys = "stock_id, lot_number, serial"
    moved = f"SELECT {keys}, {moved_amount} AS amount FROM stock_movements WHERE serial IS NOT NULL"
    kept = f"SELECT {keys}, {kept_amount} AS amount FROM stock_serials"
    return f"""
        SELECT {NAMED} || {OF_LOT} || ', serial ' || serial, expected, found
        FROM ({unequal_sums(keys, moved, kept)}) CROSS JOIN stock ON stock.id = stock_id
    """


def _serials_within(label: str, amount: str, counted: str) -> str:
    """Return the SQL that finds lots with more serials than units. The goods without a lot are treated as one lot.

    `amount` is the SQL of the units, and `counted` the SQL of the serials to count.
    """
    return f"""
        SELECT {NAMED} || {OF_LOT} || '{label}', most, {SCALE} * serials
        FROM (
            SELECT stock_id, lot_number, sum(most) AS most, sum(serials) AS serials
            FROM (
                SELECT stock_id, lot_number, {amount} AS most, 0 AS serials FROM stock_lots
                UNION ALL SELECT stock_id, NULL, -({amount}), 0 FROM stock_lots
                UNION ALL SELECT id, NULL, {amount}, 0 FROM stock
                UNION ALL SELECT stock_id, lot_number, 0, {counted} FROM stock_serials
            )
            GROUP BY stock_id, lot_number HAVING sum(serials) > 0 AND {SCALE} * sum(serials) > sum(most)
        )
        CROSS JOIN stock ON stock.id = stock_id
    """


SERIALS_WITHIN: Final = " UNION ALL ".join(
    _serials_within(label, amount, counted)
    for label, amount, counted in (
        ("", "quantity", "1"),
        (", quarantined", "quarantined", "quarantined"),
        (", not quarantined", "quantity - quarantined", "NOT quarantined"),
    )
)
MOVED: Final = f"""
    WITH moved AS MATERIALIZED (
        SELECT stock_id, sum(quantity) AS quantity, sum(quarantined) AS quarantined
        FROM stock_movements GROUP BY stock_id
    )
    SELECT {NAMED}, coalesce(moved.quantity, 0), stock.quantity
    FROM stock LEFT JOIN moved ON moved.stock_id = stock.id
    WHERE stock.quantity <> coalesce(moved.quantity, 0)
    UNION ALL
    SELECT {NAMED} || ', quarantined', coalesce(moved.quarantined, 0), stock.quarantined
    FROM stock LEFT JOIN moved ON moved.stock_id = stock.id
    WHERE stock.quarantined <> coalesce(moved.quarantined, 0)
"""
"""Selects the stock records whose quantity or quarantined quantity is not the sum of their movements. One
statement checks both, so SQLite reads the ledger, the longest table, only once.
"""

LOW: Final = f"""
    SELECT {NAMED}, is_low_by_minimum, is_low
    FROM (
        SELECT stock.*, coalesce({COLUMNS["available"]} <= {MIN_STOCK}, 0) AS is_low_by_minimum
        FROM stock CROSS JOIN articles ON articles.id = stock.article_id
    ) AS stock
    WHERE is_low <> is_low_by_minimum
"""

STOCKED: Final = """
    SELECT code, has_stock, is_stocked
    FROM (SELECT *, EXISTS (SELECT 1 FROM stock WHERE article_id = articles.id) AS has_stock FROM articles)
    WHERE is_stocked <> has_stock
"""

CHECKS: Final = (
    Check("a stock quantity must equal the sum of its movements", MOVED, words=(QUARANTINED, IN_WAREHOUSE)),
    Check(
        "a reserved quantity must equal the sum of its reservations",
        _sum("reserved", "reservations", "quantity"),
        words=(IN_WAREHOUSE,),
    ),
    Check("a lot's quantity must equal the sum of its movements", _sum_of_lot("quantity"), words=WORDS_OF_LOT),
    Check(
        "the quarantined quantity of a lot must equal the sum of its movements",
        _sum_of_lot("quarantined"),
        words=WORDS_OF_LOT,
    ),
    Check(
        "the reserved quantity of a lot must equal the sum of its reservations", LOTS_RESERVED, words=WORDS_OF_LOT
    ),
    Check(
        "the lots of a stock record must together have at most the quantity of the stock record",
        LOTS_TOGETHER,
        words=(RESERVED, QUARANTINED, NOT_QUARANTINED, IN_WAREHOUSE),
    ),
    Check(
        "a serial must be in a stock record exactly when the sum of its movements there is 1",
        _sum_of_serial("quantity", f"{SCALE}"),
        words=WORDS_OF_SERIAL,
    ),
    Check(
        "a serial must be in quarantine exactly when its movements have put it there",
        _sum_of_serial("quarantined", f"{SCALE} * quarantined"),
        words=WORDS_OF_SERIAL,
    ),
    Check(
        "a lot or stock record must have at most as many serials as units",
        SERIALS_WITHIN,
        words=(QUARANTINED, NOT_QUARANTINED, *WORDS_OF_LOT),
    ),
    Check(
        "stock must be marked as low (1) if the available quantity is at most the minimum, otherwise as not "
        "low (0)",
        LOW,
        in_millionths=False,
        words=(IN_WAREHOUSE,),
    ),
    Check(
        "an article must be marked as stocked (1) if a warehouse has a stock record of it, otherwise as not "
        "stocked (0)",
        STOCKED,
        in_millionths=False,
    ),
)
