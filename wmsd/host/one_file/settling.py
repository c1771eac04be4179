"""What a server does about its temporary folder once it serves: until then it would only be later."""

import asyncio
import logging
from pathlib import Path

from wmsd.base.plurals import counted
from wmsd.host import own_program
from wmsd.host.one_file.eager_imports import import_all
from wmsd.host.one_file.leftovers import remove_left

LOG = logging.getLogger("wmsd.serve")


async def settle() -> None:
    """Makes the server independent of its folder, and removes those of programs that were killed.

    Only the one-file program has such a folder.
    """
    folder = own_program.unpacked()
    if folder is not None and own_program.packing() == "file":
        await asyncio.to_thread(_settle, folder)


def _settle(folder: Path) -> None:
    try:
        import_all(folder)
        if removed := remove_left(folder.parent):
            folders = counted(removed, "temporary folder")
            LOG.info("removed %s in %s, of a wmsd that was killed", folders, folder.parent)
    except OSError as error:
        LOG.warning("the temporary folder %s cannot be looked at: %s", folder, error.strerror)
