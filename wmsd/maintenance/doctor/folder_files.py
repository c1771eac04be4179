"""Findings about the files of the data folder: missing, empty, foreign or swapped files."""

from pathlib import Path
from typing import Final

from wmsd.base.plurals import first_few
from wmsd.contract.findings import FindingKind, Found
from wmsd.data_folder.file_swap import JOURNAL
from wmsd.data_folder.names import is_own
from wmsd.data_folder.platform_loss import restoring_platform
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_owner import Owner
from wmsd.db.engine.replaced_files import newest_copy
from wmsd.db.files.read_only_copy import Content, content_of, owner_of
from wmsd.db.migrations import COMPANY, PLATFORM
from wmsd.maintenance.backups.newest_backup import BackupsIn, newest_with
from wmsd.maintenance.doctor.situation import Situation
from wmsd.maintenance.doctor.usable_folder import check_usable

NOBODY: Final = "nobody"
OF_PLATFORM: Final = (
    "Stop the server. If you have a copy of platform.db and platform.db-wal, copy both files into the data "
    "folder. Otherwise restore platform.db from a backup: {command}. Only platform.db contains users and "
    "tokens."
)
OF_COMPANY: Final = "Restore the company from a backup: wmsd backup restore {backup} --company {code}"

PLATFORM_MISSING: Final = FindingKind(
    "platform-missing",
    "wrong",
    "{file} is missing, but there are files of companies: {companies}.",
    OF_PLATFORM,
)
PLATFORM_EMPTY: Final = FindingKind("platform-empty", "wrong", "{file} is empty.", OF_PLATFORM)
PLATFORM_FOREIGN: Final = FindingKind(
    "platform-foreign", "wrong", "{file} is not the platform.db of an installation.", OF_PLATFORM
)
COMPANY_MISSING: Final = FindingKind(
    "company-file-missing", "wrong", "Company {code} has no file: {file} is missing.", OF_COMPANY
)
COMPANY_REMOVED: Final = FindingKind(
    "company-file-removed",
    "wrong",
    "Company {code} has no file: {file} was removed while the server used it. Its content is in {kept}.",
    "Stop the server, rename {kept} to {file}, and start the server again. If a backup is newer "
    "than this file, restore the company from the backup: wmsd backup restore {backup} --company "
    "{code}",
)
COMPANY_EMPTY: Final = FindingKind(
    "company-file-empty", "wrong", "The file of company {code} is empty: {file}.", OF_COMPANY
)
COMPANY_FOREIGN: Final = FindingKind(
    "company-file-foreign", "wrong", "{file} of company {code} is not a company file of wmsd.", OF_COMPANY
)
COMPANIES_SWAPPED: Final = FindingKind(
    "company-files-swapped",
    "wrong",
    "The files of the companies {code} and {other} are swapped: {file} belongs to {other}, and "
    "{other_file} belongs to {code}.",
    "Stop the server, and exchange the names of the two files, and of their -wal files if there are "
    "any. You need not restore a backup.",
)
FILE_UNKNOWN: Final = FindingKind(
    "company-unknown",
    "warning",  # a process that was killed while it created a company leaves such a file too
    "{file} belongs to no company in platform.db. The company named in the file: {owner}.",
    "If platform.db is older than the company, restore a newer platform.db. Otherwise move the "
    "company's file out of the data folder, and keep this file until you know its company.",
    words=(NOBODY,),
)
FILE_STRAY: Final = FindingKind(
    "file-stray",
    "warning",
    "{file} is not a file of wmsd, and wmsd does not read it.",
    "Move the file out of the data folder, so that nobody thinks that wmsd uses it.",
)
RESTORE_UNFINISHED: Final = FindingKind(
    "restore-unfinished",
    "warning",
    "A restore was interrupted and is not complete. {file} lists the remaining steps.",
    "Start the server, which first finishes the restore. Then run wmsd doctor again.",
)
UNUSABLE: Final = FindingKind(
    "data-unusable",
    "wrong",
    "No server can use the data folder now. {sentence}",
    "If you meant another folder, name that folder in server.data.",
)
KINDS: Final = (
    *(PLATFORM_MISSING, PLATFORM_EMPTY, PLATFORM_FOREIGN),
    *(COMPANY_MISSING, COMPANY_REMOVED, COMPANY_EMPTY, COMPANY_FOREIGN, COMPANIES_SWAPPED),
    *(FILE_UNKNOWN, FILE_STRAY, RESTORE_UNFINISHED, UNUSABLE),
)


def swapped_with(companies: Path, company_id: int) -> Owner | None:
    """Return the owner that is stored in this company's file, if this file was swapped with another company's
    file. Otherwise return None.
    """
    here = owner_of(companies / f"{company_id}.db")
    if here is None or here.company_id == company_id:
        return None
    there = owner_of(companies / f"{here.company_id}.db")
    is_mutual = there is not None and there[:2] == (here.installation, company_id)
    return here if is_mutual else None


def findings(at: Situation) -> Found:
    if (at.data / JOURNAL).exists():
        yield RESTORE_UNFINISHED.of(at.data / JOURNAL)
    yield from _platform(at)
    yield from _companies(at)
    for path in sorted(at.folder.companies.glob("*")):
        if not is_own(f"{path.parent.name}/{path.name}"):
            yield FILE_STRAY.of(path)


def findings_before_start(at: Situation) -> Found:
    """Check whether a server can use the folder, or create it."""
    try:
        check_usable(at.folder, at.backups)
    except StorageError as error:
        yield UNUSABLE.of(sentence=error)


def _platform(at: Situation) -> Found:
    path = at.folder.platform_file
    kinds = {"empty": PLATFORM_EMPTY, "foreign": PLATFORM_FOREIGN}
    content = content_of(path, PLATFORM)
    if content == "missing":
        names = [each.name for each in at.files]
        if names:
            yield PLATFORM_MISSING.of(
                path,
                companies=", ".join(first_few(names)),
                command=restoring_platform(at.data, BackupsIn(at.backups)),
            )
    elif content in kinds:
        yield kinds[content].of(path, command=restoring_platform(at.data, BackupsIn(at.backups)))


def _companies(at: Situation) -> Found:
    if at.codes is None:
        return
    kinds: dict[Content, FindingKind] = {
        "missing": COMPANY_MISSING,
        "empty": COMPANY_EMPTY,
        "foreign": COMPANY_FOREIGN,
    }
    for company_id, code in at.codes.items():
        path = at.folder.companies / f"{company_id}.db"
        content, kept = content_of(path, COMPANY), newest_copy(path)
        if content == "missing" and kept is not None:
            backup = newest_with(at.data, at.backups, code)
            yield COMPANY_REMOVED.of(path, code=code, kept=kept, backup=backup)
        elif content in kinds:
            yield kinds[content].of(path, code=code, backup=newest_with(at.data, at.backups, code))
        other = swapped_with(at.folder.companies, company_id)
        if other is not None and company_id < other.company_id:
            other_file = at.folder.companies / f"{other.company_id}.db"
            yield COMPANIES_SWAPPED.of(path, code=code, other=other.code, other_file=other_file)
    for path in sorted(at.folder.companies.glob("*.db")):
        named = at.company_of(path)
        if named is not None and named not in at.codes:
            owner = owner_of(path)
            yield FILE_UNKNOWN.of(path, owner=NOBODY if owner is None else owner.code)
