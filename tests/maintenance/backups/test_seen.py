"""Anyone may request the health: a slow backup disk must not block these requests."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from wmsd.base.clock import SystemClock
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.failures import StorageError
from wmsd.maintenance.backups import scheduled_process
from wmsd.maintenance.backups.last_runs import BackupRecord
from wmsd.maintenance.backups.scheduled_process import ScheduledBackups, Seen
from wmsd.settings.sections.backup import Backup

ASKERS = 100


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Yield the event that lets the disk reply; until the event is set, every check of the disk waits."""
    event = threading.Event()

    def wait(record: BackupRecord, _: Backup) -> BackupRecord:
        event.wait()
        return record

    monkeypatch.setattr(BackupRecord, "there", wait)
    monkeypatch.setattr(scheduled_process, "PATIENCE_SECONDS", 0.3)
    yield event
    event.set()


@pytest.fixture
def backups(tmp_path: Path) -> ScheduledBackups:
    (tmp_path / "data").mkdir()
    settings = Backup(folder=str(tmp_path / "backups"))
    return ScheduledBackups([], settings, DataFolder(tmp_path / "data"), SystemClock())


async def looked_at(backups: ScheduledBackups) -> Seen:
    """Wait for the running check of the disk, and return its result."""
    seeing = backups._seeing
    assert seeing is not None
    await asyncio.wait([seeing], timeout=20)
    return await backups.seen()


async def test_a_disk_that_does_not_answer_holds_one_thread_and_nobody(
    backups: ScheduledBackups, answers: threading.Event
) -> None:
    threads = threading.active_count()
    for _ in range(3):
        found = await asyncio.gather(*(backups.seen() for _ in range(ASKERS)))
        assert {each.verdict.ok for each in found} == {False}
        assert found[0].verdict.text == f"The backup folder {backups.settings.folder} does not respond."
    assert threading.active_count() == threads + 1
    answers.set()
    assert "no scheduled backup yet" in (await looked_at(backups)).verdict.sentence


async def test_what_fails_is_told_to_who_asked_and_looked_at_again(
    backups: ScheduledBackups, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StorageError("The disk has failed.")

    with monkeypatch.context() as patched:
        patched.setattr(BackupRecord, "there", fail)
        with pytest.raises(StorageError):
            await backups.seen()
    assert (await backups.seen()).made is None
