"""What a server does about its temporary folder once it serves: until then it would only be later."""

import asyncio
import logging
import sys
from pathlib import Path

from wmsd.app.unpacked.importing import import_all
from wmsd.app.unpacked.leftovers import remove_left

LOG = logging.getLogger("wmsd.serve")


async def settle() -> None:
    """Makes the server independent of its folder, and removes those of programs that were killed.

    A server that runs from its sources has none.
    """
    unpacked = getattr(sys, "_MEIPASS", None)
    if unpacked is not None:
        await asyncio.to_thread(_settle, Path(unpacked))


def _settle(folder: Path) -> None:
    try:
        import_all(folder)
        if removed := remove_left(folder.parent):
            LOG.info("removed %d temporary folders in %s, of a wmsd that was killed", removed, folder.parent)
    except OSError as error:
        LOG.warning("the temporary folder %s cannot be looked at: %s", folder, error.strerror)
