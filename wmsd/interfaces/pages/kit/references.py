"""The records that a page refers to, with their codes, names and links, if the person may read them.

References are in the fields of answers, in movements and reservations, and in events.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.list_queries import MOST_IDS
from wmsd.events.webhooks.deliveries.schema import ENTITIES, MOST_RECORDS
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.fields import DOCUMENT_ID, DOCUMENT_TYPE, REFERRING, Field
from wmsd.interfaces.pages.kit.resources import BY_NAME, REFERRED
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.kind import DocumentKind

BY_MOVEMENT: Final = {movement: kind for kind in DOCUMENTS for movement in kind.movements}
"""For each kind of stock movement: the kind of document that causes it."""
BY_ENTITY: Final = {kind.table.entity: kind for kind in DOCUMENTS}
AT_ONCE: Final = 20
"""The maximum number of documents in one query. A document can have a thousand lines, and the size of an answer is
limited.
"""

Key = tuple[str, int]
"""The name of a document's kind, and the document's id."""
Referred = Mapping[tuple[str, int], Mapping[str, Any]]
"""The records to which fields refer. The key is the name of the field and the id of the record.

A record may also refer to the document that caused it. The key of this document is its kind (`document_type`) and
its id (`document_id`). Its value has only `text`, the code of the document, and `address`, the address of its
page.
"""
NESTED: Final = ("table", "facts")
LONGEST_CODE: Final = 64
RESOURCES: Final[dict[str, Resource]] = {
    **{entity: BY_NAME[kind.table.name.replace("_", "-")] for entity, kind in BY_ENTITY.items()},
    "article": BY_NAME["articles"],
    "stock": BY_NAME["stock"],
    "webhook": BY_NAME["webhooks"],
}
"""The resources of the entities in events, if their records have pages. The key is the name of the entity."""
IDS: Final = re.compile(r"(?:([a-z_]+)[: ])?[0-9]{1,15}", re.ASCII)
"""A pattern for an id, such as `17`, or for an entity with an id, such as `article:17` or `article 17`.

The log of a webhook shows an entity and an id with a space between them.
"""


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A document, as a page shows it.

    If the person may read the document, `text` is its code and `address` its page. Otherwise `text` is its id and
    `address` is None.
    """

    noun: str
    text: str
    address: str | None = None
    record: Mapping[str, Any] | None = None

    @property
    def alone(self) -> str:
        """The text for a place that does not say which kind of document it is. If the text is an id, it begins
        with the kind.
        """
        return self.text if self.address else f"{_(self.noun)} {self.text}"


async def named_documents(
    at: Workplace, wanted: Iterable[tuple[DocumentKind, int]]
) -> Mapping[Key, NamedDocument]:
    ids: dict[str, set[int]] = defaultdict(set)
    kinds = {}
    for kind, document_id in wanted:
        kinds[kind.name] = kind
        ids[kind.name].add(document_id)
    named = {
        (name, document_id): NamedDocument(kinds[name].table.noun, str(document_id))
        for name, of_kind in ids.items()
        for document_id in of_kind
    }
    for name, of_kind in ids.items():
        for record in await _records(at, kinds[name], sorted(of_kind)):
            address = f"{at.address}/{name}/{record['id']}"
            named[name, record["id"]] = NamedDocument(kinds[name].table.noun, record["code"], address, record)
    return named


async def _records(at: Workplace, kind: DocumentKind, ids: list[int]) -> list[Mapping[str, Any]]:
    """Return the documents that the person may read."""
    found: list[Mapping[str, Any]] = []
    for start in range(0, len(ids), AT_ONCE):
        query = {"ids": ",".join(map(str, ids[start : start + AT_ONCE]))}
        answer = await at.ask(kind.reading.by_ids, query=query, is_counted=True)
        if not answer.is_good:
            break
        found += answer.body["data"]
    return found


async def find_references(workplace: Workplace, fields: Iterable[Field], records: Iterable[Any]) -> Referred:
    """Return the records to which `records` refer. Leave out records that the person may not read.

    `fields` are the fields of `records`.
    """
    ids: dict[str, set[int]] = defaultdict(set)
    fields, records = tuple(fields), tuple(records)
    _collect(fields, records, ids)
    found: dict[tuple[str, int], Mapping[str, Any]] = {}
    if any(field.kind == "document" for field in fields):
        found |= await _documents(workplace, records)
    for name, wanted in ids.items():
        query = {"ids": ",".join(map(str, sorted(wanted)[:MOST_IDS]))}
        answer = await workplace.ask(REFERRING[name].find, query=query, is_counted=True, is_brief=True)
        if answer.is_good:
            found |= {(name, record["id"]): record for record in answer.body["data"]}
    return found


async def _documents(workplace: Workplace, records: Iterable[Any]) -> Mapping[tuple[str, int], Mapping[str, Any]]:
    wanted = {(each[DOCUMENT_TYPE], each[DOCUMENT_ID]) for each in records if each[DOCUMENT_TYPE] is not None}
    known = [(BY_ENTITY[entity], document_id) for entity, document_id in wanted if entity in BY_ENTITY]
    named = await named_documents(workplace, known)
    return {
        (kind.table.entity, document_id): {"text": found.text, "address": found.address}
        for kind, document_id in known
        if (found := named[kind.name, document_id]).address is not None
    }


def _collect(fields: Iterable[Field], records: Sequence[Mapping[str, Any]], ids: dict[str, set[int]]) -> None:
    """Add the ids to which the records refer. This works by column, because a document may have 1 000 lines."""
    for field in fields:
        is_reference = field.kind == "reference" and field.name in REFERRED
        if not is_reference and field.kind not in NESTED:
            continue
        values = [value for record in records if (value := record.get(field.name)) is not None]
        if is_reference and values:
            ids[field.name].update(values)
        elif field.kind == "facts":
            _collect(field.of, values, ids)
        elif field.kind == "table":
            _collect(field.of, [*chain.from_iterable(each for each in values if not isinstance(each, int))], ids)


def address_of(at: Workplace, entity: str, entity_id: int) -> str | None:
    """Return the address of the record's page. `entity` is the name of its kind.

    Return None if there is no page, or if the person may not read the record.
    """
    resource = RESOURCES.get(entity)
    if resource is None or not at.may(resource.listing):
        return None
    return f"{at.address}/{resource.name}/{entity_id}"


async def records_of(at: Workplace, typed: str) -> str | None:
    """Return the value for the record filter in the log of a webhook, such as `article:17,stock:3`.

    `typed` is a code or an id. If records have this code, return all of these records. Otherwise read `typed` as
    an id. Return None if it is not an id.
    """
    found = []
    if len(typed) <= LONGEST_CODE:
        for entity, resource in RESOURCES.items():
            if resource.key == "code" and at.may(resource.listing):
                record_id = await at.id_of(resource, typed)
                found += [] if record_id is None else [f"{entity}:{record_id}"]
    if found:
        return ",".join(found[:MOST_RECORDS])
    ids = IDS.fullmatch(typed)
    return typed.replace(" ", ":") if ids and ids[1] in (None, *ENTITIES) else None
