"""Programs that tests need in addition to Python.

`scripts/programs` installs them. In continuous integration they must exist.
"""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest


def program(name: str) -> str:
    """Return the path of a program."""
    return shutil.which(name) or _missing(name)


def library(name: str) -> Path:
    """Return the path of a system library, in whichever folder its architecture uses."""
    return next(Path("/usr/lib").glob(f"*/{name}"), None) or _missing(name)


def packages(folder: Path) -> Path:
    """Return the installed Node packages of a folder."""
    found = folder / "node_modules"
    return found if found.is_dir() else _missing(f"{found.parent.name}/{found.name}")


def _missing(what: str) -> NoReturn:
    sentence = f"there is no {what}: scripts/programs installs it"
    if os.environ.get("CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)
