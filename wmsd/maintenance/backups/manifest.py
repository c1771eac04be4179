"""The manifest of a backup: the list of its contents. `docs/backup.md` describes the manifest for people who read
an archive without wmsd.
"""

import shlex
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.backups.file_figures import Figures

NAME: Final = "manifest.json"
KEYS: Final = "keys.json.age"
CREDENTIALS: Final = "credentials.json.age"
"""The name of the entry with the credentials of a company's webhooks. Only the export of a company has this entry.
"""
FORMAT: Final = 1
Keys = Literal["encrypted", "sealed", "left out"]
"""How the archive contains the keys:
- `encrypted`: in a separate entry, encrypted with a passphrase or sealed to recovery phrases.
- `sealed`: in platform.db, sealed with the secret of the key file.
- `left out`: not at all.
"""


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class BackedUpFile(Part):
    """A file in the archive. `path` is its path in the data folder, and `at` the offset of its entry in the
    archive.
    """

    path: Annotated[str, Field(pattern=r"^(platform\.db|companies/[1-9][0-9]{0,17}\.db)$")]
    company_id: int | None = None
    code: str | None = None
    at: Annotated[int, Field(ge=0)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    figures: Figures


class CompanyRecord(Part):
    """The settings of an exported company, as they are stored in platform.db."""

    name: str
    operator_code: str | None
    sandbox: bool
    modules: list[str]
    requests_per_minute: int | None
    graphql_per_minute: int | None
    quota_megabytes: int | None
    time_zone: str | None = None


class SealedTo(Part):
    """A recovery phrase that can decrypt the secrets in the archive."""

    fingerprint: str
    created_at: str | None = None
    """The time when the phrase was created. None if the installation does not know the phrase, because the user or
    the settings gave it.
    """
    checked_at: str | None = None
    """When a user last typed the phrase, as known when the archive was created. None if that is not known."""


class LeftOut(Part):
    """A company whose file could not be read."""

    company_id: int
    code: str
    reason: str


class Manifest(Part):
    format: Literal[1] = FORMAT
    wmsd: str
    """The version of the program that created the archive."""
    installation: str
    began_at: str
    seconds: float
    by_schedule: bool = True
    """Whether a schedule created the archive. The settings backup.keep_… apply only to archives of a schedule."""
    keys: Keys
    keys_at: int | None = None
    """The offset of the entry with the encrypted secrets: the keys or, in an export of a company, the credentials
    of its webhooks. None if the archive has no such entry.
    """
    phrases: list[SealedTo] = []
    """The recovery phrases that can decrypt the secrets. Empty if a passphrase encrypted the secrets, or if the
    archive has no encrypted secrets.
    """
    files: list[BackedUpFile]
    left_out: list[LeftOut] = []
    company: CompanyRecord | None = None
    """The exported company, or None in a backup of the installation."""
    is_final: bool = False
    """Whether the export contains the company's last state. This is true if the company was deleted, or frozen for
    a move.
    """

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
    """Return a sentence that says how to import the archive of one deleted or exported company."""
    return f"`wmsd company import {shlex.quote(str(archive.absolute()))}` imports the company again."


def parsed(text: bytes, archive: str) -> Manifest:
    """Parse the manifest. Raise StorageError if the manifest is not valid."""
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        if first["loc"] == ("format",):
            raise StorageError(
                f"{archive} was created by a newer wmsd. This wmsd reads only format {FORMAT}: use the newer wmsd."
            ) from None
        place = ".".join(map(str, first["loc"]))
        raise StorageError(
            f"{archive}: its manifest cannot be read ({place}: {first['msg']}). Copy the archive again, or "
            "use "
            "another archive."
        ) from None
    if len({file.path for file in manifest.files}) != len(manifest.files):
        raise StorageError(
            f"{archive}: its manifest lists the same file twice. Copy the archive again, or use another archive."
        )
    return manifest
