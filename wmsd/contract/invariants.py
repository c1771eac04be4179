"""Invariants of a company's file. The package that guarantees an invariant also declares the invariant."""

from wmsd.base.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """An invariant that `wmsd doctor` can check. `promise` is the invariant as a sentence.

    `differing` is a SELECT of the records that break the invariant. Its columns are the record, the expected value
    and the found value. `in_millionths` is True if the values are millionths. `words` are the English words that
    can be in the result of `differing`, listed so that they can be translated.
    """

    promise: str
    differing: str
    in_millionths: bool = True
    words: tuple[str, ...] = ()


def unequal_sums(keys: str, expected: str, found: str) -> str:
    """Return SQL that selects the keys whose two sums differ, with the sums in the columns `expected` and `found`.

    `keys` are the key columns. The parameters `expected` and `found` are SELECTs of the keys and an amount. One
    GROUP BY over the rows of both SELECTs is faster than a FULL JOIN, which compares each row with every other
    row.
    """
    return f"""
        SELECT {keys}, sum(expected) AS expected, sum(found) AS found FROM (
            SELECT {keys}, amount AS expected, 0 AS found FROM ({expected})
            UNION ALL SELECT {keys}, 0, amount FROM ({found})
        )
        GROUP BY {keys} HAVING sum(expected) <> sum(found)
    """
