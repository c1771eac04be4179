"""Invariants of a company's file, each declared by the capability that guarantees it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """`differing` is a SELECT of the records that break the promise: the record, the expected value, the found
    value.
    """

    promise: str
    differing: str
    in_millionths: bool = True
