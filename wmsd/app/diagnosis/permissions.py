"""Whether the files are their owner's alone, and the owner can use them."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from wmsd.app.backups.backup_folder import BackupFolder
from wmsd.app.diagnosis.finding import FindingKind, Found
from wmsd.app.diagnosis.named_files import secret_files
from wmsd.app.diagnosis.situation import Situation
from wmsd.app.private_files import user_name

FOR_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
WRITTEN: Final = stat.S_IWGRP | stat.S_IWOTH
ENTERED: Final = stat.S_IXGRP | stat.S_IXOTH
SIDES: Final = ("", "-wal", "-shm")

OPEN_TO_OTHERS: Final = FindingKind(
    "open-to-others",
    "warning",
    "Other users of this machine may read {file}.",
    "Let only its owner: chmod 600 {file}",
)
FOLDER_OPEN: Final = FindingKind(
    "folder-open-to-others",
    "warning",
    "Other users of this machine may change what is in {file}: they can take files away and put others in their "
    "place.",
    "Let only its owner: chmod 700 {file}",
)
SETTINGS_OPEN: Final = FindingKind(
    "settings-open-to-others",
    "warning",
    "Other users of this machine may change the settings in {file}, and with them which commands wmsd runs.",
    "Let only its owner write it: chmod go-w {file}",
)
SECRET_OPEN: Final = FindingKind(
    "secret-open-to-others",
    "warning",
    "Other users of this machine may read {file}, which holds a secret.",
    "Let only its owner, unless another service shares it: chmod 600 {file}",
)
OTHER_OWNER: Final = FindingKind(
    "other-owner",
    "wrong",
    "{file} belongs to {found}, and its folder to {owner}, who cannot use it.",
    "Make {owner} its owner: chown {owner} {file}",
)
NOT_WRITABLE: Final = FindingKind(
    "not-writable",
    "warning",
    "The user {user} cannot write {file}: this user can examine the data, and cannot serve it.",
    "For a copy that is good. Otherwise use the user {owner}, or give this user the permission.",
)
KINDS: Final = (OPEN_TO_OTHERS, FOLDER_OPEN, SETTINGS_OPEN, SECRET_OPEN, OTHER_OWNER, NOT_WRITABLE)


def look(at: Situation) -> Found:
    yield from _open(_own(at), OPEN_TO_OTHERS)
    yield from _open(_folders(at.data), FOLDER_OPEN, WRITTEN)
    yield from _open([at.config_file] if at.config_file else [], SETTINGS_OPEN, WRITTEN)
    yield from look_at_secrets(at)
    yield from _owners(at)
    for path in (at.data, *at.files):
        if not os.access(path, os.W_OK):
            yield NOT_WRITABLE.of(path, user=user_name(at.user), owner=user_name(at.owner))
            return  # one says it


def look_at_secrets(at: Situation) -> Found:
    """The files with secrets that the settings name."""
    yield from _open(_secrets(at), SECRET_OPEN)


def _open(paths: Iterable[Path], kind: FindingKind, rights: int = FOR_OTHERS) -> Found:
    """Those on which others have one of the rights, and to which they come."""
    for path in paths:
        if _mode(path) & rights and _can_be_entered(path.parent):
            yield kind.of(path)


def _own(at: Situation) -> Iterator[Path]:
    """The files with data or keys that wmsd has made, as far as they are there."""
    yield from at.files
    yield from _of_lan(at.data)
    yield from BackupFolder(at.backups).archives()


def _folders(data: Path) -> Iterator[Path]:
    """The data folder and those in it. Who may read their names cannot read the files."""
    yield data
    for inside in ("*/", "*/*/"):
        yield from sorted(data.glob(inside))


def _secrets(at: Situation) -> Iterator[Path]:
    yield from secret_files(at.settings)
    if at.config_file is not None and any(each.client_secret for each in at.settings.sign_on.providers):
        yield at.config_file


def _of_lan(data: Path) -> Iterator[Path]:
    from wmsd.app.tls.lan import AUTHORITY_KEY, FOLDER, SERVED  # imported here: a status is faster without it

    yield from (data / FOLDER / name for name in (AUTHORITY_KEY, SERVED))


def _owners(at: Situation) -> Found:
    owner = at.owner
    if not owner:  # root can use them all
        return
    files = [path.with_name(path.name + side) for path in at.files for side in SIDES]
    for path in (at.folder.companies, *files):
        found = _user(path)
        if found is not None and found != owner:
            yield OTHER_OWNER.of(path, found=user_name(found), owner=user_name(owner))


def _mode(path: Path) -> int:
    """0 where there is no such file."""
    try:
        return path.stat().st_mode
    except OSError:
        return 0


def _user(path: Path) -> int | None:
    try:
        return path.lstat().st_uid
    except OSError:
        return None


def _can_be_entered(folder: Path) -> bool:
    """Whether others can come to what is in a folder: it and each one above it lets them in."""
    place = folder.resolve()
    return all(_mode(each) & ENTERED for each in (place, *place.parents))
