"""The documents that movements and reservations name by their ids, as the person may see them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.interfaces.pages.kit.text.language import translated as _
from wmsd.interfaces.pages.kit.workplace import Workplace
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.kind import DocumentKind

BY_MOVEMENT: Final = {movement: kind for kind in DOCUMENTS for movement in kind.movements}
"""The kind of document that makes movements of this kind."""
BY_ENTITY: Final = {kind.table.entity: kind for kind in DOCUMENTS}
AT_ONCE: Final = 20
"""A document can have a thousand lines, and an answer has an end."""

Key = tuple[str, int]
"""The name of a document's kind, and its id."""


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """`text` is its code with its `address`; for a person who may not read it, its id alone."""

    noun: str
    text: str
    address: str | None = None
    record: Mapping[str, Any] | None = None

    @property
    def alone(self) -> str:
        """What it is called where nothing says what it is."""
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
    """Those that the person may read."""
    found: list[Mapping[str, Any]] = []
    for start in range(0, len(ids), AT_ONCE):
        query = {"ids": ",".join(map(str, ids[start : start + AT_ONCE]))}
        answer = await at.ask(kind.reading.by_ids, query=query, is_counted=True)
        if not answer.is_good:
            break
        found += answer.body["data"]
    return found
