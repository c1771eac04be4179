"""Doctor's checks of documents: made from what their kind declares."""

from collections.abc import Iterable

from wmsd.base.checking import Check
from wmsd.base.quantity import SCALE
from wmsd.documents.table import DocumentTable


def listed(names: Iterable[str]) -> str:
    """SQL: these names, with commas between them."""
    return ", ".join(f"'{name}'" for name in sorted(names))


def status_checks(table: DocumentTable) -> tuple[Check, Check]:
    noun, name, counts = table.noun, table.name, table.tally
    partner = "partner_id" if counts.by_partner else "0 AS partner_id"
    named = "'partner ' || coalesce(kept.partner_id, counted.partner_id) || ', ' || " if counts.by_partner else ""
    reached = f"""
        SELECT code, json_extract(status_history, '$[#-1].status'), status FROM {name}
        WHERE status IS NOT json_extract(status_history, '$[#-1].status')
    """
    counted = f"""
        WITH counted AS (SELECT status, {partner}, count(*) AS rows FROM {name} GROUP BY 2, 1),
            kept AS (SELECT status, {partner}, rows FROM {counts.table})
        SELECT {named}'status ' || coalesce(kept.status, counted.status),
            coalesce(counted.rows, 0), coalesce(kept.rows, 0)
        FROM kept
        FULL JOIN counted ON counted.status = kept.status AND counted.partner_id = kept.partner_id
        WHERE coalesce(counted.rows, 0) <> coalesce(kept.rows, 0)
    """
    return (
        Check(f"the status of a {noun} is the last that it reached", reached, in_millionths=False),
        Check(f"{noun}s are as many as their counts say", counted, in_millionths=False),
    )


def ledger_check(table: DocumentTable, movements: Iterable[str], statuses: Iterable[str], amount: str) -> Check:
    """`movements` are the kinds of movements that the lines of a document in one of the statuses have; `amount` is
    the SQL of what one of them posts.
    """
    noun, name, lines = table.noun, table.name, table.line_table
    expected = f"iif({name}.status IN ({listed(statuses)}), coalesce(line.quantity, 0), 0)"
    differing = f"""
        WITH moved AS (
            SELECT document_line_id AS line_id, sum({amount}) AS quantity FROM stock_movements
            WHERE kind IN ({listed(movements)}) GROUP BY document_line_id
        )
        SELECT {name}.code || ', line ' || line.id, {expected}, coalesce(moved.quantity, 0)
        FROM {lines.name} AS line
        JOIN {name} ON {name}.id = line.{lines.document}
        LEFT JOIN moved ON moved.line_id = line.id
        WHERE {expected} <> coalesce(moved.quantity, 0)
    """
    posted = " or ".join(sorted(statuses))
    return Check(f"a {noun} that is {posted} is in the ledger line by line, any other is not", differing)


def reservation_checks(table: DocumentTable, statuses: Iterable[str]) -> tuple[Check, ...]:
    """The reservations of documents in these statuses match their lines, also those of serials and lots."""
    noun, name, lines = table.noun, table.name, table.line_table
    their_lines = f"{name} JOIN {lines.name} AS line ON line.{lines.document} = {name}.id"
    is_open = f"{name}.status IN ({listed(statuses)})"
    is_theirs = f"holder_kind = '{table.entity}'"
    quantities = f"""
        WITH wanted AS (
            SELECT {name}.id AS document_id, stock.id AS stock_id, sum(line.quantity) AS quantity
            FROM {their_lines}
            LEFT JOIN stock ON stock.article_id = line.article_id AND stock.warehouse_id = line.warehouse_id
            WHERE {is_open} GROUP BY {name}.id, stock.id
        ), held AS (
            SELECT holder_id AS document_id, stock_id, quantity FROM reservations WHERE {is_theirs}
        )
        SELECT {name}.code, coalesce(wanted.quantity, 0), coalesce(held.quantity, 0)
        FROM wanted FULL JOIN held ON held.document_id = wanted.document_id AND held.stock_id = wanted.stock_id
        JOIN {name} ON {name}.id = coalesce(wanted.document_id, held.document_id)
        WHERE wanted.quantity IS NOT held.quantity
    """
    serials = f"""
        WITH named AS (
            SELECT {name}.id AS document_id, line.article_id, each.value AS serial
            FROM {their_lines} CROSS JOIN json_each(line.serials) AS each
            WHERE {is_open} AND line.serials IS NOT NULL
        ), held AS (
            SELECT holder_id AS document_id, article_id, serial FROM stock_serials WHERE {is_theirs}
        )
        SELECT {name}.code || ', serial ' || coalesce(named.serial, held.serial),
            iif(named.serial IS NULL, 'free', 'held'), iif(held.serial IS NULL, 'free', 'held')
        FROM named FULL JOIN held ON held.document_id = named.document_id
            AND held.article_id = named.article_id AND held.serial = named.serial
        JOIN {name} ON {name}.id = coalesce(named.document_id, held.document_id)
        WHERE named.serial IS NULL OR held.serial IS NULL
    """
    lots = f"""
        WITH named AS (
            SELECT document_id, lot_id, sum(quantity) AS quantity FROM (
                SELECT {name}.id AS document_id, stock_lots.id AS lot_id, line.quantity FROM {their_lines}
                JOIN stock ON stock.article_id = line.article_id AND stock.warehouse_id = line.warehouse_id
                JOIN stock_lots ON stock_lots.stock_id = stock.id AND stock_lots.lot_number = line.lot_number
                WHERE {is_open} AND line.lot_number IS NOT NULL AND line.serials IS NULL
                UNION ALL
                SELECT held.holder_id, stock_lots.id, {SCALE} FROM stock_serials AS held
                JOIN stock_lots ON stock_lots.stock_id = held.stock_id AND stock_lots.lot_number = held.lot_number
                WHERE held.{is_theirs}
            )
            GROUP BY document_id, lot_id
        ), held AS (
            SELECT holder_id AS document_id, lot_id, quantity FROM lot_reservations WHERE {is_theirs}
        )
        SELECT {name}.code || ', lot ' || stock_lots.lot_number,
            coalesce(named.quantity, 0), coalesce(held.quantity, 0)
        FROM named FULL JOIN held ON held.document_id = named.document_id AND held.lot_id = named.lot_id
        JOIN {name} ON {name}.id = coalesce(named.document_id, held.document_id)
        JOIN stock_lots ON stock_lots.id = coalesce(named.lot_id, held.lot_id)
        WHERE named.quantity IS NOT held.quantity
    """
    says, otherwise = f"an open {noun} holds", "any other"
    return (
        Check(f"{says} what its lines say, {otherwise} nothing", quantities),
        Check(f"{says} the serials that its lines name, {otherwise} none", serials, in_millionths=False),
        Check(f"{says} of a lot what its lines name of it, {otherwise} nothing", lots),
    )
