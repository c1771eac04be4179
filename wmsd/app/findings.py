"""What doctor finds in a file, in sentences."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from wmsd.app.doctor import Findings

MOST_TOLD: Final = 3
"""How many sentences of a file are told one by one."""
Kind = Literal["damage", "difference", "unproved", "error"]
"""What is wrong: the file is damaged, a figure differs, a promise cannot be checked, or the file cannot be."""


class Finding(NamedTuple):
    kind: Kind
    sentence: str


def findings(found: "Findings") -> Iterator[Finding]:
    for damage in found.damages:
        yield Finding("damage", f"it is damaged, {damage.place}: {damage.messages[0]}.")
    for each in found.differences:
        sentence = f"{each.promise}; but {each.record}: {each.found} instead of {each.expected}."
        yield Finding("difference", sentence)
    for unproved in found.unproved:
        yield Finding("unproved", f"it could not be checked that {unproved.promise}: {unproved.reason}.")


def sentences(found: "Findings") -> list[str]:
    """The first of them, and how many more there are."""
    told = [each.sentence for each in findings(found)]
    more = [f"and {len(told) - MOST_TOLD} more."] if len(told) > MOST_TOLD else []
    return told[:MOST_TOLD] + more
