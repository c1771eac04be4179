"""The command's part of a switch to another program. The server restarts with the new program. If that fails, it
restarts with the previous program.

Until the new server accepts requests, the server itself decides whether to go back (`first_start.py`). The command
only watches, and acts if the new program does not even start.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from wmsd.base.machine.private_files import new_private
from wmsd.base.machine.regular_files import reason_of
from wmsd.data_folder.folder import DataFolder, Serving
from wmsd.data_folder.lending import Loan
from wmsd.db.engine.failures import StorageError
from wmsd.host.program_file import ProgramFile
from wmsd.maintenance.upgrades.journal import Upgrade, read_upgrade, write_upgrade

START_AGAIN: Final = "start_again"
"""The request that tells a server to end, and then to run its program file again."""
LOG_FILE: Final = "upgrade-{version}.log"
SHELL: Final = "/bin/sh"
GRACE_SECONDS: Final = 15.0
"""How many seconds a supervisor, such as systemd, has to restart a server that has ended."""
STOP_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 0.2


class HowStarted(NamedTuple):
    """How the server was started. A later start uses the same values."""

    arguments: list[str]
    """The command line. The first argument is the path of the program."""
    folder: str
    environment: dict[str, str]
    owner: int
    user: dict[str, Any]
    """The user of the server's process, as arguments of `subprocess`. Empty if the user is the current one."""


def how_started(pid: int) -> HowStarted:
    """Read how the server was started. Raise StorageError if that fails."""
    process = Path("/proc") / str(pid)
    try:
        arguments = os.fsdecode((process / "cmdline").read_bytes()).split("\0")[:-1]
        pairs = os.fsdecode((process / "environ").read_bytes()).split("\0")
        environment = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        folder = str((process / "cwd").readlink())
        if not Path(arguments[0]).is_absolute():
            arguments[0] = str((process / "exe").readlink())
        owner = process.stat()
    except OSError as error:
        reason = reason_of(error)
        raise StorageError(
            f"The command line of the server (process {pid}) cannot be read: {reason}. Run this command as "
            "the user of the server, or as root."
        ) from None
    is_ours = owner.st_uid == os.geteuid()
    return HowStarted(
        arguments,
        folder,
        {**environment, "PYINSTALLER_RESET_ENVIRONMENT": "1"},
        owner.st_uid,
        {} if is_ours else {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []},
    )


class ChangeOver:
    """The switch to another program. The new server must accept requests within `seconds`."""

    def __init__(
        self, data: DataFolder, program: ProgramFile, upgrade: Upgrade, server: Serving, seconds: float
    ) -> None:
        self._data = data
        self._program = program
        self._upgrade = upgrade
        self._seconds = seconds
        self._started = how_started(server.pid)
        self.was_started_here = False

    def begin(self, loan: Loan) -> None:
        """Put the new program in place, and ask the server to restart.

        Raise StorageError or OSError if that fails. After an error, the previous program is in place.
        """
        write_upgrade(self._data.path, self._upgrade)
        try:
            self._program.put_new()
        except StorageError as error:  # `previous` may still be the program before an earlier upgrade
            self._end("went back", str(error))
            raise
        try:
            self._program.sync()
            loan.ask(START_AGAIN)
        except (StorageError, OSError) as error:
            self._program.put_back()
            self._end("went back", str(error))
            raise

    def finish(self, look: Callable[[Serving], str | None]) -> Serving:
        """Wait until the new server accepts requests, and return it.

        The caller must first close its connection to the old server: the new server waits until no command uses
        lent files. `look` returns why a server is not healthy, or None. If the new program does not work, put the
        previous program back, and raise StorageError. Raise OSError if a file cannot be written.
        """
        serving = self._await_server(self._upgrade.to_version, self._seconds)
        reason = None if serving is None else look(serving)
        if serving is not None and reason is None:
            return serving
        if self._found().outcome != "went back":
            self._go_back(
                reason
                or self._found().reason
                or f"The server did not accept requests within {self._seconds:.0f} s."
            )
        back = self._await_server(self._upgrade.from_version, GRACE_SECONDS + self._seconds)
        reason = self._found().reason
        if back is None:
            raise StorageError(
                f"wmsd {self._upgrade.to_version} does not work: {reason} wmsd {self._upgrade.from_version} "
                "was put back, but does not work either. Start the server, and read its log."
            )
        raise StorageError(
            f"wmsd {self._upgrade.to_version} does not work: {reason} wmsd {self._upgrade.from_version} is "
            "running again, with the files from before the upgrade."
        )

    def _await_server(self, version: str, seconds: float) -> Serving | None:
        """Wait until a server of this version accepts requests, and return it. Return None if the switch was
        reverted, or after `seconds`.

        If the server has ended and no supervisor restarts it, start it once.
        """
        until = time.monotonic() + seconds
        gone_since: float | None = None
        while time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
            found, server = self._found(), self._data.server()
            is_decided = found.outcome != "under way"
            if server is not None and server.version == version and server.is_ready and is_decided:
                return server
            if version == self._upgrade.to_version and found.outcome == "went back":
                return None
            if server is not None:
                gone_since = None
                continue
            gone_since = gone_since or time.monotonic()
            if time.monotonic() - gone_since < GRACE_SECONDS:
                continue
            if self.was_started_here and version == self._upgrade.to_version:
                return None
            self._start(version)
            gone_since = None
        return None

    def _start(self, version: str) -> None:
        """Start the server with its previous command line and user. The output goes to a file, because the
        original terminal may be gone.
        """
        self.was_started_here = True
        path = self._data.path / LOG_FILE.format(version=version)
        path.unlink(missing_ok=True)
        with new_private(path) as log:
            subprocess.run(  # noqa: S603  (the same command as before)
                [SHELL, "-c", 'cd "$0" && "$@" &', self._started.folder, *self._started.arguments],
                env=self._started.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                check=False,
                **self._started.user,
            )

    def _go_back(self, reason: str) -> None:
        """Stop the new server if it runs, and put the previous program back. The previous program puts the files
        back when it starts.
        """
        for sign in (signal.SIGTERM, signal.SIGKILL):
            self._end_server(sign)
        self._end("under way", reason)
        self._program.put_back()

    def _end_server(self, sign: signal.Signals) -> None:
        server = self._data.server()
        if server is None:
            return
        with suppress(ProcessLookupError, FileNotFoundError):
            if (
                Path("/proc") / str(server.pid)
            ).stat().st_uid == self._started.owner:  # the process id in a file alone is no proof
                os.kill(server.pid, sign)
        until = time.monotonic() + STOP_SECONDS
        while self._data.server() is not None and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)

    def _end(self, outcome: str, reason: str = "") -> None:
        update = {"outcome": outcome, "reason": reason}
        write_upgrade(self._data.path, self._upgrade.model_copy(update=update))

    def _found(self) -> Upgrade:
        return read_upgrade(self._data.path) or self._upgrade
