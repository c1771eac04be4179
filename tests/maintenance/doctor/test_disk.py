"""Disks that are full, slow, remote, in memory or read-only."""

import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.maintenance.doctor.scene import GOOD_DISK, names, situation, told
from wmsd.maintenance.doctor import disk
from wmsd.maintenance.doctor.disk import findings_of_speed, sync_seconds
from wmsd.maintenance.doctor.file_systems import file_system_of, type_of

MOUNTS = """\
22 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:26 / /srv rw,relatime shared:2 - nfs4 box:/srv rw
31 30 253:1 / /srv/local rw,relatime - xfs /dev/vdb rw
32 22 0:30 / /mnt/with\\040blank rw - cifs //box/share rw
33 22 0:31 / /both rw - ext4 /dev/vdc rw
34 22 0:32 / /both rw - tmpfs tmpfs rw
not a line
35 22 0:33 / /half
"""


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("/home", "ext4"),
        ("/srv", "nfs4"),
        ("/srv/data/deep", "nfs4"),
        ("/srv/local/data", "xfs"),
        ("/srvother", "ext4"),
        ("/mnt/with blank/data", "cifs"),
        ("/both", "tmpfs"),
    ],
)
def test_the_type_is_that_of_the_nearest_mount(place: str, expected: str) -> None:
    assert type_of(Path(place), MOUNTS) == expected


def test_the_type_is_unknown_where_the_system_does_not_tell() -> None:
    assert type_of(Path("/srv"), "") == "unknown"


@pytest.mark.parametrize(
    ("type_name", "expected"),
    [
        *((each, ["disk-on-network", "temporary-on-network"]) for each in ("nfs", "nfs4", "cifs", "smb3", "9p")),
        *((each, ["disk-on-network", "temporary-on-network"]) for each in ("fuse.sshfs", "fuse.s3fs", "ceph")),
        *((each, ["disk-in-memory"]) for each in ("tmpfs", "ramfs")),
        ("overlay", ["disk-in-container"]),
        *((each, []) for each in ("ext4", "xfs", "btrfs", "zfs", "fuseblk", "unknown")),
    ],
)
def test_file_systems(data: Path, type_name: str, expected: list[str]) -> None:
    at = situation(data, file_system_of=lambda _: GOOD_DISK._replace(type=type_name))
    assert names(disk.findings(at)) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"free": 10_000_000}, ["disk-full", "backup-disk-low", "temporary-low"]),
        ({"free": 64 * 1024 * 1024}, ["disk-low"]),
        ({"free_files": 5}, ["disk-out-of-files"]),
        ({"free_files": None}, []),
        ({"is_read_only": True}, ["disk-read-only"]),
        ({"refuses_programs": True}, ["temporary-noexec"]),
    ],
)
def test_room_and_mounts(data: Path, changes: dict[str, Any], expected: list[str]) -> None:
    at = situation(data, file_system_of=lambda _: GOOD_DISK._replace(**changes), is_packed=True)
    assert names(disk.findings(at)) == expected


def test_a_program_that_does_not_unpack_itself_needs_no_programs_there(data: Path) -> None:
    at = situation(data, file_system_of=lambda _: GOOD_DISK._replace(refuses_programs=True))
    assert names(disk.findings(at)) == []


def test_a_temporary_folder_that_is_not_there(data: Path) -> None:
    at = replace(situation(data), temporary=data / "none")
    assert told(disk.findings(at), "temporary-unusable").endswith(": no such file or directory.")


def test_a_slow_disk(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = situation(data)
    moments = iter(range(0, 1000, 1))
    monkeypatch.setattr("time.perf_counter", lambda: next(moments) * 0.08)
    assert told(findings_of_speed(at), "disk-slow") == (
        f"The disk of {data} is slow: it takes 80 ms to confirm a write."
    )


def test_speed_is_measured_without_a_trace_and_not_where_nothing_may_be_written(data: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in [data, *data.rglob("*")]}
    assert sync_seconds(data) is not None
    assert {path: path.stat().st_mtime_ns for path in [data, *data.rglob("*")]} == before
    data.chmod(0o555)
    assert sync_seconds(data) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_a_real_mount_is_seen_as_it_is() -> None:
    with tempfile.TemporaryDirectory() as folder:
        options = ["-t", "tmpfs", "-o", "noexec,ro,size=1m", "tmpfs", folder]
        if subprocess.run(["mount", *options], capture_output=True).returncode:
            pytest.skip("nothing may be mounted here")
        try:
            found = file_system_of(Path(folder) / "not" / "there")
        finally:
            subprocess.run(["umount", folder], check=True)
    assert (found.type, found.bytes, found.is_read_only, found.refuses_programs) == ("tmpfs", 1048576, True, True)
