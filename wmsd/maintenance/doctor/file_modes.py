"""Findings about permissions: whether only the owner can use the files, and whether the owner can use them at
all.
"""

import grp
import os
import pwd
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from wmsd.base.machine.private_files import user_name
from wmsd.contract.findings import FindingKind, Found
from wmsd.maintenance.backups.folder import BackupFolder
from wmsd.maintenance.doctor.settings_files import secret_files
from wmsd.maintenance.doctor.situation import Situation

FOR_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
WRITTEN: Final = stat.S_IWGRP | stat.S_IWOTH
ENTERED: Final = stat.S_IXGRP | stat.S_IXOTH
SIDES: Final = ("", "-wal", "-shm")

OPEN_TO_OTHERS: Final = FindingKind(
    "open-to-others",
    "warning",
    "Other users of this machine can read {file}.",
    "Give access only to the owner: chmod 600 {file}",
)
FOLDER_OPEN: Final = FindingKind(
    "folder-open-to-others",
    "warning",
    "Other users of this machine can change {file}: they can remove files and put other files in their place.",
    "Give access only to the owner: chmod 700 {file}",
)
BACKUPS_OPEN: Final = FindingKind(
    "backups-open-to-others",
    "warning",
    "Other users of this machine can change {file}: they can remove backups and put other files in their place.",
    "Allow only the owner to write: chmod go-w {file}. If several users share the folder, chmod +t "
    "{file} prevents them from removing each other's files.",
)
FOLDER_ABOVE_OPEN: Final = FindingKind(
    "folder-above-open-to-others",
    "warning",
    "Other users of this machine can change {file}: they can remove the folder {folder} and put "
    "another folder in its place.",
    "Allow only the owner to write: chmod go-w {file}",
)
SETTINGS_OPEN: Final = FindingKind(
    "settings-open-to-others",
    "warning",
    "Other users of this machine can change the settings in {file}, including the commands that wmsd runs.",
    "Allow only the owner to write: chmod go-w {file}",
)
SECRET_OPEN: Final = FindingKind(
    "secret-open-to-others",
    "warning",
    "Other users of this machine can read {file}, which contains a secret.",
    "If no other service uses the file, give access only to the owner: chmod 600 {file}",
)
OTHER_OWNER: Final = FindingKind(
    "other-owner",
    "wrong",
    "{file} belongs to the user {found}, but its folder belongs to the user {owner}, who cannot use the file.",
    "Make {owner} the owner of the file: chown {owner} {file}",
)
NOT_WRITABLE: Final = FindingKind(
    "not-writable",
    "warning",
    "The user {user} cannot write {file}: this user can examine the data, but cannot run a server with it.",
    "If you examine only a copy of the data, change nothing. Otherwise run wmsd as the user {owner}, or give "
    "the current user permission to write.",
)
KINDS: Final = (
    OPEN_TO_OTHERS,
    FOLDER_OPEN,
    BACKUPS_OPEN,
    FOLDER_ABOVE_OPEN,
    SETTINGS_OPEN,
    SECRET_OPEN,
    OTHER_OWNER,
    NOT_WRITABLE,
)


def findings(at: Situation) -> Found:
    yield from _open(at, _own(at), OPEN_TO_OTHERS)
    yield from _open(at, _folders(at.data), FOLDER_OPEN, WRITTEN)
    yield from _backups(at)
    yield from _open(at, [at.config_file] if at.config_file else [], SETTINGS_OPEN, WRITTEN)
    yield from findings_of_secrets(at)
    yield from _owners(at)
    unwritable = (path for path in (at.data, *at.files) if not os.access(path, os.W_OK))
    for path in islice(unwritable, 1):  # one finding is enough
        yield NOT_WRITABLE.of(path, user=user_name(at.user), owner=user_name(at.owner))
    yield from _above(at)


def findings_of_secrets(at: Situation) -> Found:
    """Find files with secrets that other users may read: the files that the settings name, and the configuration
    file if it contains a client secret.
    """
    paths = [*secret_files(at.settings)]
    if at.config_file is not None and any(each.client_secret for each in at.settings.sign_on.providers):
        paths.append(at.config_file)
    yield from _open(at, paths, SECRET_OPEN)


def _open(
    at: Situation, paths: Iterable[Path], kind: FindingKind, rights: int = FOR_OTHERS, **facts: object
) -> Found:
    """Yield a finding of this `kind` for each path that other users can use.

    These are the paths that other users can reach and that have at least one of the mode bits `rights`. `facts`
    are values for the finding's sentence.
    """
    for path in paths:
        if _mode(path) & rights and _can_be_entered(path.parent) and at.file_system_of(path).has_modes:
            yield kind.of(path, **facts)


def _above(at: Situation) -> Found:
    """Find the folders above the data folder and above the backup folder. Report each of these parent folders that
    other users can change.
    """
    reported: set[Path] = set()
    for folder in (at.data, at.backups):
        for above in folder.resolve().parents if _mode(folder) else ():
            if above not in reported:
                yield from _open(at, [above], FOLDER_ABOVE_OPEN, _rights(above), folder=folder)
            reported.add(above)


def _backups(at: Situation) -> Found:
    """Find the backup folders that other users can change. Leave out backup folders in the data folder, because
    the check of the data folder already covers them.
    """
    folder, known = BackupFolder(at.backups), {each.resolve() for each in _folders(at.data)}
    has = {folder.path: folder.archives(), folder.of_companies().path: folder.of_companies().companies()}
    for path in (path for path, archives in has.items() if archives and path.resolve() not in known):
        yield from _open(at, [path], BACKUPS_OPEN, _rights(path))


def _rights(folder: Path) -> int:
    """Return the mode bits with which other users could remove the owner's files from the folder.

    In a folder with the sticky bit, such as /tmp, users can remove only their own files. Return 0 for such a
    folder.
    """
    if _mode(folder) & stat.S_ISVTX:
        return 0
    return stat.S_IWOTH if _is_of_private_group(folder) else WRITTEN


def _own(at: Situation) -> Iterator[Path]:
    """Yield the existing files with data or keys that wmsd has written."""
    from wmsd.host.tls.lan_certificate import (  # imported here: a status is faster without it
        AUTHORITY_KEY,
        FOLDER,
        SERVED,
    )

    yield from at.files
    yield from (at.data / FOLDER / name for name in (AUTHORITY_KEY, SERVED))
    backups = BackupFolder(at.backups)
    yield from (*backups.archives(), *backups.of_companies().companies())


def _folders(data: Path) -> list[Path]:
    """Return the data folder, and its subfolders to a depth of two."""
    return [data, *(folder for names in ("*/", "*/*/") for folder in sorted(data.glob(names)))]


def _owners(at: Situation) -> Found:
    owner = at.owner
    if not owner:  # root can use all files
        return
    files = [path.with_name(path.name + side) for path in at.files for side in SIDES]
    for path in (at.folder.companies, *files):
        with suppress(OSError):
            if (found := path.lstat().st_uid) != owner:
                yield OTHER_OWNER.of(path, found=user_name(found), owner=user_name(owner))


def _is_of_private_group(path: Path) -> bool:
    """Return True if the owner is the only member of the file's group. Many systems create a private group for
    each user.
    """
    try:
        status = path.stat()
        owner, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except (OSError, KeyError):
        return False
    is_own = (group.gr_gid, group.gr_name) == (owner.pw_gid, owner.pw_name)
    return is_own and not set(group.gr_mem) - {owner.pw_name}


def _mode(path: Path) -> int:
    """Return the mode of the file, or 0 if the file does not exist."""
    try:
        return path.stat().st_mode
    except OSError:
        return 0


def _can_be_entered(folder: Path) -> bool:
    """Return True if other users may enter the folder and every folder above it."""
    place = folder.resolve()
    return all(_mode(each) & ENTERED for each in (place, *place.parents))
