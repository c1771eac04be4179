"""What is said of a code that no record has, to whoever typed it."""

from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.similar_codes import code_meant


def not_there(tx: Transaction, noun: str, table: str, typed: str, lists: str) -> str:
    """`lists`: the command that lists the records, with its options."""
    meant = code_meant(tx, table, typed)
    if meant is None:
        return f"There is no {noun} {typed}: `wmsd {lists}` lists them."
    return f"There is no {noun} {typed}. Did you mean {meant}?"
