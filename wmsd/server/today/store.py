"""The stored numbers of all companies, in `platform.db`."""

from collections.abc import Mapping
from typing import Final

from wmsd.db.engine.transaction import Transaction
from wmsd.server.today.figures import CompanyFigures

KEEP: Final = """
    INSERT INTO company_figures (company_id, figures, read_at) VALUES (?, ?, ?)
    ON CONFLICT (company_id) DO UPDATE SET figures = excluded.figures, read_at = excluded.read_at
"""


def stored_figures(tx: Transaction) -> dict[int, tuple[CompanyFigures, str]]:
    """Return the numbers of each company, and when they were read. Numbers of other versions are left out."""
    found = {}
    for company_id, text, read_at in tx.rows("SELECT company_id, figures, read_at FROM company_figures"):
        try:
            found[company_id] = CompanyFigures.model_validate_json(text), read_at
        except ValueError:  # wmsd reads the numbers again
            continue
    return found


def keep(tx: Transaction, figures: Mapping[int, tuple[CompanyFigures, str]]) -> None:
    """Store numbers, each with the time just before they were read.

    Later changes of the file are not included in the numbers.
    """
    rows = [(company_id, found.model_dump_json(), read_at) for company_id, (found, read_at) in figures.items()]
    tx.executemany(KEEP, rows)
