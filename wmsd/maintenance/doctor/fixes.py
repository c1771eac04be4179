"""What `wmsd doctor --fix` mends by itself: only what cannot lose data, and can be taken back by hand.

Root may use it in a folder of another user, who could have put links there. So nothing is followed, and a file
with a second name is left alone.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from wmsd.base.machine.descriptors import open_descriptor
from wmsd.base.machine.regular_files import reason_of
from wmsd.base.machine.scratch_folders import AS_IT_IS
from wmsd.contract.findings import Finding
from wmsd.data_folder import file_swap
from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.doctor.file_modes import FOLDER_OPEN, FOR_OTHERS, OPEN_TO_OTHERS, OTHER_OWNER
from wmsd.maintenance.doctor.folder_files import RESTORE_UNFINISHED
from wmsd.maintenance.doctor.leftovers import LEFTOVER, delete_leftover

REFUSED: Final = "it is no plain file, or has a second name"


class Mend(NamedTuple):
    """`says` is the sentence of what is done to a file."""

    says: str
    do: Callable[[Path], None]


def close_to_others(path: Path) -> None:
    """Nobody executes a file of data, not even its owner. Raises OSError."""
    with _opened(path) as opened:
        mode = os.fstat(opened).st_mode
        kept = ~FOR_OTHERS if stat.S_ISDIR(mode) else ~(FOR_OTHERS | stat.S_IXUSR)
        os.fchmod(opened, stat.S_IMODE(mode) & kept)


def give_to_owner(path: Path) -> None:
    """Gives it to the owner of its folder. Raises OSError."""
    owner = path.parent.stat()
    with _opened(path) as opened:
        os.fchown(opened, owner.st_uid, owner.st_gid)


def finish_restore(journal: Path) -> None:
    """Raises OSError and StorageError."""
    file_swap.finish_swap(journal.parent)


MENDS: Final = {
    RESTORE_UNFINISHED.name: Mend("Finish the restore that {file} tells of.", finish_restore),
    OPEN_TO_OTHERS.name: Mend("Let only the owner read {file}.", close_to_others),
    FOLDER_OPEN.name: Mend("Let only the owner use {file}.", close_to_others),
    OTHER_OWNER.name: Mend("Give {file} to the owner of its folder.", give_to_owner),
    LEFTOVER.name: Mend("Delete {file}.", delete_leftover),
}
"""By the name of the kind of finding."""


def mend_of(finding: Finding) -> str | None:
    """What `--fix` does about a finding, as a sentence; None where a person has to decide."""
    found = MENDS.get(finding.kind.name)
    return None if found is None or finding.path is None else found.says.format(file=finding.path)


def mend(finding: Finding) -> str | None:
    """Mends it. Returns why it did not work, or None."""
    assert finding.path is not None
    try:
        MENDS[finding.kind.name].do(finding.path)
    except OSError as error:
        return reason_of(error)
    except StorageError as error:
        return str(error)
    return None


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    with open_descriptor(path, AS_IT_IS) as opened:
        status = os.fstat(opened)
        is_plain = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
        if not is_plain and not stat.S_ISDIR(status.st_mode):
            raise OSError(REFUSED)
        yield opened
