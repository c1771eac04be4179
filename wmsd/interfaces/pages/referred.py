"""The records that those of an answer refer to, so that a page shows their codes and names."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from wmsd.base.listing import MOST_IDS
from wmsd.interfaces.pages.fields import REFERRING, Field
from wmsd.interfaces.pages.resources import REFERRED
from wmsd.interfaces.pages.workplace import Workplace

Referred = Mapping[tuple[str, int], Mapping[str, Any]]
"""By the field that refers, and the id."""
NESTED: Final = ("table", "facts")


async def referred(workplace: Workplace, fields: Iterable[Field], records: Iterable[Any]) -> Referred:
    """Those that the person may read; a field that refers to another shows its id."""
    ids: dict[str, set[int]] = defaultdict(set)
    fields = tuple(fields)
    for record in records:
        _collect(fields, record, ids)
    found: dict[tuple[str, int], Mapping[str, Any]] = {}
    for name, wanted in ids.items():
        query = {"ids": ",".join(map(str, sorted(wanted)[:MOST_IDS]))}
        answer = await workplace.ask(REFERRING[name].find, query=query, is_counted=True)
        if answer.is_good:
            found |= {(name, record["id"]): record for record in answer.body["data"]}
    return found


def _collect(fields: Iterable[Field], record: Mapping[str, Any], ids: dict[str, set[int]]) -> None:
    for field in fields:
        value = record.get(field.name)
        if value is None:
            continue
        if field.kind == "reference" and field.name in REFERRED:
            ids[field.name].add(value)
        elif field.kind in NESTED:
            for each in value if field.kind == "table" else [value]:
                _collect(field.of, each, ids)
