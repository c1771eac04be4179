"""Why a program that the server has started beside it could not unpack itself, in a sentence.

PyInstaller's first step says it, and the system's loader, before there is any Python: in words for programmers.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from wmsd.host import own_program

ADVICE: Final = "set TMPDIR for the server, for example to /var/lib/wmsd/tmp, and start it again."
KINDS: Final = (
    (
        "failed to map segment from shared object",
        "wmsd unpacks itself into the temporary folder {folder}, and nothing may be executed there (noexec). "
        "Name a folder where it may: " + ADVICE,
    ),
    (
        "No space left on device",
        "wmsd unpacks itself into the temporary folder {folder}, and the disk there is full. "
        "Make room, or name a folder on another disk: " + ADVICE,
    ),
    (
        "Could not create temporary directory",
        "wmsd unpacks itself into a temporary folder, and cannot make one in {folder}. "
        "Name one that its user may write: " + ADVICE,
    ),
    (
        "[PYI-",
        "wmsd unpacks itself into the temporary folder {folder}, and failed to do so. Look at that folder, or "
        "name another one: " + ADVICE,
    ),
)
"""What they say, and the sentence; the first that is found counts."""


def sentence_of(said: Sequence[str]) -> str | None:
    """`said`: the lines on standard error. None where the program has come further than that."""
    text = "\n".join(said)
    if "[PYI-" not in text and "error while loading shared libraries" not in text:
        return None
    found = next((sentence for words, sentence in KINDS if words in text), None)
    own = own_program.unpacked()  # Python names another folder when the one that it is in is full
    folder = Path(tempfile.gettempdir()) if own is None else own.parent
    return None if found is None else found.format(folder=folder)
