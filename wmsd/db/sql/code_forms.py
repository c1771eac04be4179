"""Finds existing codes that look like a new code but have another Unicode form.

Unicode has two forms of `é`: one character, or an `e` and an accent. People cannot tell them apart, but wmsd
compares codes exactly. So two records could have codes that look the same. Therefore wmsd searches for a new code
in both forms. A code in ASCII has only one form, so wmsd does not search for it.
"""

from typing import Final

from wmsd.base.letters import composed_text, decomposed_text
from wmsd.db.engine.transaction import Transaction

OTHER_FORM: Final = "SELECT 1 FROM {table} WHERE code IN (:composed, :decomposed) AND code <> :code"
BEYOND_ASCII: Final = "code GLOB '*[^ -~]*'"
HAS_OTHER_FORM: Final = (
    "{table}.code IN (composed({staged}.code), decomposed({staged}.code)) AND {table}.code <> {staged}.code"
)
"""The SQL condition that a row of `table` and a row of `staged` have the same code in different Unicode forms.
Call `define_forms` before, because the condition uses its SQL functions.
"""


def form_errors(tx: Transaction, table: str, noun: str, code: object, current: object = None) -> list[str]:
    """Return a list with an error if another record of the table has the code in another Unicode form. Otherwise
    return an empty list.

    `noun` names the kind of record in the error. `current` is the present code of the record, or None for a new
    record. A new code that equals `current`, or differs from it only by its form, is accepted without a search.
    """
    if not isinstance(code, str) or code.isascii() or composed_text(code) == composed_text(str(current)):
        return []
    forms = {"composed": composed_text(code), "decomposed": decomposed_text(code), "code": code}
    is_there = tx.value(OTHER_FORM.format(table=table), forms) is not None
    return [differs_by_form(noun)] if is_there else []


def differs_by_form(noun: str) -> str:
    return f"looks like the code of another {noun}, but has other Unicode characters: choose a different code"


def define_forms(tx: Transaction) -> None:
    """Add the SQL functions `composed` and `decomposed`, which return a text in the two Unicode forms."""
    tx.define("composed", composed_text)
    tx.define("decomposed", decomposed_text)
