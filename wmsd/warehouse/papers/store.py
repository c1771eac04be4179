"""The SQL of the details on a company's documents: one row, which the company's file always has."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.records import check_fields_are_read, record_sql
from wmsd.warehouse.papers.logo import Picture
from wmsd.warehouse.papers.schema import Papers, PapersFields

FIELDS: Final = tuple(PapersFields.model_fields)
LOGO: Final = """
    iif(logo IS NULL, NULL, json_object(
        'media_type', logo_type, 'sha256', logo_sha256, 'width', logo_width, 'height', logo_height,
        'bytes', length(logo)
    ))
"""
SHOWN: Final = f"SELECT {record_sql(Papers, {'logo': LOGO})} FROM papers"
FIELDS_NOW: Final = f"SELECT {', '.join(FIELDS)} FROM papers"
SET_FIELDS: Final = f"UPDATE papers SET {', '.join(f'{name} = :{name}' for name in FIELDS)}"
SET_LOGO: Final = """
    UPDATE papers SET
        logo = :logo, logo_type = :media_type, logo_sha256 = :sha256, logo_width = :width, logo_height = :height
"""
LOGO_NOW: Final = "SELECT logo, logo_type, logo_sha256 FROM papers WHERE logo IS NOT NULL"
NO_LOGO: Final = {"logo": None, "media_type": None, "sha256": None, "width": None, "height": None}

check_fields_are_read(PapersFields, Papers)


def papers_json(tx: Transaction) -> str:
    """Return the company's details for its documents as JSON, without the file of the logo."""
    return str(tx.value(SHOWN))


def fields_now(tx: Transaction) -> dict[str, Any]:
    """Return the fields as they are stored."""
    return tx.record(FIELDS_NOW) or {}


def set_fields(tx: Transaction, columns: Mapping[str, object]) -> None:
    tx.execute(SET_FIELDS, columns)


def set_logo(tx: Transaction, file: bytes, picture: Picture) -> None:
    sha256 = hashlib.sha256(file).hexdigest()
    tx.execute(SET_LOGO, {**picture._asdict(), "logo": file, "sha256": sha256})


def remove_logo(tx: Transaction) -> None:
    tx.execute(SET_LOGO, NO_LOGO)


def logo(tx: Transaction) -> tuple[bytes, str, str] | None:
    """Return the file of the logo, its media type and its SHA-256 hash, or None if there is no logo."""
    row = tx.record(LOGO_NOW)
    return None if row is None else (row["logo"], row["logo_type"], row["logo_sha256"])
