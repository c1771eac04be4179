"""The ledger in words: a sum that ends in the quantity, and a sentence for each kind of movement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from wmsd.interfaces.pages.moments import day, span
from wmsd.interfaces.pages.named_documents import BY_MOVEMENT, Key, NamedDocument
from wmsd.interfaces.pages.words import figure
from wmsd.stock.schema import MovementKind

MINUS: Final = "\N{MINUS SIGN}"
CLOSE: Final = "\N{NO-BREAK SPACE}"
"""Keeps a sign and its number in one line."""
Number = Decimal | int


@dataclass(frozen=True, slots=True)
class Words:
    """How movements of a kind are told: in the list, in the sum, and in a sentence where the quantity rises or
    falls. `of_quarantine`: the quantity stays, and the sentence is about what entered or left quarantine.
    """

    name: str
    summed: str
    rises: str
    falls: str
    of_quarantine: bool = False


KINDS: Final[Mapping[MovementKind, Words]] = {
    "count": Words("Count", "counted", "added {}", "took {} away"),
    "receipt": Words("Received", "received", "brought {}", "took {} away"),
    "loading": Words("Shipped", "shipped", "brought {} back", "took {}"),
    "unloading": Words("Unloaded", "unloaded again", "brought {} back", "took {}"),
    "return": Words("Came back", "came back", "brought {} back", "took {}"),
    "adjustment": Words("Adjusted", "adjusted", "added {}", "took {} away"),
    "quarantine": Words("Quarantined", "quarantined", "{} went into quarantine", "{} left quarantine", True),
    "release": Words("Released", "released", "{} went into quarantine", "{} left quarantine", True),
}


@dataclass(frozen=True, slots=True)
class Term:
    """A part of the sum, such as `+ 48 received`."""

    text: str
    tone: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """`subject`, the `documents` if they are named, what they did, and when and why."""

    kind: MovementKind
    subject: str
    documents: Sequence[NamedDocument]
    did: str
    details: str
    movements: int


def signed(value: Number) -> str:
    """With its sign, as `+ 48`."""
    return f"+{CLOSE}{figure(value)}" if value >= 0 else f"{MINUS}{CLOSE}{figure(-value)}"


def beginning(stock: Mapping[str, Any]) -> str:
    """What the sum begins with."""
    if stock["count"] is None:
        return f"{figure(stock['begins_with'])} to begin with"
    return f"{figure(stock['begins_with'])} counted on {day(stock['count']['at'], stock['at'][:4])}"


def terms(stock: Mapping[str, Any]) -> list[Term]:
    """What is added to the beginning. Together they are the quantity."""
    return [
        Term(
            f"{signed(group['quantity'])} {KINDS[group['kind']].summed}",
            "good" if group["quantity"] > 0 else "bad",
        )
        for group in stock["groups"]
        if group["quantity"]
    ]


def count_sentence(stock: Mapping[str, Any]) -> Sentence:
    count = stock["count"]
    difference = count["difference"]
    less_or_more = "more" if difference > 0 else "less"
    than_before = f"{figure(abs(difference))} {less_or_more} than" if difference else "as many as"
    details = f"on {day(count['at'], stock['at'][:4])}, {than_before} the ledger said{_why(count)}."
    return Sentence("count", "A count", (), f"found {figure(stock['begins_with'])}", details, 1)


def sentences(stock: Mapping[str, Any], named: Mapping[Key, NamedDocument]) -> list[Sentence]:
    """A sentence for each group."""
    return [_sentence(group, named, stock["at"][:4]) for group in stock["groups"]]


def _sentence(group: Mapping[str, Any], named: Mapping[Key, NamedDocument], year: str) -> Sentence:
    words = KINDS[group["kind"]]
    kind = BY_MOVEMENT.get(group["kind"])
    documents = [named[kind.name, each] for each in group["document_ids"]] if kind is not None else []
    amount = group["quarantined"] if words.of_quarantine else group["quantity"]
    did = (words.rises if amount >= 0 else words.falls).format(figure(abs(amount)) if amount else "nothing")
    if not words.of_quarantine and group["movements"] > 1 and not group["documents"]:
        did = f"{did} in all"
    details = f"{span(group['first_at'], group['last_at'], year)}{_beside(group, words)}{_why(group)}."
    return Sentence(group["kind"], _subject(group, words), documents, did, details, group["movements"])


def _subject(group: Mapping[str, Any], words: Words) -> str:
    """Who did it. What goes into quarantine does so by itself."""
    kind, count = BY_MOVEMENT.get(group["kind"]), group["documents"]
    if words.of_quarantine:
        return ""
    if kind is None or not count:
        count = group["movements"]
        return f"An {group['kind']}" if count == 1 else f"{figure(count)} {group['kind']}s"
    noun = kind.table.noun
    if group["document_ids"]:
        return (noun if count == 1 else f"{noun}s").capitalize()
    return f"{figure(count)} {noun}s"


def _beside(group: Mapping[str, Any], words: Words) -> str:
    """What else became of the goods."""
    quarantined, destroyed, lot = group["quarantined"], group["destroyed"], group["lot_number"]
    told = f", lot {lot}" if lot else ""
    if quarantined and not words.of_quarantine:
        told += f", {figure(abs(quarantined))} of it {'into' if quarantined > 0 else 'out of'} quarantine"
    return told + (f"; {figure(destroyed)} more came and went to be destroyed" if destroyed else "")


def _why(told: Mapping[str, Any]) -> str:
    """By whom, and the reason, where all have the same. A document tells both by itself."""
    if told.get("documents"):
        return ""
    by = f", by {told['actor']}" if told["actor"] else ""
    return by + (f": {told['reason']}" if told["reason"] else "")
