"""Tests of disk thresholds: when wmsd warns of a disk, when it refuses writes, and that each crossing is logged
once.
"""

from pathlib import Path

import pytest

from tests.support.log_lines import keeping
from wmsd.base.machine.disk import MEBIBYTE, Disk, Level
from wmsd.data_folder.folder import DataFolder
from wmsd.server.alerts.disk_watch import DiskWatch

GIB = 1024 * MEBIBYTE


@pytest.mark.parametrize(
    ("size", "refused", "warned"),
    [
        (100 * MEBIBYTE, 32 * MEBIBYTE, 64 * MEBIBYTE),
        (4096 * GIB, 64 * MEBIBYTE, 10 * GIB),
        (50 * GIB, 64 * MEBIBYTE, 5 * GIB),
    ],
)
def test_the_thresholds_follow_the_size_between_bounds(size: int, refused: int, warned: int) -> None:
    disk = Disk(size, size)
    assert (disk.refused_below, disk.warned_below) == (refused, warned)
    assert disk._replace(free=warned).level is Level.GOOD
    assert disk._replace(free=warned - 1).level is Level.WARNED
    assert disk._replace(free=refused - 1).level is Level.REFUSED


def test_each_crossing_is_logged_once_and_the_way_back_too(tmp_path: Path) -> None:
    watch, size = DiskWatch(DataFolder(tmp_path)), 50 * GIB
    with keeping() as log:
        for free in (size, 4 * GIB, 3 * GIB, MEBIBYTE, 0, 4 * GIB, 5 * GIB + 1, size, size):
            watch.note(Disk(free, size))
    told = [record.levelname for record in log.records]
    assert told == ["WARNING", "ERROR", "WARNING", "INFO"]
