"""Which module of a company each kind of records belongs to."""

from typing import Final

from wmsd.warehouse.document_kinds import DOCUMENTS

OF_FIXED_KINDS: Final = {
    "articles": "articles",
    "stock": "stock",
    "stock-count": "stock",
    "packaging-types": "stock",
    "packaging-movements": "stock",
}
MODULE_OF: Final = {**OF_FIXED_KINDS, **{kind.name: kind.reading.by_page.module for kind in DOCUMENTS}}
"""The module that an import of each kind needs; none for those that are not here."""
