"""What must always hold in a company's file, declared by the capability that promises it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """`differing` is the SELECT of what breaks the promise: which record, what it should be, what it is."""

    promise: str
    differing: str
    in_millionths: bool = True
