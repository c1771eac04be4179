"""The manifest of a backup: what is in it. `docs/backup.md` tells of it to those who read one without wmsd."""

import shlex
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.backups.file_figures import Figures

NAME: Final = "manifest.json"
KEYS: Final = "keys.json.age"
CREDENTIALS: Final = "credentials.json.age"
"""Of a company's webhooks, in an export of that company."""
FORMAT: Final = 1
Keys = Literal["encrypted", "sealed", "left out"]
"""`encrypted`: in the archive, with a passphrase or to recovery phrases. `sealed`: in platform.db, sealed with
the key file's secret.
"""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class BackedUpFile(Part):
    """A file in the archive. `path` is its path in the data folder, and `at` where its entry begins."""

    path: Annotated[str, Field(pattern=r"^(platform\.db|companies/[1-9][0-9]{0,17}\.db)$")]
    company_id: int | None = None
    code: str | None = None
    at: Annotated[int, Field(ge=0)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    figures: Figures


class CompanyRecord(Part):
    """What platform.db says of a company that is exported by itself."""

    name: str
    operator_code: str | None
    sandbox: bool
    modules: list[str]
    requests_per_minute: int | None
    graphql_per_minute: int | None
    quota_megabytes: int | None
    time_zone: str | None = None


class SealedTo(Part):
    """A recovery phrase that opens what is secret in the archive."""

    fingerprint: str
    created_at: str | None = None
    """None for a phrase that the installation did not have."""
    checked_at: str | None = None
    """When somebody had last typed it, at the time of the archive."""


class LeftOut(Part):
    """A company whose file could not be read."""

    company_id: int
    code: str
    reason: str


class Manifest(Part):
    format: Literal[1] = FORMAT
    wmsd: str
    """The version of the program that made it."""
    installation: str
    began_at: str
    seconds: float
    by_schedule: bool = True
    """Whether old ones of its kind are deleted by backup.keep_…; those made by hand never are."""
    keys: Keys
    keys_at: int | None = None
    """Where the entry of the encrypted keys begins."""
    phrases: list[SealedTo] = []
    """The recovery phrases that open them. Empty where a passphrase does."""
    files: list[BackedUpFile]
    left_out: list[LeftOut] = []
    company: CompanyRecord | None = None
    """Of an export of one company; None in a backup."""
    is_final: bool = False
    """Whether nothing is written to that company after the export: it was deleted, or frozen for a move."""

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    def file(self, path: str) -> BackedUpFile | None:
        return next((file for file in self.files if file.path == path), None)

    def file_of(self, code: str) -> BackedUpFile | None:
        return next((file for file in self.files if file.code == code), None)

    def has_company(self, company_id: int) -> bool:
        return any(file.company_id == company_id for file in self.files)


def brings_back(archive: Path) -> str:
    """What to do with the archive of one company, a deleted or an exported one, wherever it is typed."""
    return f"`wmsd company import {shlex.quote(str(archive.absolute()))}` brings it back."


def parsed(text: bytes, archive: str) -> Manifest:
    """Raises StorageError."""
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        if first["loc"] == ("format",):
            raise StorageError(
                f"{archive} was made by a newer wmsd: this one reads format {FORMAT} only."
            ) from None
        place = ".".join(map(str, first["loc"]))
        raise StorageError(f"{archive}: its manifest cannot be read ({place}: {first['msg']}).") from None
    if len({file.path for file in manifest.files}) != len(manifest.files):
        raise StorageError(f"{archive}: its manifest names a file twice.")
    return manifest
