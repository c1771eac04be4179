"""Invariants of a company's file. Each is declared by the package that guarantees it."""

from wmsd.base.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """An invariant that the doctor can check.

    `differing` is a SELECT of the records that break the promise: the record, the expected value, the found value.
    `words` are the names of records and values in the result, listed so that they can be translated.
    """

    promise: str
    differing: str
    in_millionths: bool = True
    words: tuple[str, ...] = ()


def unequal_sums(keys: str, expected: str, found: str) -> str:
    """Return SQL that selects the keys whose sums differ, with both sums as `expected` and `found`.

    `expected` and `found` are SELECTs of the keys and an amount. The SQL adds both up under one key, which takes
    one pass and one sort. A FULL JOIN would compare each row with every other row.
    """
    return f"""
        SELECT {keys}, sum(expected) AS expected, sum(found) AS found FROM (
            SELECT {keys}, amount AS expected, 0 AS found FROM ({expected})
            UNION ALL SELECT {keys}, 0, amount FROM ({found})
        )
        GROUP BY {keys} HAVING sum(expected) <> sum(found)
    """
