"""A stock quantity explained in words: a sum that results in the quantity, and a sentence for each group of
movements.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.context import PROGRAM
from wmsd.interfaces.pages.kit.references import BY_MOVEMENT, Key, NamedDocument
from wmsd.interfaces.pages.kit.text.language import translate_count
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.moments import day, span, year_of
from wmsd.interfaces.pages.kit.text.words import grouped_number
from wmsd.warehouse.stock.schema import MovementKind

MINUS: Final = "\N{MINUS SIGN}"
CLOSE: Final = "\N{NO-BREAK SPACE}"
"""A space that keeps a sign and its number on the same line."""
Number = Decimal | int


@dataclass(frozen=True, slots=True)
class Words:
    """The words for a kind of movement.

    `name` is the name in lists, and `summed` the text in the sum. `rises`, `falls` and `stays` are the verbs for a
    quantity that rises, falls or stays the same. `one` and `many` are the subjects for one movement and for
    several. If `of_quarantine` is True, the movements do not change the quantity. For these, the sentence says how
    much entered or left quarantine.
    """

    name: str
    summed: str
    rises: str
    falls: str
    stays: str
    one: str = ""
    many: str = ""
    of_quarantine: bool = False


BROUGHT: Final = "brought %(amount)s"
BROUGHT_BACK: Final = "brought %(amount)s back"
BROUGHT_NOTHING: Final = "brought nothing"
ADDED: Final = "added %(amount)s"
ADDED_NOTHING: Final = "added nothing"
TOOK: Final = "took %(amount)s"
TOOK_AWAY: Final = "took %(amount)s away"
ENTERED: Final = "%(amount)s went into quarantine"
LEFT: Final = "%(amount)s left quarantine"
NONE_ENTERED: Final = "nothing went into quarantine"
KINDS: Final[Mapping[MovementKind, Words]] = {
    "count": Words(
        *("Count", "%(amount)s counted", ADDED, TOOK_AWAY, ADDED_NOTHING),
        *("A count", "%(num)s counts"),
    ),
    "receipt": Words(
        *("Received", "%(amount)s received", BROUGHT, TOOK_AWAY, BROUGHT_NOTHING),
        *("A receipt", "%(num)s receipts"),
    ),
    "loading": Words(
        *("Shipped", "%(amount)s shipped", BROUGHT_BACK, TOOK, BROUGHT_NOTHING),
        *("A loading", "%(num)s loadings"),
    ),
    "unloading": Words(
        *("Unloaded", "%(amount)s unloaded", BROUGHT_BACK, TOOK, BROUGHT_NOTHING),
        *("An unloading", "%(num)s unloadings"),
    ),
    "return": Words(
        *("Returned", "%(amount)s returned", BROUGHT_BACK, TOOK, BROUGHT_NOTHING),
        *("A return", "%(num)s returns"),
    ),
    "adjustment": Words(
        *("Adjusted", "%(amount)s adjusted", ADDED, TOOK_AWAY, ADDED_NOTHING),
        *("An adjustment", "%(num)s adjustments"),
    ),
    "quarantine": Words(
        *("Quarantined", "%(amount)s quarantined", ENTERED, LEFT, NONE_ENTERED), of_quarantine=True
    ),
    "release": Words(*("Released", "%(amount)s released", ENTERED, LEFT, NONE_ENTERED), of_quarantine=True),
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence about movements. It names the documents, and says what they did, when and why."""

    kind: MovementKind
    subject: str
    documents: Sequence[NamedDocument]
    did: str
    details: str
    movements: int


def signed(value: Number) -> str:
    """Return the number with its sign, such as `+ 48`."""
    return f"+{CLOSE}{grouped_number(value)}" if value >= 0 else f"{MINUS}{CLOSE}{grouped_number(-value)}"


def beginning(stock: Mapping[str, Any]) -> str:
    """Return the first term of the sum, such as `120 counted on 3 May`."""
    number, count = grouped_number(stock["begins_with"]), stock["count"]
    if count is None:
        return _("%(number)s at the start") % {"number": number}
    return _("%(number)s counted on %(day)s") % {"number": number, "day": day(count["at"], year_of(stock["at"]))}


def terms(stock: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the terms of the sum after the first term (see `beginning`). The sum is the stock quantity.

    Each term is a text, such as `+ 48 received`, and a tone: `good` if the term is positive, or `bad` if it is
    negative.
    """
    return [
        (
            _(KINDS[group["kind"]].summed) % {"amount": signed(group["quantity"])},
            "good" if group["quantity"] > 0 else "bad",
        )
        for group in stock["groups"]
        if group["quantity"]
    ]


def count_sentence(stock: Mapping[str, Any], named: Mapping[Key, NamedDocument]) -> Sentence:
    count, amount = stock["count"], {"amount": grouped_number(stock["begins_with"])}
    clauses = [_("on %(day)s") % {"day": day(count["at"], year_of(stock["at"]))}, _compared(count["difference"])]
    details = _joined([*clauses, *_by(count)], _reason(count))
    if count["document_id"] is None:
        return Sentence("count", _("A count"), (), _("found %(amount)s") % amount, details, 1)
    document = named[BY_MOVEMENT["count"].name, count["document_id"]]
    return Sentence("count", _("Count"), [document], _("set the quantity to %(amount)s") % amount, details, 1)


def _compared(difference: Number) -> str:
    if not difference:
        return _("the same as recorded before")
    if difference > 0:
        return _("%(number)s more than recorded before") % {"number": grouped_number(difference)}
    return _("%(number)s less than recorded before") % {"number": grouped_number(-difference)}


def sentences(stock: Mapping[str, Any], named: Mapping[Key, NamedDocument]) -> list[Sentence]:
    """Return a sentence for each group of movements. `named` has the documents by their kind and id."""
    return [_sentence(group, named, year_of(stock["at"])) for group in stock["groups"]]


def _sentence(group: Mapping[str, Any], named: Mapping[Key, NamedDocument], year: str) -> Sentence:
    words = KINDS[group["kind"]]
    kind = BY_MOVEMENT.get(group["kind"])
    documents = [named[kind.name, each] for each in group["document_ids"]] if kind is not None else []
    clauses = [span(group["first_at"], group["last_at"], year), *_beside(group, words), *_by(group)]
    details = _joined(clauses, _reason(group), _destroyed(group))
    return Sentence(
        group["kind"], _subject(group, words), documents, _did(group, words), details, group["movements"]
    )


def _did(group: Mapping[str, Any], words: Words) -> str:
    """Return the verb with the amount, such as `added 48`.

    The verb is in the singular or plural, depending on the number of documents. Without documents, it depends on
    the number of movements. For quarantine, it depends on the amount.
    """
    amount = group["quarantined"] if words.of_quarantine else group["quantity"]
    doing = group["documents"] or group["movements"]
    number = abs(amount) if words.of_quarantine else doing
    text = words.rises if amount > 0 else words.falls if amount else words.stays
    whole = int(number) if number == int(number) else 2
    did = translate_count(text, text, whole) % {"amount": grouped_number(abs(amount))}
    if not words.of_quarantine and group["movements"] > 1 and not group["documents"]:
        return _("%(did)s in all") % {"did": did}
    return did


def _subject(group: Mapping[str, Any], words: Words) -> str:
    """Return the subject of the sentence. Return "" for quarantine, because the sentence then begins with the
    goods.
    """
    kind, count = BY_MOVEMENT.get(group["kind"]), group["documents"]
    if words.of_quarantine:
        return ""
    if kind is None or not count:
        count = group["movements"]
        return (
            _(words.one)
            if count == 1
            else translate_count(words.many, words.many, count) % {"num": grouped_number(count)}
        )
    noun = kind.table.noun
    if group["document_ids"]:
        named = _(noun) if count == 1 else _(f"{noun}s")
        return named[:1].upper() + named[1:]
    return translate_count(f"%(num)s {noun}", f"%(num)s {noun}s", count) % {"num": grouped_number(count)}


def _beside(group: Mapping[str, Any], words: Words) -> list[str]:
    """Return two clauses about the goods, if they apply: the lot, and the quantity that entered or left
    quarantine.
    """
    quarantined, lot = group["quarantined"], group["lot_number"]
    clauses = [_("lot %(lot)s") % {"lot": lot}] if lot else []
    if quarantined and not words.of_quarantine:
        into, out = _("%(number)s of it into quarantine"), _("%(number)s of it out of quarantine")
        clauses.append((into if quarantined > 0 else out) % {"number": grouped_number(abs(quarantined))})
    return clauses


def _destroyed(group: Mapping[str, Any]) -> str:
    if not group["destroyed"]:
        return ""
    return _("%(number)s more arrived to be destroyed") % {"number": grouped_number(group["destroyed"])}


def _by(movement: Mapping[str, Any]) -> list[str]:
    """Return a list with a clause that names the user who made the movements. Return [] if several users made
    them.

    Also return [] if documents caused the movements, because the page of a document names its user, or if wmsd
    itself made them.
    """
    if movement.get("documents") or movement["actor"] in ("", None, PROGRAM.name):
        return []
    return [_("by %(actor)s") % {"actor": movement["actor"]}]


def _reason(movement: Mapping[str, Any]) -> str:
    return "" if movement.get("documents") else movement["reason"] or ""


def _joined(clauses: Sequence[str], reason: str, more: str = "") -> str:
    """Join the clauses into one sentence. `more` is a further clause, at the end of this sentence. Then add a
    sentence with the reason. `more` and `reason` may be "".
    """
    whole = ", ".join(clauses) + (f"; {more}" if more else "")
    return f"{whole}. {_('Reason: %(reason)s.') % {'reason': reason}}" if reason else f"{whole}."
