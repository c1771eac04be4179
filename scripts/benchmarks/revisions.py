"""Other revisions of this repository, each in a separate clone, with their servers and commands."""

import filecmp
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.processes import FORKED, HOST, ROOT, WMSD, Failed, Server, free_port, progress, run, server
from benchmarks.size import IS_TINY

MAIN: Final = "from wmsd.interfaces.cli.main import main; main()"
LOCK: Final = "requirements.txt"
RELEASE: Final = "release"
"""The name that stands for the last release."""
PACKAGE: Final = "wmsd/__init__.py"
VERSION: Final = re.compile(r"^## (\d+\.\d+\.\d+) ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Checkout:
    """The sources of one revision, and a Python with the packages that they need. `name` is for the table."""

    name: str
    root: Path
    python: Path

    def environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Return an environment without the user's own settings of wmsd. Scheduled backups are off, because they
        would disturb the measurements.
        """
        kept = {name: value for name, value in os.environ.items() if not name.startswith("WMSD_")}
        return {**kept, "PYTHONPATH": str(self.root), "WMSD_BACKUP_EVERY": "never", **settings}

    def wmsd(self, data: Path, *words: str | Path, stdin: str = "") -> str:
        """Run a command and return its standard output.

        `words` do not contain --data. Raise Failed if the command fails.
        """
        group, *rest = words
        command = [*self._program, group, *rest[:1], "--data", data, *rest[1:]]
        name = f"wmsd {' '.join(map(str, words))} of {self.name}"
        return run(command, data.parent, stdin, self.environment({}), name)

    @property
    def _program(self) -> list[str | Path]:
        return [WMSD] if FORKED and self.root == ROOT else [self.python, "-P", "-c", MAIN]

    def serving(self, data: Path, settings: Mapping[str, str]) -> AbstractContextManager[Server]:
        port = free_port()
        command = [*self._program, "serve", "--data", data, "--listen", f"{HOST}:{port}"]
        return server(command, port, data.parent, self.environment(settings))


def this_tree() -> Checkout:
    return Checkout("this tree", ROOT, Path(sys.executable))


@contextmanager
def checked_out(revision: str, beside: Path) -> Iterator[Checkout]:
    """Yield a clone of the repository at the revision.

    Raise Failed if there is no such revision, or it cannot be set up.
    """
    if revision == RELEASE:
        revision = last_release()
    commit = _git(ROOT, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").strip()
    if not commit:
        raise Failed(f"This repository has no revision {revision}. To list the revisions: git log --oneline")
    root = beside / "clone"
    _git(ROOT, "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(root))
    _git(root, "checkout", "--quiet", "--detach", commit)
    python = _python_of(revision, root)
    if not IS_TINY:  # compiled, like this tree
        subprocess.run([python, "-m", "compileall", "-q", root / "wmsd"], check=True)
    yield Checkout(revision, root, python)


def last_release() -> str:
    """Return the revision of the newest release that is not this tree's version.

    CHANGELOG.md names the releases. A release is compared with the one before it. Raise Failed if there is none.
    """
    named = VERSION.findall((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    own = f'__version__ = "{named[0]}"' if named else ""
    if named and own in (ROOT / PACKAGE).read_text(encoding="utf-8"):
        named = named[1:]
    if not named:
        raise Failed("This repository has no release yet.")
    version = f'-S__version__ = "{named[0]}"'
    commits = _git(ROOT, "log", "--reverse", "--format=%h", version, "--", PACKAGE).split()
    if not commits:
        raise Failed(f"No revision of this repository has the version {named[0]} that CHANGELOG.md names.")
    return commits[0]


def _python_of(revision: str, root: Path) -> Path:
    """Return the clone's Python, or this tree's Python if both need the same packages."""
    if not (root / LOCK).exists():
        raise Failed(f"{revision} has no {LOCK}: the revision is too old for the present setup of wmsd.")
    if filecmp.cmp(root / LOCK, ROOT / LOCK, shallow=False):
        return Path(sys.executable)
    progress(f"setting up {revision}, which needs different packages")
    done = subprocess.run([root / "scripts" / "setup"], cwd=root, text=True, capture_output=True)
    if done.returncode:
        raise Failed(f"{revision} cannot be set up:\n{done.stderr[-2000:]}")
    return root / ".venv" / "bin" / "python"


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, text=True, capture_output=True)
    if done.returncode and words[0] != "rev-parse":
        raise Failed(f"git {words[0]} failed:\n{done.stderr[-1000:]}")
    return done.stdout
