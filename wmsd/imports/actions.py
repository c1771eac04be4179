"""The operations that admins of a company use in the browser to import files."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from wmsd.base.dataclass import dataclass
from wmsd.base.decimal_marks import Mark
from wmsd.base.problems import forbidden, invalid, or_not_found
from wmsd.contract.context import Caller, Company
from wmsd.contract.fields import Input, Name
from wmsd.contract.operation import operation
from wmsd.contract.results import CursorPage, Page, Record
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.freezes import check_not_frozen
from wmsd.dispatch.limits.growth_limits import MEGABYTE, Storage
from wmsd.imports import store as record
from wmsd.imports.file_kinds import KINDS, MODULE_OF
from wmsd.imports.schema import ImportCursorQuery, ImportQuery, ImportShown
from wmsd.imports.upload_jobs import BROKEN_OFF, ImportDesk
from wmsd.imports.uploads import About, Upload

by_admins = partial(operation, tag="Imports", role="company-admin")


async def upload_as_json(
    desk: ImportDesk, database: Database, company: Company, upload: Upload, about: About
) -> dict[str, Any]:
    """Return an upload in the form of JSON, with its state, progress and preview.

    The state is "imported" if the company's file has a record of the import. Otherwise the state comes from
    `about`.
    """
    found = await database.read(lambda tx: record.of_upload(tx, upload.id))
    state, message = about.state, about.message
    if found is not None:
        state, message = "imported", ""
    elif state in ("looking", "importing") and not desk.is_at_work(company):
        state, message = "failed", BROKEN_OFF
    is_at_work = state in ("looking", "importing")
    progress = await asyncio.to_thread(upload.progress) if is_at_work else None
    return {
        "id": upload.id,
        "kind": about.kind,
        "file_name": about.file_name,
        "bytes": about.bytes,
        "by": about.by,
        "at": about.at,
        "state": state,
        "message": message,
        "choices": about.choices,
        "options": about.options,
        "progress": None if progress is None else {"done": progress[0], "of": progress[1]},
        "preview": None if is_at_work else await asyncio.to_thread(upload.preview),
        "import_id": None if found is None else found.id,
    }


@dataclass(frozen=True, slots=True)
class ImportService:
    desk: ImportDesk
    storage: Storage


class UploadToLookAt(Input):
    """The user's choices for an uploaded file. wmsd detects everything that the user has not chosen."""

    kind: Annotated[str, Field(max_length=64)]
    file_name: Annotated[str, Field(max_length=200)] = ""
    bytes: int = 0
    decimal: Mark | None = None
    delimiter: Literal["comma", "semicolon", "tab"] | None = None
    encoding: Literal["utf-8", "utf-16", "windows-1250", "windows-1252", "iso-8859-2"] | None = None
    complete: bool = False
    reason: Name | None = None


TOO_LARGE: Final = "The file is over {} MB."
QUOTA_LEFT: Final = (
    "The file is larger than the space that the company has left; uploads of the last day also take "
    "space. Import the file in parts, or ask the platform admin for more space."
)
CHOICES: Final = ("decimal", "delimiter", "encoding")


@by_admins(answer="page", returns=ImportShown)
def list_imports(tx: Transaction, query: ImportQuery) -> Page:
    """List the latest imports of the company."""
    return record.page(tx, query)


@by_admins(answer="cursor", returns=ImportShown)
def walk_imports(tx: Transaction, query: ImportCursorQuery, position: int) -> CursorPage:
    """List imports by cursor."""
    return record.after(tx, query, position)


@by_admins(answer="record", returns=ImportShown)
def get_import(tx: Transaction, id: int) -> Record:
    """Get an import."""
    return record.one(tx, id)


@by_admins(answer="record", returns=ImportShown, writes=True)
async def undo_import(
    service: ImportService, database: Database, company: Company, caller: Caller, id: int
) -> Callable[[Transaction], Record]:
    """Undo an import completely.

    Only the latest import can be undone, and only if no later change depends on its records.
    """
    await database.read(lambda tx: record.one(tx, id))
    await service.desk.undo(company, id, caller)
    return lambda tx: record.one(tx, id)


@by_admins(answer="object")
async def begin_upload(
    service: ImportService, database: Database, company: Company, caller: Caller
) -> dict[str, object]:
    """Create an upload for a file.

    The file counts towards the storage quota of the company.
    """
    check_not_frozen(company)
    upload = await service.desk.make(company, caller)
    kept = await service.desk.bytes_kept(company)
    left = await database.read(lambda tx: service.storage.left(tx, company, kept))
    most = service.desk.most_bytes
    is_of_quota = left is not None and left < most
    return {
        "id": upload.id,
        "path": str(upload.file),
        "most_bytes": left if is_of_quota else most,
        "too_large": QUOTA_LEFT if is_of_quota else TOO_LARGE.format(most // MEGABYTE),
    }


@by_admins(answer="object")
async def look_at_upload(
    service: ImportService, company: Company, upload: str, body: UploadToLookAt
) -> dict[str, object]:
    """Start to preview an uploaded file.

    The preview shows what an import would change.
    """
    if body.kind not in KINDS:
        raise invalid({"kind": [f"must be one of {', '.join(KINDS)}"]})
    module = MODULE_OF.get(body.kind)
    if module is not None and module not in company.modules:
        raise forbidden(f"The module {module} is off for this company.")
    found, about = await service.desk.find(company, upload)
    given = body.model_dump()
    about.kind = body.kind
    about.file_name, about.bytes = body.file_name or about.file_name, body.bytes or about.bytes
    about.choices = {name: given[name] for name in CHOICES if given[name] is not None}
    about.options = {name: given[name] for name in KINDS[body.kind].options if given[name]}
    await service.desk.look(company, found, about)
    return {"id": upload}


@by_admins(answer="object")
async def get_upload(service: ImportService, database: Database, company: Company, upload: str) -> dict[str, Any]:
    """Get an upload.

    The answer has the detected format of the file, the preview, and the progress of the import.
    """
    return await upload_as_json(service.desk, database, company, *await service.desk.find(company, upload))


@by_admins(answer="object")
async def import_upload(
    service: ImportService, database: Database, company: Company, upload: str
) -> dict[str, object]:
    """Start to import an upload.

    A repeated request does not import the file twice.
    """
    check_not_frozen(company)
    kept = await service.desk.bytes_kept(company)

    def admitted(tx: Transaction) -> int | None:
        service.storage.admit(tx, company, "adds")
        return service.storage.left(tx, company, kept)

    left = await database.read(admitted)
    await service.desk.start_import(company, *await service.desk.find(company, upload), left)
    return {"id": upload}


@by_admins(answer="object")
async def get_upload_errors(service: ImportService, company: Company, upload: str) -> dict[str, object]:
    """Get the errors of an upload as CSV.

    The CSV has the first 1 000 errors.
    """
    found, _ = await service.desk.find(company, upload)
    return {"csv": or_not_found(await asyncio.to_thread(found.errors), "list of errors")}
