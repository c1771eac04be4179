"""Makes a server of the one-file program independent of its temporary folder."""

import asyncio
import logging
from pathlib import Path

from wmsd.base.plurals import count_of
from wmsd.host import own_program
from wmsd.host.one_file.eager_imports import import_all
from wmsd.host.one_file.leftovers import remove_left

LOG = logging.getLogger("wmsd.serve")


async def settle_temporary_folder() -> None:
    """Make the server independent of its temporary folder, and remove the folders of programs that were killed.

    Do nothing if this is not the one-file program. Only the one-file program unpacks itself.
    """
    folder = own_program.unpacked()
    if folder is not None and own_program.packing_form() == "file":
        await asyncio.to_thread(_settle, folder)


def _settle(folder: Path) -> None:
    try:
        import_all(folder)
        if removed := remove_left(folder.parent):
            folders = count_of(removed, "temporary folder")
            LOG.info("removed %s in %s, left by a wmsd that was killed", folders, folder.parent)
    except OSError as error:
        LOG.warning("the temporary folder %s cannot be read: %s", folder, error.strerror)
