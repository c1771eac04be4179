"""Executables of other source trees, built as `scripts/build` builds them from this tree."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support.newer_wmsd import ROOT, newer_wmsd

BUILD_SECONDS: Final = 300.0


def built(tree: Path) -> Path:
    """Build a source tree. Return the folder with `wmsd`, the one file, and `wmsd-folder`."""
    for name in ("wmsd.spec", "CHANGELOG.md", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, tree)
    (tree / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "start_executable.py", tree / "scripts")
    environment = {
        **os.environ,
        "PYINSTALLER_ZLIB_COMPRESSION_LEVEL": "0",
        "PYINSTALLER_CONFIG_DIR": str(tree / "cache"),
    }
    command = ["-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR", "wmsd.spec"]
    subprocess.run([sys.executable, *command], cwd=tree, env=environment, check=True, timeout=BUILD_SECONDS)
    return tree / "dist"


@pytest.fixture(scope="session")
def newer_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the build of a newer wmsd, whose migrations add a table to each file.

    All processes of a test run use the same build.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    tree = folder / "newer" / "tree"
    with (folder / "newer.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return tree / "dist" if (tree / "dist").exists() else built(newer_wmsd(tree))
