"""The journal of systemd. It has the log of the service if the settings name no log file."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Final

from wmsd.host import own_program
from wmsd.host.systemd import commands
from wmsd.host.systemd.paths import NAME, UNIT_FILE, UNITS_OF_PACKAGES

PROGRAM: Final = "journalctl"
ENDS_SECONDS: Final = 5.0


def is_there() -> bool:
    """Return True if wmsd is a systemd service on this machine, and the program journalctl is installed."""
    has_unit = any(path.exists() for path in (UNIT_FILE, *UNITS_OF_PACKAGES))
    return has_unit and commands.systemd_runs() and shutil.which(PROGRAM) is not None


def command(since: datetime | None, most_lines: int | None, is_following: bool) -> list[str]:
    found = [PROGRAM, f"--unit={NAME}", "--output=cat", "--no-pager", "--quiet"]
    found += [] if since is None else [f"--since=@{int(since.timestamp())}"]
    found += [] if most_lines is None else [f"--lines={most_lines}"]
    return [*found, "--follow"] if is_following else found


def lines(asked: list[str]) -> Iterator[str]:
    """Run `asked`, a command line, and yield the lines that it prints. Raise OSError if the command cannot be
    started.
    """
    env = own_program.environment_of_others()
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env) as process:  # noqa: S603  (the command is wmsd's own)
        assert process.stdout is not None
        try:
            for line in process.stdout:
                yield line.decode("utf-8", "replace").rstrip("\r\n")
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(ENDS_SECONDS)
