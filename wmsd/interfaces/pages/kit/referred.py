"""The records that those of an answer refer to, so that a page shows their codes and names."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from wmsd.contract.list_queries import MOST_IDS
from wmsd.interfaces.pages.kit.fields import DOCUMENT_ID, DOCUMENT_TYPE, REFERRING, Field
from wmsd.interfaces.pages.kit.references import BY_ENTITY, named_documents
from wmsd.interfaces.pages.kit.resources import REFERRED
from wmsd.interfaces.pages.kit.workplace import Workplace

Referred = Mapping[tuple[str, int], Mapping[str, Any]]
"""By the field that refers, and the id. A document that has caused a record: by its kind, and the id."""
NESTED: Final = ("table", "facts")


async def referred(workplace: Workplace, fields: Iterable[Field], records: Iterable[Any]) -> Referred:
    """Those that the person may read; a field that refers to another shows its id."""
    ids: dict[str, set[int]] = defaultdict(set)
    fields, records = tuple(fields), tuple(records)
    for record in records:
        _collect(fields, record, ids)
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


def _collect(fields: Iterable[Field], record: Mapping[str, Any], ids: dict[str, set[int]]) -> None:
    for field in fields:
        value = record.get(field.name)
        if value is None:
            continue
        if field.kind == "reference" and field.name in REFERRED:
            ids[field.name].add(value)
        elif field.kind in NESTED and not isinstance(value, int):
            for each in value if field.kind == "table" else [value]:
                _collect(field.of, each, ids)
