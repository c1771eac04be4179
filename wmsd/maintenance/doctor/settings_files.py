"""Findings about the files, folders and programs that the settings name. They must exist, and the user who runs
the server must be able to use them.

The checks write nothing, and start no program that a setting names.
"""

import errno
import os
import re
import shutil
import ssl
import stat
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from wmsd.base.machine.private_files import user_name
from wmsd.base.machine.regular_files import check_no_database, check_regular, reason_of
from wmsd.base.machine.secret_files import (
    NO_BASE64,
    NO_CLIENT_SECRET,
    NO_PASSWORD,
    NOT_ONE_WORD,
    PASSWORD_TOO_LONG,
    TOO_LONG,
    read_client_secret,
    read_mail_password,
    read_scrape_token,
    read_signing_secret,
)
from wmsd.contract.findings import REASONS, Finding, FindingKind, Found
from wmsd.contract.secret_fields import SecretFile
from wmsd.data_folder import key_file
from wmsd.db.engine.failures import StorageError
from wmsd.host import own_program
from wmsd.host.tls.certificate_files import has_key
from wmsd.http_client.urls import url_errors
from wmsd.installation.open_installation import new_guard
from wmsd.log.output import REMEDY
from wmsd.maintenance.doctor.situation import Situation
from wmsd.maintenance.keys import passphrases
from wmsd.settings.all_settings import Settings

NO_AUTHORITIES: Final = "{file} has no certificate in PEM format."
SHELL: Final = "/bin/sh"
LOOK_UP: Final = 'command -v "$1"'
LOOK_UP_SECONDS: Final = 5.0
FIRST_WORD: Final = re.compile(r"\s*([\w./+-]+)(?![^\s;&|])", re.ASCII)
"""The first word of a shell command. It matches only a plain program name, without quotes or other special
characters.
"""
IN_FOLDER: Final = os.W_OK | os.X_OK

UNREADABLE: Final = FindingKind(
    "file-unreadable",
    "wrong",
    "{file}, named in {setting}, cannot be read: {reason}.",
    "Put the file there, or correct {setting}.",
    words=REASONS,
)
UNFIT: Final = FindingKind(
    "file-unfit",
    "wrong",
    "{file}, named in {setting}, does not have the required content. {why}",
    "Correct the content of the file, or correct {setting}.",
    words=(
        *(key_file.UNUSABLE, key_file.NO_TEXT, key_file.NO_SECRET, passphrases.NO_TEXT, passphrases.TOO_SHORT),
        *(NOT_ONE_WORD, TOO_LONG, NO_BASE64, NO_AUTHORITIES, NO_CLIENT_SECRET, NO_PASSWORD, PASSWORD_TOO_LONG),
    ),
)
NOT_FOR_OWNER: Final = FindingKind(
    "file-refused",
    "wrong",
    "You can use {file}, named in {setting}, but {owner}, the owner of the data, cannot.",
    "Give the file to the user that runs the server: chown {owner} {file}",
)
UNWRITABLE: Final = FindingKind(
    "file-unwritable",
    "wrong",
    "wmsd cannot write in {file}, named in {setting}: {reason}.",
    REMEDY,
    words=REASONS,
)
NO_PROGRAM: Final = FindingKind(
    "program-missing",
    "wrong",
    "The program {file}, the first word of {setting}, cannot be started: {reason}.",
    "Install the program, allow the user that runs wmsd to execute it, or correct {setting}.",
    words=REASONS,
)
PROGRAM_UNKNOWN: Final = FindingKind(
    "program-unknown",
    "warning",
    "wmsd could not check whether the program {file}, the first word of {setting}, can be started: "
    "the shell was still searching after {seconds} s.",
    "Check whether this machine is overloaded, and whether each folder in PATH responds. Then run wmsd doctor "
    "again.",
)
URL_REFUSED: Final = FindingKind(
    "alerts-refused",
    "wrong",
    "No alert can be sent to the address in alerts.url. {sentence}",
    "Correct alerts.url. If the receiver is in a private network, add that network to alerts.allow_networks.",
)
KINDS: Final = (UNREADABLE, UNFIT, NOT_FOR_OWNER, UNWRITABLE, NO_PROGRAM, PROGRAM_UNKNOWN, URL_REFUSED)


def _authorities_in(path: Path) -> None:
    """Raise ValueError if the file has no certificate authorities."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError:
        raise ValueError(NO_AUTHORITIES.format(file=path)) from None


OF_CERTIFICATE: Final = ("server.certificate", "server.certificate_key")
"""The settings that name the certificate and its key. If these files cannot be read, a finding of the certificate
check already says so.
"""
READ_BY: Final[dict[str, Callable[[Path], object]]] = {
    "server.key_file": key_file.secrets_in,
    **dict.fromkeys(OF_CERTIFICATE, Path.read_bytes),
    "webhooks.ca_file": _authorities_in,
    "sign_on.ca_file": _authorities_in,
    "alerts.ca_file": _authorities_in,
    "backup.passphrase_file": passphrases.read_passphrase,
    "metrics.token_file": read_scrape_token,
    "alerts.secret_file": read_signing_secret,
    "alerts.mail_password_file": read_mail_password,
}
"""The settings that name a file to read, and the functions that read each file. The functions raise OSError,
ValueError or StorageError.
"""


class Need(NamedTuple):
    """A path that the server needs, and the access that the server needs to it. `use` has bits of `os.access`."""

    setting: str
    path: Path
    use: int


def findings(at: Situation) -> Found:
    for need, read in _read(at):
        found = _refused(at, need, UNREADABLE) or _unfit(need, read)
        yield from (each for each in found if each.kind is not UNREADABLE or need.setting not in OF_CERTIFICATE)
    for named, needs in ((at.settings.log.file, _for_log), (at.settings.backup.folder, _for_backups)):
        if named and is_for_server(at) and not _is_beside_no_data(at, Path(named)):
            refused = (_refused(at, need, UNWRITABLE) for need in needs(Path(named)))
            yield from next(filter(None, refused), [])
    for setting, program in _programs(at.settings):
        yield from _not_started(at, setting, program)
    if at.settings.alerts.url:
        for sentence in url_errors(at.settings.alerts.url, new_guard(at.settings, "alerts")):
            yield URL_REFUSED.of(sentence=sentence)


def marked_values(settings: Settings, mark: type) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of all settings that are declared with `mark`. Settings of sign-on providers are
    included.
    """
    for model in (*(section for _, section in settings), *settings.sign_on.providers):
        for key, field in type(model).model_fields.items():
            if mark in field.metadata:
                yield key, getattr(model, key)


def secret_files(settings: Settings) -> Iterator[Path]:
    """Yield the files with secrets that the settings name.

    The file of the certificate's key is included only if it contains a key.
    """
    named = marked_values(settings, SecretFile)
    yield from (Path(each) for key, each in named if each and key != "certificate_key")
    if settings.server.certificate_files is not None:
        with suppress(OSError):  # a missing file reveals nothing
            yield from filter(has_key, settings.server.certificate_files[1:])


def _read(at: Situation) -> Iterator[tuple[Need, Callable[[Path], object]]]:
    if at.config_file is not None and not at.config_file.is_fifo():  # a pipe has already been read to its end
        yield Need("--config", at.config_file, os.R_OK), Path.read_bytes
    for setting, read in READ_BY.items():
        section, _, key = setting.partition(".")
        if name := getattr(getattr(at.settings, section), key):
            yield Need(setting, Path(name), os.R_OK), read
    for place, provider in enumerate(at.settings.sign_on.providers):
        if provider.client_secret_file:
            setting = f"sign_on.providers.{place}.client_secret_file"
            yield Need(setting, Path(provider.client_secret_file), os.R_OK), read_client_secret


def is_for_server(at: Situation) -> bool:
    """Return True if this user is root or the owner of the data, who runs the server. Other users cannot check
    what the server may use.

    Also return True if there is no data folder, or if this user cannot see it.
    """
    owner = _owner(at)
    return owner is None or at.user in (0, owner.st_uid)


def _is_beside_no_data(at: Situation, place: Path) -> bool:
    """Return True if `place` and the data folder are in the same folder, and this folder is missing.

    The check of the data folder already reports the missing folder.
    """
    return place.parent == at.data.parent and not _is_there(place.parent)


def _for_log(file: Path) -> Sequence[Need]:
    """Return the access that the server needs for its log file. The folder must be writable too, because the
    server renames a full log file.
    """
    folder = Need("log.file", file.parent, IN_FOLDER)
    return (folder, Need("log.file", file, os.W_OK)) if _is_there(file) else (folder,)


def _for_backups(folder: Path) -> Sequence[Need]:
    """Return the access that the server needs for backups. The server creates a missing backup folder, so the
    folder above it must be writable.

    The server does not create further folders above, because their disk may not be mounted.
    """
    place = folder if _is_there(folder) else folder.absolute().parent
    return (Need("backup.folder", place, IN_FOLDER),)


def _is_there(path: Path) -> bool:
    """Return True if this user can see the file. Path.exists() fails in a folder that the user may not enter."""
    return os.access(path, os.F_OK)


def _refused(at: Situation, need: Need, kind: FindingKind) -> list[Finding]:
    reason = _why_not(need)
    if reason is not None:
        return [kind.of(need.path, setting=need.setting, reason=reason)]
    owner = _owner(at)
    if at.user == 0 and owner is not None and not _may(need, owner.st_uid, owner.st_gid):
        return [NOT_FOR_OWNER.of(need.path, setting=need.setting, owner=user_name(owner.st_uid))]
    return []


def _why_not(need: Need) -> str | None:
    """Return the reason why this user may not use the path, or None."""
    try:
        mode = need.path.stat().st_mode
        if need.use & os.R_OK:
            check_regular(need.path)
            with need.path.open("rb") as file:
                file.read(1)
        elif need.use == os.W_OK and stat.S_ISREG(mode) and os.access(need.path, os.R_OK):
            check_no_database(need.path)
    except OSError as error:
        return reason_of(error)
    if (need.use == IN_FOLDER) != stat.S_ISDIR(mode):
        return _reason(errno.ENOTDIR if need.use == IN_FOLDER else errno.EISDIR)
    return None if os.access(need.path, need.use) else _reason(errno.EACCES)


def _reason(number: int) -> str:
    return reason_of(OSError(number, os.strerror(number)))


def _owner(at: Situation) -> os.stat_result | None:
    """Return the status of the data folder; the folder's owner runs the server. Return None if there is no data
    folder, or if this user cannot see it.
    """
    try:
        return at.data.stat()
    except OSError:
        return None


def _may(need: Need, user: int, group: int) -> bool:
    """Return True if the file's mode gives this user and group the access in `need`. Root may do everything."""
    if not user:
        return True
    status = need.path.stat()
    shift = 6 if status.st_uid == user else 3 if status.st_gid == group else 0
    return status.st_mode >> shift & need.use == need.use


def _unfit(need: Need, read: Callable[[Path], object]) -> list[Finding]:
    try:
        read(need.path)
    except (ValueError, StorageError) as error:
        return [UNFIT.of(need.path, setting=need.setting, why=error)]
    return []


def _programs(settings: Settings) -> Iterator[tuple[str, str]]:
    if settings.alerts.command:
        yield "alerts.command", settings.alerts.command[0]
    if found := FIRST_WORD.match(settings.backup.after):
        yield "backup.after", found[1]


def _not_started(at: Situation, setting: str, program: str) -> list[Finding]:
    path = program if "/" in program else shutil.which(program)
    if path is None:
        try:
            is_known = setting == "backup.after" and _is_known_to_the_shell(program)
        except subprocess.TimeoutExpired:
            seconds = f"{LOOK_UP_SECONDS:.0f}"
            return [PROGRAM_UNKNOWN.of(Path(program), setting=setting, seconds=seconds)]
        reason = _reason(errno.ENOENT)
        return [] if is_known else [NO_PROGRAM.of(Path(program), setting=setting, reason=reason)]
    return _refused(at, Need(setting, Path(path), os.X_OK), NO_PROGRAM)


def _is_known_to_the_shell(word: str) -> bool:
    """Return True for a word that the shell knows without a file, such as `cd`. Raise TimeoutExpired if the shell
    takes too long.
    """
    asked = subprocess.run(  # noqa: S603  (our own command, and a word of letters)
        [SHELL, "-c", LOOK_UP, SHELL, word],
        env=own_program.environment_of_others(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LOOK_UP_SECONDS,
        check=False,
    )
    return asked.returncode == 0
