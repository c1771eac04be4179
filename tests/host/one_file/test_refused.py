"""Tests of the error of a program that could not unpack itself.

The lines are those of PyInstaller 6 and of glibc.
"""

import sys
import tempfile
from pathlib import Path

import pytest

from wmsd.host.one_file.failure_messages import sentence_of
from wmsd.imports.uploads import Upload
from wmsd.installation.child_command import Beside

NO_ROOM = [
    "fwrite: No space left on device",
    "[PYI-82:ERROR] Failed to extract entry: cryptography/hazmat/bindings/_rust.abi3.so.",
]
NOEXEC = ["wmsd: error while loading shared libraries: libz.so.1: failed to map segment from shared object"]
NOWHERE = ["[PYI-7:ERROR] Could not create temporary directory!"]
OTHER = ["[PYI-7:ERROR] Failed to open archive /usr/local/bin/wmsd!"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (NO_ROOM, "but the disk is full"),
        (NOEXEC, "programs cannot run there (noexec)"),
        (NOWHERE, "cannot create that folder"),
        (OTHER, "could not unpack itself"),
    ],
)
def test_it_names_the_folder_and_what_to_set(said: list[str], why: str) -> None:
    sentence = sentence_of(["Data folder: /srv", *said])
    assert sentence is not None
    assert why in sentence
    assert tempfile.gettempdir() in sentence
    assert sentence.endswith(
        "set TMPDIR for the server, for example to /var/lib/wmsd/tmp, and restart the server."
    )


@pytest.mark.parametrize(
    "said", [[], ["wmsd: row 2: No space left on device"], ["wmsd: The file is wrong."], ["Traceback"]]
)
def test_a_program_that_came_further_says_it_itself(said: list[str]) -> None:
    assert sentence_of(said) is None


async def test_work_beside_ends_with_the_sentence() -> None:
    program = f"import sys; sys.stderr.write({NO_ROOM[0]!r} + '\\n' + {NO_ROOM[1]!r}); sys.exit(255)"
    ended = await Beside([sys.executable, "-c", program], print).run()
    assert ended == (255, [sentence_of(NO_ROOM)])
    well = await Beside([sys.executable, "-c", program.replace("255", "0")], print).run()
    assert well == (0, NO_ROOM)


def test_an_upload_says_it_too(tmp_path: Path) -> None:
    upload = Upload("x", tmp_path)
    upload.said_file.write_text("\n".join(NOEXEC))
    assert upload.failure() == sentence_of(NOEXEC)
