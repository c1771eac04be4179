"""Movements of stock for people. A movement has its document, and the partner and tracking number of the document.

Documents and partners are left out if the person may not read them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.interfaces.pages.kit.fields import Field
from wmsd.interfaces.pages.kit.references import BY_MOVEMENT, NamedDocument, find_references, named_documents
from wmsd.interfaces.pages.kit.workplace import Workplace

PARTNER: Final = "partner_id"
ORDER: Final = "purchase_order_id"


@dataclass(frozen=True, slots=True)
class DescribedMovement:
    record: Mapping[str, Any]
    document: NamedDocument | None
    partner: Mapping[str, Any] | None
    tracking_number: str | None


async def describe_movements(at: Workplace, movements: Sequence[Mapping[str, Any]]) -> list[DescribedMovement]:
    caused = {
        each["id"]: (BY_MOVEMENT[each["kind"]], each["document_id"])
        for each in movements
        if each["document_id"] is not None and each["kind"] in BY_MOVEMENT
    }
    named = await named_documents(at, caused.values())
    documents = {key: named[kind.name, document_id] for key, (kind, document_id) in caused.items()}
    partners = await partners_of(at, [each.record for each in named.values() if each.record is not None])
    return [_describe(each, documents.get(each["id"]), partners) for each in movements]


def _describe(
    movement: Mapping[str, Any],
    document: NamedDocument | None,
    partners: Mapping[tuple[str, int], Mapping[str, Any]],
) -> DescribedMovement:
    record = {} if document is None or document.record is None else document.record
    key = next(((name, record[name]) for name in (PARTNER, ORDER) if record.get(name) is not None), None)
    partner = None if key is None else partners.get(key)
    return DescribedMovement(movement, document, partner, record.get("tracking_number"))


async def partners_of(
    at: Workplace, documents: Sequence[Mapping[str, Any]]
) -> Mapping[tuple[str, int], Mapping[str, Any]]:
    """Return the partners of documents. The key is a field of the document: its name and its value.

    The field is `partner_id` or, for a reception, `purchase_order_id`.
    """
    to_order, to_partner = Field(ORDER, "reference"), Field(PARTNER, "reference")
    of_receptions = [each for each in documents if PARTNER not in each and each.get(ORDER) is not None]
    orders = await find_references(at, [to_order], of_receptions)
    owners = [*documents, *orders.values()]
    partners = await find_references(at, [to_partner], owners)
    return {
        **partners,
        **{
            key: partners[PARTNER, order[PARTNER]]
            for key, order in orders.items()
            if (PARTNER, order[PARTNER]) in partners
        },
    }
