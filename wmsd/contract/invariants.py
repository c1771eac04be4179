"""Invariants of a company's file, each declared by the capability that guarantees it."""

from wmsd.base.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """`differing` is a SELECT of the records that break the promise: the record, the expected value, the found
    value. `words` are the texts with which it names records and values, so that they can be translated.
    """

    promise: str
    differing: str
    in_millionths: bool = True
    words: tuple[str, ...] = ()


def unequal_sums(keys: str, expected: str, found: str) -> str:
    """SQL: the keys of which the sums differ, and both sums as `expected` and `found`. `expected` and `found` are
    SELECTs of the keys and an amount.

    It adds both up under one key: one pass and one sort. A FULL JOIN compares each row with every other.
    """
    return f"""
        SELECT {keys}, sum(expected) AS expected, sum(found) AS found FROM (
            SELECT {keys}, amount AS expected, 0 AS found FROM ({expected})
            UNION ALL SELECT {keys}, 0, amount FROM ({found})
        )
        GROUP BY {keys} HAVING sum(expected) <> sum(found)
    """
