"""What the lines of documents forbid: see `warehouse/articles/tracking_rules.py`."""

from collections.abc import Iterable
from typing import Literal

from wmsd.warehouse.articles.tracking_rules import Obstacle
from wmsd.warehouse.documents.checks import listed
from wmsd.warehouse.documents.table import DocumentTable


def fractional_lines(table: DocumentTable, statuses: Iterable[str]) -> Obstacle:
    return _lines(table, statuses, "on", "line.quantity % 1000000", "lines that are not whole units")


def named_serials(table: DocumentTable, statuses: Iterable[str]) -> Obstacle:
    return _lines(table, statuses, "off", "line.serials IS NOT NULL", "serials of it")


def _lines(
    table: DocumentTable, statuses: Iterable[str], switched: Literal["on", "off"], condition: str, what: str
) -> Obstacle:
    name, lines = table.name, table.line_table
    exists = f"""
        SELECT EXISTS (
            SELECT 1 FROM {name} CROSS JOIN {lines.name} AS line ON line.{lines.document} = {name}.id
            WHERE {name}.status IN ({listed(statuses)}) AND line.article_id = :id AND {condition}
        )
    """
    return Obstacle(switched, exists, f"open {table.noun}s have {what}")
