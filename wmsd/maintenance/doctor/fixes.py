"""The fixes of `wmsd doctor --fix`. A fix cannot lose data, and can be undone by hand.

Root may run the command in a folder of another user, who can put links there. Therefore the fixes do not follow
symbolic links. They do not change a file with several hard links.
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

REFUSED: Final = "it is not a regular file, or has a second name"


class Fix(NamedTuple):
    """A fix. `says` is a sentence that tells the person what the fix does to the file."""

    says: str
    do: Callable[[Path], None]


def close_to_others(path: Path) -> None:
    """Remove the permissions of other users. From a file, also remove the owner's execute permission. Raise
    OSError if that fails.
    """
    with _opened(path) as opened:
        mode = os.fstat(opened).st_mode
        kept = ~FOR_OTHERS if stat.S_ISDIR(mode) else ~(FOR_OTHERS | stat.S_IXUSR)
        os.fchmod(opened, stat.S_IMODE(mode) & kept)


def give_to_owner(path: Path) -> None:
    """Give the file the owner and the group of its folder. Raise OSError if that fails."""
    owner = path.parent.stat()
    with _opened(path) as opened:
        os.fchown(opened, owner.st_uid, owner.st_gid)


def finish_restore(journal: Path) -> None:
    """Finish an interrupted restore. Raise OSError or StorageError if that fails."""
    file_swap.finish_swap(journal.parent)


MENDS: Final = {
    RESTORE_UNFINISHED.name: Fix("Finish the restore that is recorded in {file}.", finish_restore),
    OPEN_TO_OTHERS.name: Fix("Let only the owner read {file}.", close_to_others),
    FOLDER_OPEN.name: Fix("Let only the owner use {file}.", close_to_others),
    OTHER_OWNER.name: Fix("Give {file} to the owner of its folder.", give_to_owner),
    LEFTOVER.name: Fix("Delete {file}.", delete_leftover),
}
"""The fixes, by the name of the kind of finding."""


def fix_sentence(finding: Finding) -> str | None:
    """Return the sentence that describes how `--fix` fixes a finding, or None if a person has to decide."""
    found = MENDS.get(finding.kind.name)
    return None if found is None or finding.path is None else found.says.format(file=finding.path)


def fix_problem(finding: Finding) -> str | None:
    """Fix the problem of a finding for which `fix_sentence` returns a sentence. Return the reason if that failed,
    otherwise None.
    """
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
