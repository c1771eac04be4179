"""The record of an import."""

from typing import Annotated

from pydantic import Field

from wmsd.contract.fields import Id, Model, Timestamp
from wmsd.contract.list_queries import CursorQuery, PageQuery, Query, SortedBy


class ImportShown(Model):
    """An import, and whether the import can be undone."""

    id: Id
    kind: str
    file_name: str
    actor: Annotated[str, Field(description="Who has imported it.")]
    created: int
    updated: int
    unchanged: int
    imported_at: Timestamp
    undone_at: Timestamp | None
    undone_by: str | None
    can_be_undone: Annotated[
        bool,
        Field(description="Whether it is the last one that has changed something, and what it needs is kept."),
    ]


class ImportFilters(Query):
    kind: Annotated[str | None, Field(max_length=64)] = None


class ImportQuery(ImportFilters, PageQuery):
    sort: Annotated[str, SortedBy("id")] = "-id"


class ImportCursorQuery(ImportFilters, CursorQuery):
    pass
