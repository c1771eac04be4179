"""The doctor's checks of documents, built from the declaration of each kind."""

from collections.abc import Iterable
from typing import Final

from wmsd.base.quantity import SCALE
from wmsd.contract.invariants import Check, unequal_sums
from wmsd.warehouse.documents.table import DocumentTable

STATUS: Final = "status {status}"
STATUS_OF_PARTNER: Final = "partner {partner}, status {status}"
LINE: Final = "{document}, line {line}"
SERIAL: Final = "{document}, serial {serial}"
LOT: Final = "{document}, lot {lot}"
HELD, FREE = "held", "free"


def sql_names(names: Iterable[str]) -> str:
    """Return the names as quoted SQL strings, sorted and separated by commas."""
    return ", ".join(f"'{name}'" for name in sorted(names))


def status_checks(table: DocumentTable) -> tuple[Check, Check]:
    noun, name, counts = table.noun, table.name, table.tally
    partner = "partner_id" if counts.by_partner else "0 AS partner_id"
    named = "'partner ' || partner_id || ', ' || " if counts.by_partner else ""
    reached = f"""
        SELECT code, json_extract(status_history, '$[#-1].status'), status FROM {name}
        WHERE status IS NOT json_extract(status_history, '$[#-1].status')
    """
    counted = unequal_sums(
        "status, partner_id",
        f"SELECT status, {partner}, count(*) AS amount FROM {name} GROUP BY 1, 2",
        f"SELECT status, {partner}, rows AS amount FROM {counts.table}",
    )
    counts_differ = f"SELECT {named}'status ' || status, expected, found FROM ({counted})"
    return (
        Check(f"the status of a {noun} must be the last status in its history", reached, in_millionths=False),
        Check(
            f"the number of {noun}s must equal the stored total",
            counts_differ,
            in_millionths=False,
            words=(STATUS_OF_PARTNER, STATUS),
        ),
    )


def ledger_check(
    table: DocumentTable, movements: Iterable[str], statuses: Iterable[str], amount: str, of_line: str
) -> Check:
    """Return a check that the movements in the stock ledger match the lines of documents in `statuses`.

    `movements` are the kinds of movements that these documents cause. `amount` is an SQL expression for the
    quantity of each movement. For each line, the sum of `amount` must equal the value in the line's column
    `of_line`.
    """
    noun, name, lines = table.noun, table.name, table.line_table
    expected = f"iif({name}.status IN ({sql_names(statuses)}), coalesce(line.{of_line}, 0), 0)"
    differing = f"""
        WITH moved AS (
            SELECT document_line_id AS line_id, sum({amount}) AS quantity FROM stock_movements
            WHERE kind IN ({sql_names(movements)}) GROUP BY document_line_id
        )
        SELECT {name}.code || ', line ' || line.id, {expected}, coalesce(moved.quantity, 0)
        FROM {lines.name} AS line
        JOIN {name} ON {name}.id = line.{lines.document}
        LEFT JOIN moved ON moved.line_id = line.id
        WHERE {expected} <> coalesce(moved.quantity, 0)
    """
    posted = " or ".join(sorted(statuses))
    promise = f"the ledger must have every line of a {noun} that is {posted}, and no line of any other {noun}"
    return Check(promise, differing, words=(LINE,))


def reservation_checks(table: DocumentTable, statuses: Iterable[str]) -> tuple[Check, ...]:
    """Return checks of the stock that documents in `statuses` reserve. The reserved quantities, lots and serials
    must match the lines of the document.
    """
    noun, name, lines = table.noun, table.name, table.line_table
    their_lines = f"{name} JOIN {lines.name} AS line ON line.{lines.document} = {name}.id"
    is_open = f"{name}.status IN ({sql_names(statuses)})"
    is_held = f"holder_kind = '{table.entity}'"
    quantities = unequal_sums(
        "document_id, stock_id",
        f"""
            SELECT {name}.id AS document_id, stock.id AS stock_id, line.quantity AS amount
            FROM {their_lines}
            LEFT JOIN stock ON stock.article_id = line.article_id AND stock.warehouse_id = line.warehouse_id
            WHERE {is_open}
        """,
        f"SELECT holder_id AS document_id, stock_id, quantity AS amount FROM reservations WHERE {is_held}",
    )
    serials = unequal_sums(
        "document_id, article_id, serial",
        f"""
            SELECT DISTINCT {name}.id AS document_id, line.article_id, each.value AS serial, 1 AS amount
            FROM {their_lines} CROSS JOIN json_each(line.serials) AS each
            WHERE {is_open} AND line.serials IS NOT NULL
        """,
        f"SELECT holder_id AS document_id, article_id, serial, 1 AS amount FROM stock_serials WHERE {is_held}",
    )
    lots = unequal_sums(
        "document_id, lot_id",
        f"""
            SELECT {name}.id AS document_id, stock_lots.id AS lot_id, line.quantity AS amount FROM {their_lines}
            JOIN stock ON stock.article_id = line.article_id AND stock.warehouse_id = line.warehouse_id
            JOIN stock_lots ON stock_lots.stock_id = stock.id AND stock_lots.lot_number = line.lot_number
            WHERE {is_open} AND line.lot_number IS NOT NULL AND line.serials IS NULL
            UNION ALL
            SELECT held.holder_id, stock_lots.id, {SCALE} FROM stock_serials AS held
            JOIN stock_lots ON stock_lots.stock_id = held.stock_id AND stock_lots.lot_number = held.lot_number
            WHERE held.{is_held}
        """,
        f"SELECT holder_id AS document_id, lot_id, quantity AS amount FROM lot_reservations WHERE {is_held}",
    )
    of_document = f"CROSS JOIN {name} ON {name}.id = document_id"
    quantities_differ = f"SELECT {name}.code, expected, found FROM ({quantities}) {of_document}"
    serials_differ = f"""
        SELECT {name}.code || ', serial ' || serial, iif(expected, '{HELD}', '{FREE}'),
            iif(found, '{HELD}', '{FREE}')
        FROM ({serials}) {of_document}
    """
    lots_differ = f"""
        SELECT {name}.code || ', lot ' || stock_lots.lot_number, expected, found
        FROM ({lots}) {of_document} CROSS JOIN stock_lots ON stock_lots.id = lot_id
    """
    says, otherwise = f"an open {noun} must reserve", f"a {noun} that is not open must reserve"
    return (
        Check(f"{says} the quantity of its lines, and {otherwise} nothing", quantities_differ),
        Check(
            f"{says} the serials that its lines name, and {otherwise} no serials",
            serials_differ,
            in_millionths=False,
            words=(SERIAL, HELD, FREE),
        ),
        Check(
            f"{says} the quantity of each lot that its lines name, and {otherwise} nothing",
            lots_differ,
            words=(LOT,),
        ),
    )
