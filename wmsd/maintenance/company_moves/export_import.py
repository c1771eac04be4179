"""The export of one company to one file, and its import. An import can also create a practice copy in the original
installation.

The file is an archive in the format of a backup. It contains one company, and the settings of this company in
platform.db.
"""

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from wmsd import __version__
from wmsd.base import timestamps
from wmsd.base.machine.private_files import new_private, new_private_folder
from wmsd.base.machine.scratch_folders import in_use
from wmsd.contract.context import Company
from wmsd.data_folder.disk_space import check_space
from wmsd.data_folder.folder import DataFolder
from wmsd.data_folder.new_epoch import begin_epoch
from wmsd.data_folder.numbers import NOTHING_KNOWN
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_owner import Owner
from wmsd.db.engine.transaction import Transaction
from wmsd.db.migrations import COMPANY
from wmsd.db.sql.statements import update_row
from wmsd.events.webhooks.company_moves import (
    Credentials,
    seal_credentials,
    skip_queued,
    switch_all_off,
    unsealed_credentials,
)
from wmsd.installation.open_installation import Installation
from wmsd.maintenance.backups.archive import new_archive, read_manifest
from wmsd.maintenance.backups.create import add_company, add_secrets, release_after
from wmsd.maintenance.backups.encryption import seal_secrets
from wmsd.maintenance.backups.file_snapshots import Source
from wmsd.maintenance.backups.manifest import CREDENTIALS, BackedUpFile, CompanyRecord, Manifest
from wmsd.maintenance.backups.unpack import secrets_of, unpack_file, unpacked_differences
from wmsd.maintenance.backups.verify import examination_sentences
from wmsd.tenants.companies import actions as companies
from wmsd.tenants.companies import store
from wmsd.tenants.companies.schema import CompanyChanges, NewCompany
from wmsd.tenants.keys import recovery_phrases
from wmsd.tenants.keys.recovery_phrases import KnownPhrase

UNPACKED: Final = ".taking-over"


class Subject(NamedTuple):
    """A company to export or copy."""

    owner: Owner
    record: CompanyRecord
    credentials: Credentials
    """The credentials to export. Empty if the export leaves them out."""
    phrases: list[KnownPhrase]
    """The recovery phrases in use. Without a passphrase, the credentials are encrypted for these phrases."""
    is_frozen: bool
    """Whether the company is frozen. A frozen company accepts no changes, so its archive has its final state."""


class Adopted(NamedTuple):
    """The company that an import has created."""

    id: int
    webhooks: int
    """How many webhooks were switched off."""


async def subject(installation: Installation, code: str, has_passphrase: bool) -> Subject:
    """Read the company with the code `code` for export, as `subject_of` does. Raise Problem (404) if the company
    does not exist, and the errors of `subject_of`.
    """
    company = await installation.platform.read(lambda tx: companies.company_of_code(tx, code))
    return await subject_of(installation, company, has_passphrase)


async def subject_of(installation: Installation, company: Company, has_passphrase: bool) -> Subject:
    """Read a company for export.

    `has_passphrase` says whether a passphrase will encrypt the credentials. Without a passphrase, the recovery
    phrases encrypt them. If there is no recovery phrase either, the credentials are left out.

    The credentials are in the company's file. Raise an error, such as Problem (503), if they are needed and the
    file cannot be used.
    """
    credentials: Credentials = []
    phrases = await installation.platform.read(recovery_phrases.in_use)
    if has_passphrase or phrases:
        database = await installation.files.get(company.id)
        credentials = await database.read(unsealed_credentials)
    return Subject(
        installation.files.owner(company.id), _record(company), credentials, phrases, company.frozen_at is not None
    )


def _record(company: Company) -> CompanyRecord:
    return CompanyRecord(
        name=company.name,
        operator_code=None if company.operator is None else company.operator.code,
        sandbox=company.sandbox,
        modules=sorted(company.modules),
        requests_per_minute=company.requests_per_minute,
        graphql_per_minute=company.graphql_per_minute,
        quota_megabytes=company.quota_megabytes,
        time_zone=company.time_zone,
    )


def export_company(
    data: DataFolder,
    source: Source,
    subject: Subject,
    path: Path,
    passphrase: str | None,
    beside: Mapping[str, bytes] = MappingProxyType({}),
    is_deleted: bool = False,
) -> Manifest:
    """Write the archive of the company to `path`, which must not exist.

    `beside` has further files for human readers: the content of each file, by its name in the archive.
    `is_deleted` says that the company is being deleted. Raise StorageError, sqlite3.Error or OSError if that
    fails.
    """
    check_free(path)
    began, began_at = time.monotonic(), datetime.now(UTC)
    with new_archive(path, began_at) as archive:
        added = add_company(archive, source, data, subject.owner)
        for name, content in beside.items():
            archive.add(name, len(content), [content])
        secrets = seal_secrets(subject.credentials, passphrase, subject.phrases)
        manifest = Manifest(
            wmsd=__version__,
            installation=subject.owner.installation,
            began_at=timestamps.to_text(began_at),
            seconds=round(time.monotonic() - began, 3),
            **add_secrets(archive, CREDENTIALS, secrets),
            files=[added],
            company=subject.record,
            is_final=is_deleted or subject.is_frozen,
        )
        archive.finish(manifest)
    return manifest


def check_free(path: Path) -> None:
    """Raise StorageError if the file `path` of an export already exists."""
    if path.exists():
        raise StorageError(f"{path} already exists, and was not changed. Name another file.")


class Arrival(NamedTuple):
    """A company for `adopt`: either unpacked from an archive and examined, or copied from a company of this
    installation. `file` is its database file.
    """

    file: Path
    record: CompanyRecord
    origin: Owner
    credentials: Credentials | None
    """The credentials from the archive. None for a copy, if the archive has no credentials, or if no passphrase
    was given to open them.
    """
    came: companies.CameFrom
    as_of: datetime | None = None
    """The time of the export, or None for a copy."""
    is_final: bool = True
    """Whether the original company took no changes after the export. Always True for a copy."""


@contextmanager
def arrival_from_archive(archive: Path, data: DataFolder, passphrase: str | None) -> Iterator[Arrival]:
    """Unpack and examine the company in an archive. Raise StorageError if the archive does not contain exactly one
    company, or if the examination finds problems.
    """
    manifest = read_manifest(archive)
    if manifest.company is None or len(manifest.files) != 1 or manifest.files[0].code is None:
        raise StorageError(
            f"{archive} is not an export of a company. Create an export with `wmsd company export`. To "
            "restore a backup, use `wmsd backup restore`."
        )
    [file] = manifest.files
    _check_schema(archive, manifest, file)
    check_space(data.path, file.bytes, archive)
    credentials: Credentials | None = None
    if manifest.keys_at is not None and passphrase is not None:
        credentials = secrets_of(archive, manifest, CREDENTIALS, passphrase)
    with scratch(data) as folder:
        unpacked = folder / "company.db"
        unpack_file(archive, file, unpacked)
        wrong = [*unpacked_differences(file, unpacked), *examination_sentences(manifest, file, unpacked)]
        if wrong:
            raise StorageError(f"{file.code} in {archive} has problems: {' '.join(wrong)} Nothing was changed.")
        origin = Owner(manifest.installation, file.company_id or 0, file.code or "")
        details = {"file": archive.name, "origin": company_name(origin)}
        came = companies.CameFrom("company.import", details)
        as_of = timestamps.from_text(manifest.began_at)
        yield Arrival(unpacked, manifest.company, origin, credentials, came, as_of, manifest.is_final)


def company_name(origin: Owner) -> str:
    """Return a text that identifies the company in every installation, even if the company's code changes. It
    consists of the id of the original installation and the company's id there.
    """
    return f"{origin.installation}/{origin.company_id}"


async def here_already(installation: Installation, origin: Owner) -> list[str]:
    """Return the codes of all companies in this installation that come from `origin`: the original company itself,
    and its imports.
    """

    def look(tx: Transaction) -> list[str]:
        codes = [each.code for each in store.companies(tx) if installation.files.owner(each.id)[:2] == origin[:2]]
        return [*codes, *store.came_from(tx, company_name(origin))]

    return await installation.platform.read(look)


class HadOperator(NamedTuple):
    """The operator that a company had in the installation that exported the company."""

    code: str
    is_here: bool
    """Whether this installation has an operator with this code."""
    is_same: bool
    """Whether this installation's operator with this code is certainly the same operator. False if the archive
    comes from another installation.
    """


async def had_operator(installation: Installation, arrival: Arrival) -> HadOperator | None:
    code = arrival.record.operator_code
    if code is None:
        return None
    known = await installation.platform.read(store.operators)
    is_here = any(each.code == code for each in known)
    return HadOperator(code, is_here, is_here and arrival.origin.installation == installation.files.installation)


def _check_schema(archive: Path, manifest: Manifest, file: BackedUpFile) -> None:
    newest = len(COMPANY.scripts())
    if file.figures.schema_version > newest:
        raise StorageError(
            f"{archive} was created by wmsd {manifest.wmsd}, with schema {file.figures.schema_version}; this "
            f"program supports schemas up to {newest}. Nothing was changed. Import the archive with that "
            "version or a newer version."
        )


@contextmanager
def scratch(data: DataFolder, what: str = "") -> Iterator[Path]:
    """Yield a new folder in the data folder, and remove the folder at the end.

    If a process needs several folders at the same time, it must pass a different `what` for each.
    """
    folder = data.path / f"{UNPACKED}-{what and f'{what}-'}{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    new_private_folder(folder)
    try:
        with in_use(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def arrival_from_copy(data: DataFolder, source: Source, subject: Subject) -> Iterator[Arrival]:
    """Copy a company of this installation.

    The credentials stay in the copied file, because this installation's keys can open them.
    """
    with scratch(data) as folder:
        target = folder / "company.db"
        with source.state(data.companies / f"{subject.owner.company_id}.db", subject.owner) as state:
            check_space(data.path, state.bytes.bytes)
            with new_private(target) as file:
                for piece in release_after(state.bytes, state):
                    file.write(piece)
        came = companies.CameFrom("company.clone", {"copy_of": subject.owner.code})
        yield Arrival(target, subject.record, subject.owner, None, came)


async def adopt(
    installation: Installation, arrival: Arrival, code: str, record: CompanyRecord, is_copy: bool
) -> Adopted:
    """Create a company from an unpacked archive or copy. Its webhooks are switched off.

    The company gets the code `code`, the settings in `record`, a new id, and a new epoch. Raise Problem,
    StorageError or sqlite3.Error if that fails.
    """
    known = NOTHING_KNOWN._replace(is_complete=arrival.is_final)
    begin_epoch(arrival.file, "copy" if is_copy else "import", known, arrival.as_of, is_copy)
    database = Database(arrival.file, installation.clock, installation.ids, provision=installation.files.provision)
    try:
        webhooks = await database.write(lambda tx: _settle(tx, arrival.credentials, is_copy))
    finally:
        await database.close()
    new = NewCompany(code=code, **record.model_dump(include=set(NewCompany.model_fields)))
    limits = CompanyChanges(**record.model_dump(exclude=set(NewCompany.model_fields)))

    def make(tx: Transaction) -> int:
        company_id = companies.create_company(
            tx, new, lambda id, code: installation.files.adopt(id, code, arrival.file), arrival.came
        )
        own = {name: value or None for name, value in limits.given().items()}
        update_row(tx, "companies", company_id, own)
        return company_id

    company_id = await installation.platform.write(make)
    return Adopted(company_id, webhooks)


def _settle(tx: Transaction, credentials: Credentials | None, is_copy: bool) -> int:
    if credentials is not None:
        seal_credentials(tx, credentials)
    if is_copy:
        skip_queued(tx)
    return switch_all_off(tx)
