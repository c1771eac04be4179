"""Stores the figures of all companies in `platform.db`."""

from collections.abc import Mapping
from typing import Final

from wmsd.db.engine.transaction import Transaction
from wmsd.server.today.figures import CompanyFigures

KEEP: Final = """
    INSERT INTO company_figures (company_id, figures, read_at) VALUES (?, ?, ?)
    ON CONFLICT (company_id) DO UPDATE SET figures = excluded.figures, read_at = excluded.read_at
"""


def stored_figures(tx: Transaction) -> dict[int, tuple[CompanyFigures, str]]:
    """Return the stored figures of each company with the time when they were read, by company id. Leave out
    figures that this version of wmsd cannot read.
    """
    found = {}
    for company_id, text, read_at in tx.rows("SELECT company_id, figures, read_at FROM company_figures"):
        try:
            found[company_id] = CompanyFigures.model_validate_json(text), read_at
        except ValueError:  # wmsd reads the numbers again
            continue
    return found


def keep(tx: Transaction, figures: Mapping[int, tuple[CompanyFigures, str]]) -> None:
    """Store the figures of companies, each with the time at which the reading of these figures began.

    Changes of the company's file after this time may be missing in the figures.
    """
    rows = [(company_id, found.model_dump_json(), read_at) for company_id, (found, read_at) in figures.items()]
    tx.executemany(KEEP, rows)
