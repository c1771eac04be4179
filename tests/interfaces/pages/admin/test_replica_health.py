"""The replica on the pages Health and Backups."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.interfaces.pages.records.test_browse import NOTHING, rows, signed_in, text_of
from tests.interfaces.pages.visitor import Visitor
from tests.support.world import World, open_world
from wmsd.data_folder.litestream import ReplicatedFile
from wmsd.platform.admin_view.health import MOST_BEHIND

WITH_REPLICA = {"replica": {"enabled": True}, "backup": {"every": "never"}}
REMEDY = (
    "Check that Litestream is running and can reach its destination. wmsd replica status shows which files "
    "are behind, and since when."
)
ROMANIAN = {"Accept-Language": "ro"}


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[Visitor]:
    async with open_world(tmp_path / "data", WITH_REPLICA) as world:
        yield await signed_in(world)


def replicates(monkeypatch: pytest.MonkeyPatch, world: World, **ages: float | None) -> None:
    """Simulate Litestream's report: the seconds since each file was replicated, by its name without extension."""
    now = datetime.now(UTC)
    found = [
        ReplicatedFile(
            path=world.installation.folder.path / f"{name.removeprefix('_')}.db",
            status="error" if age is None else "replicating",
            last_sync_at=None if age is None else now - timedelta(seconds=age),
        )
        for name, age in ages.items()
    ]
    monkeypatch.setattr("wmsd.maintenance.replica.replica_verdict.replicated_files", lambda _: found)


async def of_replica(admin: Visitor, headers: dict[str, str] | None = None) -> list[str]:
    seen = await admin.get("/admin/health", headers)
    (found,) = (cells[1:] for cells in rows(seen) if cells[0] in ("Replica", "Replică"))
    return found


async def of_backups(admin: Visitor) -> str:
    return text_of((await admin.get("/admin/backups")).text)


async def test_a_replica_that_has_everything(admin: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    replicates(monkeypatch, admin.world, platform=1, _1=3)
    says = r"2 files are replicated, with a delay of at most \d+ s[.]"
    state, said, remedy = await of_replica(admin)
    assert (state, remedy) == ("Good", NOTHING)
    assert re.fullmatch(f"The replica is up to date[.] {says}", said)
    assert re.search(says, await of_backups(admin))
    state, told, _ = await of_replica(admin, ROMANIAN)
    assert state == "În regulă"
    assert re.fullmatch(r"Replica este la zi[.] Fișiere replicate: 2, cu o întârziere de cel mult \d+ s[.]", told)


@pytest.mark.parametrize(
    ("ages", "behind"),
    [
        ({"platform": 1, "_1": 60}, "ACME"),
        ({"platform": 1, "_1": None}, "ACME"),
        ({"platform": 1}, "ACME"),
        ({"platform": 16, "_1": 1}, "platform.db"),
        ({}, "platform.db, ACME"),
    ],
)
async def test_what_a_replica_does_not_have_is_named(
    admin: Visitor, monkeypatch: pytest.MonkeyPatch, ages: dict[str, float | None], behind: str
) -> None:
    replicates(monkeypatch, admin.world, **ages)
    says = f"The replica does not have the latest changes of {behind}."
    state, said, remedy = await of_replica(admin)
    assert (state, remedy) == ("Problem", REMEDY)
    number = behind.count(",") + 1
    assert said == f"The replica is behind. {says} Files behind: {number}"
    assert says in await of_backups(admin)
    state, told, _ = await of_replica(admin, ROMANIAN)
    assert state == "Problemă"
    assert told.startswith("Replica este în urmă. Replica nu are ultimele modificări pentru ")
    assert told.endswith(f"{behind}. Fișiere în urmă: {number}")


async def test_many_files_are_counted(admin: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    replicates(monkeypatch, admin.world, platform=1, _1=1)
    for number in range(2, MOST_BEHIND + 5):
        (admin.world.installation.folder.companies / f"{number}.db").touch()
    _, said, _ = await of_replica(admin)
    assert f" and 3 more. Files behind: {MOST_BEHIND + 3}" in said


async def test_a_replica_that_nobody_makes(admin: Visitor) -> None:
    state, said, remedy = await of_replica(admin)
    assert (state, remedy) == ("Problem", REMEDY)
    assert said.startswith("The replica is behind. Litestream does not answer at ")
    _, told, _ = await of_replica(admin, ROMANIAN)
    assert told.startswith("Replica este în urmă. Niciun Litestream nu răspunde la ")


async def test_without_a_replica_there_is_no_such_check(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"backup": {"every": "never"}}) as world:
        admin = await signed_in(world)
        assert "Replica" not in {cells[0] for cells in rows(await admin.get("/admin/health"))}
        assert "Replication is off. The setting replica.enabled switches it on." in await of_backups(admin)
