"""The steps of `wmsd service install`. The command first checks everything without changing anything, and then
takes the steps.
"""

import filecmp
import os
import pwd
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.data_folder.file_swap import sync
from wmsd.host.program_file import ProgramFile
from wmsd.host.systemd import commands, unit
from wmsd.host.systemd.checks import check_folder, check_program, check_unit, check_user
from wmsd.host.systemd.commands import ServiceError
from wmsd.host.systemd.paths import CONFIG, NAME, PROGRAM, STATE, UNIT_FILE
from wmsd.host.systemd.settings_file import Values, read_config, settings_from, with_folders
from wmsd.settings.toml_writer import example

NO_LOGIN: Final = "/usr/sbin/nologin"


@dataclass(frozen=True, slots=True)
class Step:
    says: str
    """The sentence that is printed when the step is done."""
    act: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Plan:
    steps: list[Step]
    unit_text: str
    data: Path
    listen: str


def plan(user: str, program: Path, values: Values, offline: bool) -> Plan:
    """Check everything, and return the steps of the installation. Raise ServiceError or SettingsError. Nothing is
    changed.
    """
    commands.check_systemd(offline)
    check_unit()
    check_program(program)
    account = check_user(user)
    before = read_config()
    text = with_folders(CONFIG, example() if before is None else before, values)
    settings = settings_from(CONFIG, text)
    folders = unit.folders(settings)
    for folder in (STATE, *folders):
        check_folder(folder, user, account)
    outside = unit.outside_of_state(folders)
    data = Path(settings.server.data)
    wanted = unit.Unit(unit.BY_COMMAND, PROGRAM, user, data, outside, unit.has_low_port(settings)).text()
    steps = [
        *_for_user(user, account),
        *_for_program(program),
        *_for_config(user, account, before, text),
        *_for_folders(user, outside),
        *_for_unit(wanted),
    ]
    return Plan(steps, wanted, data, settings.server.listen)


def _for_user(name: str, account: pwd.struct_passwd | None) -> Iterator[Step]:
    if account is None:
        options = ("--system", "--user-group", "--no-create-home", "--home-dir", str(STATE), "--shell", NO_LOGIN)
        yield Step(
            f"The user {name} was created, without a login.", lambda: commands.run("useradd", *options, name)
        )


def _for_program(program: Path) -> Iterator[Step]:
    if not PROGRAM.exists():
        yield Step(f"{program} was copied to {PROGRAM}.", lambda: _put(PROGRAM, program.read_bytes(), 0o755))
    elif not filecmp.cmp(program, PROGRAM, shallow=False):
        kept = ProgramFile(PROGRAM).previous
        sentence = f"{program} was copied to {PROGRAM}. The previous program is now {kept}."
        yield Step(sentence, lambda: _replace(program))


def _put(path: Path, content: bytes, mode: int, group: int | None = None) -> None:
    """Write a file that belongs to root, either completely or not at all."""
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        if group is not None:
            os.fchown(file.fileno(), 0, group)
        os.fchmod(file.fileno(), mode)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync(path.parent)


def _replace(program: Path) -> None:
    place = ProgramFile(PROGRAM)
    place.take(program)
    place.put_new()


def _for_config(user: str, account: pwd.struct_passwd | None, before: str | None, text: str) -> Iterator[Step]:
    if before is None:
        yield Step(f"{CONFIG} was written, with every setting.", lambda: _write_config(user, text))
    elif before != text:
        yield Step(f"{CONFIG} was changed as requested.", lambda: _write_config(user, text))
    elif account is None or CONFIG.stat().st_gid != account.pw_gid:
        yield Step(f"{CONFIG} can be read by {user} now.", lambda: _write_config(user, text))


def _write_config(user: str, text: str) -> None:
    """Write the settings file. Only the service and root can read the file, because it may contain the secrets of
    OpenID providers.
    """
    _put(CONFIG, text.encode(), 0o640, _account(user).pw_gid)


def _for_folders(user: str, outside: tuple[Path, ...]) -> Iterator[Step]:
    """Yield the steps that prepare the state folder and the folders `outside` it. The server itself creates the
    folders inside its state folder.
    """
    for folder in (STATE, *outside):
        if not folder.exists():
            yield Step(f"The folder {folder} was created, only for {user}.", partial(_make_folder, user, folder))
        elif folder.stat().st_uid == 0:
            yield Step(f"The folder {folder} was given to {user}.", partial(_give_folder, user, folder))


def _make_folder(user: str, folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True)
    _give_folder(user, folder)


def _give_folder(user: str, folder: Path) -> None:
    account = _account(user)
    os.chown(folder, account.pw_uid, account.pw_gid, follow_symlinks=False)
    folder.chmod(0o700)


def _for_unit(text: str) -> Iterator[Step]:
    is_new = not UNIT_FILE.exists()
    if is_new or UNIT_FILE.read_text(encoding="utf-8") != text:
        yield Step(
            f"{UNIT_FILE} was {'written' if is_new else 'changed'}.", lambda: _put(UNIT_FILE, text.encode(), 0o644)
        )


def _account(user: str) -> pwd.struct_passwd:
    account = commands.user_named(user)
    if account is None:
        raise ServiceError(f"The user {user} no longer exists.")
    return account


def enable() -> str:
    """Make the service start at the next boot, and return a sentence for the user. Raise ServiceError if systemctl
    fails.
    """
    commands.run("systemctl", "enable", NAME)
    return "The service was not started now. It starts at the next boot with systemd."


def activate(has_changed: bool) -> str:
    """Start the service now and at each boot, and return a sentence for the user. If `has_changed` is True, the
    installation has changed something, so a running service is restarted. Raise ServiceError if systemctl fails.
    """
    commands.run("systemctl", "daemon-reload")
    commands.run("systemctl", "enable", NAME)
    try:
        commands.run("systemctl", "restart" if has_changed else "start", NAME)
    except ServiceError:
        raise ServiceError(
            f"The service is installed, but does not start. Its log says why: journalctl -u {NAME} -n 50"
        ) from None
    return "The service runs, and starts at each boot."
