"""Whether the files that the settings name are there, and can be read by who runs the server."""

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from wmsd.app.diagnosis.finding import REASONS, FindingKind, Found, reason_of
from wmsd.app.diagnosis.situation import Situation
from wmsd.app.private_files import user_name

NAMED: Final = (
    ("server", "key_file"),
    ("server", "certificate"),
    ("server", "certificate_key"),
    ("webhooks", "ca_file"),
    ("sign_on", "ca_file"),
    ("backup", "passphrase_file"),
)

UNREADABLE: Final = FindingKind(
    "file-unreadable",
    "wrong",
    "{file}, which {setting} names, cannot be read: {reason}.",
    "Put the file there, or correct {setting}.",
    words=REASONS,
)
NOT_FOR_OWNER: Final = FindingKind(
    "file-refused",
    "wrong",
    "{file}, which {setting} names, can be read by you, and not by {owner}, the owner of the data.",
    "Give it to the user that runs the server: chown {owner} {file}",
)
KINDS: Final = (UNREADABLE, NOT_FOR_OWNER)


def look(at: Situation) -> Found:
    owner = at.data.stat()
    for setting, path in _named(at):
        try:
            with path.open("rb") as file:
                file.read(1)
        except OSError as error:
            yield UNREADABLE.of(path, setting=setting, reason=reason_of(error))
            continue
        if at.user == 0 and not _may_read(path, owner.st_uid, owner.st_gid):
            yield NOT_FOR_OWNER.of(path, setting=setting, owner=user_name(owner.st_uid))


def _named(at: Situation) -> Iterator[tuple[str, Path]]:
    if at.config_file is not None:
        yield "--config", at.config_file
    for section, key in NAMED:
        if name := getattr(getattr(at.settings, section), key):
            yield f"{section}.{key}", Path(name)


def _may_read(path: Path, user: int, group: int) -> bool:
    """By the bits of the file. Root may read all."""
    status = path.stat()
    if status.st_uid == user or not user:
        return not user or bool(status.st_mode & stat.S_IRUSR)
    bit = stat.S_IRGRP if status.st_gid == group else stat.S_IROTH
    return bool(status.st_mode & bit)
