"""The place of a data folder that is to be filled, such as by a restore."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from wmsd.data_folder.folder import LOCKS, DataFolder


@contextmanager
def new_place(folder: DataFolder) -> Iterator[None]:
    """Makes the folder where it is not there yet, and has it alone. What fails before there are data takes away
    again what was made for it. Raises StorageError.
    """
    path = folder.path.resolve()
    files = [each for each in (path / name for name in LOCKS) if not each.exists()]
    folders = [each for each in (path / "companies", path, *path.parents) if not each.exists()]
    try:
        folder.make_place()
        folder.lock("no address")
        yield
    except BaseException:
        if not folder.is_made:
            for file in files:
                file.unlink(missing_ok=True)
            for each in folders:
                with suppress(OSError):  # it holds something that is not ours
                    each.rmdir()
        raise
    finally:
        folder.unlock()
