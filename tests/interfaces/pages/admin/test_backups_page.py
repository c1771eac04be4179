"""The page Backups: a backup is made and proven immediately, and faulty backups are reported."""

import asyncio

import pytest

from tests.interfaces.pages.admin.test_health_pages import (
    admin,
    archives,
    backed_up,
    folder_of,
    house,
    over,
    started,
)
from tests.interfaces.pages.administering import audit
from tests.interfaces.pages.records.test_browse import EMAIL, rows, text_of
from tests.interfaces.pages.visitor import Visitor
from wmsd.maintenance.backups.last_runs import (
    VerifiedBackup,
    change_record,
    read_record,
)

__all__ = ["admin", "house"]  # fixtures


async def test_a_backup_is_made_and_proven_now(admin: Visitor) -> None:
    before = await admin.get("/admin/backups")
    assert "There is no backup yet." in before.text
    seen = await backed_up(admin)
    (cells,) = rows(seen)
    assert cells[1].startswith("Verified ")
    assert (cells[3], cells[4].startswith("wmsd-")) == ("1", True)
    assert "The backup verified at" in seen.text
    assert (await audit(admin))[0][:4] == [EMAIL, "backup.begin", "now", "127.0.0.1"]
    await asyncio.sleep(1)  # archive names have a resolution of one second
    (again,) = rows(await backed_up(admin))
    assert again[4] != cells[4], "also when none is due; of an hour, the last one stays"
    record = read_record(admin.world.installation.folder.path)
    assert (record.failed, len(record.sound)) == (None, 2)


async def test_archives_that_are_not_good_are_told(admin: Visitor) -> None:
    assert len(rows(await backed_up(admin))) == 1
    world = admin.world
    (good,), folder = archives(world), folder_of(world)
    (folder / "wmsd-2020-01-01T000000Z.tar.gz").write_bytes(good.read_bytes())
    (folder / "wmsd-2020-01-02T000000Z.tar.gz").write_bytes(b"cut short")
    (folder / "something else.tar.gz").write_bytes(b"")
    record = read_record(world.installation.folder.path)
    proven = VerifiedBackup(
        at="2026-11-20T12:00:00.000Z", path=str(good), seconds=1, problems=["ACME: it is damaged."]
    )
    change_record(
        world.installation.folder.path, lambda _: record.model_copy(update={"proven": proven, "sound": []})
    )
    seen = await admin.get("/admin/backups")
    said = {cells[4]: cells[1] for cells in rows(seen)}
    assert len(said) == 3
    assert said[good.name] == "Failed ACME: it is damaged."
    assert said["wmsd-2020-01-01T000000Z.tar.gz"].startswith("Not verified")
    assert said["wmsd-2020-01-02T000000Z.tar.gz"].startswith("Cannot be read ")
    assert "Do not rely on these backups." in seen.text


async def test_a_backup_that_fails_is_told(admin: Visitor, caplog: pytest.LogCaptureFixture) -> None:
    await asyncio.to_thread(folder_of(admin.world).write_text, "no folder")
    seen = await backed_up(admin)
    assert "Do not rely on these backups." in seen.text
    assert "The last backup failed at" in text_of(seen.text)
    assert "cannot be written" in text_of(seen.text)


async def test_the_scheduled_work_waits_for_the_one_that_was_asked_for(admin: Visitor) -> None:
    backups = started(admin.world).backups
    assert backups is not None
    assert backups.begin()
    await backups.look()
    assert backups.is_running
    await over(lambda: backups.is_running)
    assert len(archives(admin.world)) == 1
