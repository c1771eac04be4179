"""Tests of a power cut: once an installation exists, its folders survive."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.command import PROGRAM, Home
from tests.support.programs import program

WATCHED = "trace=mkdir,mkdirat,fsync,rename,renameat,renameat2"
MADE = re.compile(r'mkdir\w*\(.*?"([^"]+)".* = 0$')
SYNCED = re.compile(r"fsync\(\d+<([^>]+)>\) += 0$")
IN_PLACE = re.compile(r'rename\w*\(.*"([^"]+/platform\.db)".* = 0$')


@pytest.mark.parametrize("data", ["data", "far/away/data"])
@pytest.mark.parametrize("is_there", [False, True])
def test_each_folder_is_on_the_disk_before_the_platform_is_there(home: Home, data: str, is_there: bool) -> None:
    """Each folder is synced before the platform's file exists, also after a start that was interrupted.

    The test checks the system calls.
    """
    if is_there:
        (home.folder / data).mkdir(parents=True)
    trace = home.folder / "trace"
    watching = [program("strace"), "-f", "-y", "-qq", "-e", WATCHED, "-o", str(trace)]
    making = ["company", "create", "ACME", "--name", "Acme", "--init", "--data", data]
    subprocess.run(
        [*watching, *PROGRAM, *making], cwd=home.folder, env=home.clean(), check=True, capture_output=True
    )

    folder = home.folder / data
    needed, synced = {folder.parent, folder}, set()
    for line in trace.read_text().splitlines():
        if made := MADE.search(line):
            parent = (home.folder / made[1]).parent
            if parent.is_relative_to(home.folder):
                needed.add(parent)
                synced.discard(parent)
        elif found := SYNCED.search(line):
            synced.add(Path(found[1]))
        elif IN_PLACE.search(line):
            break
    else:
        raise AssertionError("platform.db was not put in its place")
    assert needed <= synced
