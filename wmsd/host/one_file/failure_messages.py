"""Explains to users why a program that the server has started could not unpack itself.

The original messages come from PyInstaller and from the system's loader, before Python runs. They are written for
programmers.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from wmsd.host import own_program

ADVICE: Final = "set TMPDIR for the server, for example to /var/lib/wmsd/tmp, and restart the server."
KINDS: Final = (
    (
        "failed to map segment from shared object",
        "wmsd unpacks itself into the temporary folder {folder}, but programs cannot run there "
        "(noexec). Name another folder: " + ADVICE,
    ),
    (
        "No space left on device",
        "wmsd unpacks itself into the temporary folder {folder}, but the disk is full. Free some space, "
        "or name a folder on another disk: " + ADVICE,
    ),
    (
        "Could not create temporary directory",
        "wmsd unpacks itself into a temporary folder, but cannot create that folder in {folder}. Name a "
        "folder in which the user of wmsd may write: " + ADVICE,
    ),
    (
        "[PYI-",
        "wmsd could not unpack itself into the temporary folder {folder}. Check that folder, or name "
        "another folder: " + ADVICE,
    ),
)
"""Pairs of two texts: a text that occurs in an original message, and the sentence for users. The first pair that
matches is used.
"""


def sentence_of(said: Sequence[str]) -> str | None:
    """Return a sentence for users, or None if the program could unpack itself. `said` has the program's lines on
    standard error.
    """
    text = "\n".join(said)
    if "[PYI-" not in text and "error while loading shared libraries" not in text:
        return None
    found = next((sentence for words, sentence in KINDS if words in text), None)
    own = own_program.unpacked()  # Python returns another temporary folder if this one is full
    folder = Path(tempfile.gettempdir()) if own is None else own.parent
    return None if found is None else found.format(folder=folder)
