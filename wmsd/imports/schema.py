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
    actor: Annotated[str, Field(description="The user who imported the file.")]
    created: int
    updated: int
    unchanged: int
    imported_at: Timestamp
    undone_at: Timestamp | None
    undone_by: str | None
    can_be_undone: Annotated[
        bool,
        Field(
            description="True if this is the last import that changed records, and wmsd still has the "
            "data to undo it."
        ),
    ]


class ImportFilters(Query):
    kind: Annotated[str | None, Field(max_length=64)] = None


class ImportQuery(ImportFilters, PageQuery):
    sort: Annotated[str, SortedBy("id")] = "-id"


class ImportCursorQuery(ImportFilters, CursorQuery):
    pass
