"""The suite in two processes: `python -m tests.support.sharing [pytest's own arguments]`.

Each process takes the next module that nobody has taken. Modules marked `long` come first, so that neither process
waits for the other's last one. Tests marked `alone` come at the end, one process at a time.
"""

import fcntl
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import pytest

OPTION = "--shared"


def main() -> int:
    """Shows what one process says at once, and what the other has said after that."""
    with TemporaryDirectory() as folder, TemporaryFile() as said:
        command = [sys.executable, "-m", "pytest", "-p", "tests.support.sharing", OPTION, folder, *sys.argv[1:]]
        shown = subprocess.Popen(command)
        other = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends both of them, which is what is waited for
        statuses = {shown.wait(), other.wait()}
        said.seek(0)
        sys.stdout.buffer.write(said.read())
    return int(statuses != {0})


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, type=Path, help="the folder where processes note what they have taken")


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Pytest's own loop, over the tests that this process takes."""
    if session.testsfailed or session.config.option.collectonly:
        return None
    folder: Path = session.config.getoption(OPTION)
    taken = _taken(session.items, folder)
    item = next(taken, None)
    with (folder / "machine").open("w") as machine:
        while item:
            following = next(taken, None)
            fcntl.flock(machine, fcntl.LOCK_EX if _is_alone(item) else fcntl.LOCK_SH)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
            if session.shouldstop:
                raise session.Interrupted(session.shouldstop)
            item = following
    return True


def _taken(items: list[pytest.Item], folder: Path) -> Iterator[pytest.Item]:
    """The tests of one module after the other. A module is taken when its first test is asked for."""
    long = {item.path for item in items if item.get_closest_marker("long")}
    modules: dict[tuple[bool, bool, Path], list[pytest.Item]] = defaultdict(list)
    for item in items:
        modules[_is_alone(item), item.path not in long, item.path].append(item)
    for module in sorted(modules):
        note = folder / sha256(repr(module).encode()).hexdigest()
        try:
            note.touch(exist_ok=False)
        except FileExistsError:
            continue
        yield from modules[module]


def _is_alone(item: pytest.Item) -> bool:
    return item.get_closest_marker("alone") is not None


if __name__ == "__main__":
    sys.exit(main())
