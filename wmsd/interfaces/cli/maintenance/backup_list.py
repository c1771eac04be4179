"""The rows of `wmsd backup list`, read from the manifests of the archives."""

import shlex
from pathlib import Path
from typing import Any, Final

from wmsd.base.byte_sizes import size_text
from wmsd.base.plurals import count_of, first_few
from wmsd.db.engine.failures import StorageError
from wmsd.interfaces.cli.kit.command_line import note
from wmsd.maintenance.backups.archive import read_manifest
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.backups.manifest import Manifest

DESCRIBED: Final = ("made_at", "seconds", "wmsd", "companies", "data", "size", "keys")


def row_of(path: Path, own: str | None) -> dict[str, Any]:
    """Return the row of an archive. `own` is the id of this installation, or None if there is no data folder."""
    try:
        manifest = read_manifest(path)
    except StorageError as error:
        unknown = dict.fromkeys((*DESCRIBED, "lacks", "company", "installation", "codes"))
        return {"backup": path.name, **unknown, "error": str(error)}
    whose = manifest.installation if own is None else "this" if manifest.installation == own else "another"
    company = None if manifest.company is None else manifest.files[0].code
    codes = [file.code for file in manifest.files if file.code]
    lacks = [each.code for each in manifest.left_out]
    details = {"lacks": lacks, "company": company, "installation": whose, "codes": codes, "error": None}
    return {"backup": path.name, **describe_backup(path, manifest), **details}


def backup_columns(rows: list[dict[str, Any]], own: str | None) -> list[dict[str, Any]]:
    """Return the rows for the table of `wmsd backup list`. Leave out the column `error`. Leave out `lacks` and
    `company` if they are empty in every row.

    `own` is the id of this installation. If it is None, the table also has the codes of the companies.
    """
    hidden = {
        "error",
        *(name for name in ("lacks", "company") if not any(row[name] for row in rows)),
        *(("codes",) if own is not None else ()),
    }
    short = [
        {**row, "lacks": first_few(row["lacks"] or []), "codes": first_few(row["codes"] or [])} for row in rows
    ]
    return [{name: value for name, value in row.items() if name not in hidden} for row in short]


def note_companies(folder: BackupFolder, rows: list[dict[str, Any]]) -> None:
    """Print notes about archives of deleted companies in the folder, and how to use them."""
    if any(row["company"] for row in rows):
        note("Archives of one company are not backups. `wmsd company import FILE` brings a company back.")
    inside = folder.of_companies()
    if number := len(inside.companies()):
        archives = count_of(number, "archive of a deleted company", "archives of deleted companies")
        path = shlex.quote(str(inside.path.absolute()))
        note(f"{path} has {archives}. To list that folder: wmsd backup list --folder {path}")


def describe_backup(path: Path, manifest: Manifest) -> dict[str, Any]:
    """Return the columns `DESCRIBED` of a backup."""
    companies = sum(file.company_id is not None for file in manifest.files)
    values = (
        manifest.began_at,
        manifest.seconds,
        manifest.wmsd,
        companies,
        size_text(manifest.bytes),
        size_text(path.stat().st_size),
        manifest.keys,
    )
    return dict(zip(DESCRIBED, values, strict=True))
