"""Codes that differ from others only by their Unicode form. People cannot tell `é` from an `e` and an accent.

Codes are compared exactly, so both forms could exist, and programs would sometimes find one and sometimes the
other. Therefore both forms of a new code are searched. A code in ASCII has only one form, so nothing is searched.
"""

from typing import Final

from wmsd.base.letters import composed_text, decomposed_text
from wmsd.db.engine.transaction import Transaction

OTHER_FORM: Final = "SELECT 1 FROM {table} WHERE code IN (:composed, :decomposed) AND code <> :code"
BEYOND_ASCII: Final = "code GLOB '*[^ -~]*'"
HAS_OTHER_FORM: Final = (
    "{table}.code IN (composed({staged}.code), decomposed({staged}.code)) AND {table}.code <> {staged}.code"
)
"""SQL that is true if the row of a table has the code of a staged row in another form. The SQL uses the functions
of `define_forms`.
"""


def form_errors(tx: Transaction, table: str, noun: str, code: object, current: object = None) -> list[str]:
    """Return an error if another record of the table has the code in another Unicode form, otherwise an empty
    list.

    `current` is the present code of the record, or None for a new record. If `code` is `current` or only another
    form of it, nothing is searched.
    """
    if not isinstance(code, str) or code.isascii() or composed_text(code) == composed_text(str(current)):
        return []
    forms = {"composed": composed_text(code), "decomposed": decomposed_text(code), "code": code}
    is_there = tx.value(OTHER_FORM.format(table=table), forms) is not None
    return [differs_by_form(noun)] if is_there else []


def differs_by_form(noun: str) -> str:
    return f"looks like the code of another {noun}, but has other Unicode characters: choose a different code"


def define_forms(tx: Transaction) -> None:
    """Add the SQL functions `composed` and `decomposed`."""
    tx.define("composed", composed_text)
    tx.define("decomposed", decomposed_text)
