"""Copies without their write-ahead log, logs without their file, and logs that have grown."""

import os
import shutil
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.maintenance.doctor.scene import names, situation, told
from tests.support.world import UNLIMITED, open_world
from wmsd.maintenance.doctor import write_ahead_logs
from wmsd.maintenance.doctor.findings import diagnose
from wmsd.maintenance.doctor.write_ahead_logs import LARGEST_LOG


async def copied(source: Path, target: Path, left_out: Sequence[str]) -> None:
    """Copy a folder while its server is running, like a user with cp. The files in `left_out` are not copied."""
    async with open_world(source, UNLIMITED) as world:
        for code in ("B", "C"):
            assert (await world.send("POST", "/api/articles", {"code": code, "name": code})).status == 201
            await world.installation.marks.write()
        shutil.copytree(source, target, ignore=lambda _, files: [each for each in files if each in left_out])


async def test_a_copy_of_a_running_server_without_the_log_of_a_company(tmp_path: Path) -> None:
    await copied(tmp_path / "served", tmp_path / "copy", ["1.db-wal", "1.db-shm"])
    at = situation(tmp_path / "copy")
    assert names(write_ahead_logs.findings(at)) == ["log-missing"]
    sentence = told(write_ahead_logs.findings(at), "log-missing")
    assert sentence.startswith(
        f"Changes are missing from {tmp_path}/copy/companies/1.db, because its -wal file is missing."
    )


async def test_a_copy_of_a_running_server_with_its_logs(tmp_path: Path) -> None:
    await copied(tmp_path / "served", tmp_path / "copy", [])
    assert names(write_ahead_logs.findings(situation(tmp_path / "copy"))) == []


def test_the_index_that_a_killed_server_has_left_proves_nothing(data: Path) -> None:
    (data / "platform.db-shm").write_bytes(struct.pack("=16xI", 7).ljust(32_768, b"\0"))
    assert names(write_ahead_logs.findings(situation(data))) == []


@pytest.mark.parametrize("log", ["platform.db-wal", "companies/2.db-wal"])
def test_a_log_without_its_file(data: Path, log: str) -> None:
    (data / log).write_bytes(b"\0" * 5000)
    at = situation(data)
    (data / log.removesuffix("-wal")).unlink()
    assert names(write_ahead_logs.findings(at)) == ["log-alone"]
    assert "log-alone" in names(diagnose(at))


def test_a_log_that_has_grown(data: Path) -> None:
    at = situation(data)
    log = data / "companies" / "1.db-wal"
    log.touch()
    os.truncate(log, LARGEST_LOG)
    assert names(write_ahead_logs.findings(at)) == []
    os.truncate(log, LARGEST_LOG + 1_000_000)
    sentence = told(write_ahead_logs.findings(at), "log-large")
    assert sentence == (
        f"The write-ahead log {log} is large (269 MB), because its changes are not written back into the "
        "database file."
    )
