"""The changes of a document on its page: who created the document, and who changed it or its status."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.fields import REFERRING, Field, fields_of
from wmsd.interfaces.pages.kit.references import Referred, find_references
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.warehouse.documents.change_history import MORE
from wmsd.warehouse.documents.schema import DocumentChange

FIELDS: Final = tuple(fields_of(DocumentChange).values())


async def changes_of(at: Workplace, resource: Resource, record_id: int) -> Mapping[str, Any] | None:
    """Return the changes of a document, or None if this kind of record has no list of changes.

    The result has these fields:
    - `records`: the changes, the newest first.
    - `fields`: the fields of a change.
    - `lacks_beginning`: True if the creation of the document is not in the list.
    - `lacks_older`: True if the list leaves out older changes.
    """
    if resource.changes is None:
        return None
    answer = await at.need(resource.changes, path={"id": str(record_id)}, is_counted=True)
    found = answer["data"]
    values = [value for each in found for change in (each["changes"] or {}).items() for value in _values(*change)]
    known = await find_references(at, [Field(name, "reference") for name in REFERRING], values)
    return {
        "fields": FIELDS,
        "records": [{**each, "changes": _with_codes(each["changes"], known)} for each in found],
        "lacks_beginning": not found or found[-1]["what"] != "created",
        "lacks_older": answer["more"],
    }


def _values(name: str, change: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the value of the field `name` before a change, and its value after the change. Each is a dict with
    this field.

    If a value is a list of lines, yield the lines instead.
    """
    for value in change.values():
        yield from (each for each in value if each != MORE) if _is_lines(value) else [{name: value}]


def _is_lines(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _with_codes(changes: Mapping[str, Any] | None, known: Referred) -> Mapping[str, Any] | None:
    """Return the changes. Replace the id of each record in `known` by the code of the record."""

    def shown(name: str, value: Any) -> Any:
        if _is_lines(value):
            return [line if line == MORE else shown_line(line) for line in value]
        found = known.get((name, value)) if name in REFERRING else None
        return value if found is None else found["code"]

    def shown_line(line: Mapping[str, Any]) -> Mapping[str, Any]:
        return {part: shown(part, each) for part, each in line.items()}

    return changes and {
        name: {when: shown(name, value) for when, value in values.items()} for name, values in changes.items()
    }
