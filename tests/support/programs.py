"""What tests run beside Python: `scripts/programs` installs it. In continuous integration it must be there."""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest


def program(name: str) -> str:
    """Where it is."""
    return shutil.which(name) or _missing(name)


def library(name: str) -> Path:
    """Of the system, wherever its architecture has it."""
    return next(Path("/usr/lib").glob(f"*/{name}"), None) or _missing(name)


def packages(folder: Path) -> Path:
    """Of node, as they are laid down for what is in the folder."""
    found = folder / "node_modules"
    return found if found.is_dir() else _missing(f"{found.parent.name}/{found.name}")


def _missing(what: str) -> NoReturn:
    sentence = f"there is no {what}: scripts/programs installs it"
    if os.environ.get("CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)
