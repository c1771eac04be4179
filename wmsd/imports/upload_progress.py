"""How far the work on an upload is."""

import asyncio
from typing import Any

from wmsd.contract.context import Company
from wmsd.db.engine.database import Database
from wmsd.imports import store as record
from wmsd.imports.upload_jobs import BROKEN_OFF, ImportDesk
from wmsd.imports.uploads import About, Upload


async def shown(
    desk: ImportDesk, database: Database, company: Company, upload: Upload, about: About
) -> dict[str, Any]:
    """The upload as it stands: the company's file alone says whether it was taken in."""
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
