"""The admin's view of the running installation. Real commands beside the server make backups and examinations."""

import asyncio
import logging
import re
import sys
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest

from tests.interfaces.pages.administering import LEAD, audit, signed_in_as
from tests.interfaces.pages.records.test_act import form_of
from tests.interfaces.pages.records.test_browse import EMAIL, NOTHING, rows, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.forked import ROOT
from tests.support.world import World, open_world
from wmsd import __version__
from wmsd.base import timestamps
from wmsd.base.machine.disk import Disk
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_hints import completed
from wmsd.interfaces.pages.kit.admin_menu import ADMIN_PAGES, BACKUPS, HEALTH, AdminPage
from wmsd.maintenance.backups.backup_verdict import REMEDY
from wmsd.maintenance.backups.last_runs import (
    BackupRecord,
    FailedBackup,
    VerifiedBackup,
    change_record,
    read_record,
)
from wmsd.maintenance.backups.scheduled_process import ScheduledBackups
from wmsd.platform.admin_view.examination_runs import Examinations
from wmsd.platform.admin_view.service import Started
from wmsd.server.alerts.channels import ToCommand

PROGRAM = [sys.executable, "-P", "-c", "from wmsd.interfaces.cli.main import main; main()"]
WRONG_COUNT = "UPDATE row_counts SET rows = rows + 7 WHERE name = 'articles'"
FORMS = re.compile(r'<form class="acts" method="post">(.*?)</form>', re.DOTALL)
HIDDEN = re.compile(r'name="(\w+)" value="(.*?)"')


def of_house(installation: Installation) -> Started:
    """Return the background work of a server."""
    data = ["--data", str(installation.folder.path)]
    schedule, doctor = ["backup", "schedule", "--run", *data], ["doctor", "--progress", *data]
    folder, clock = installation.folder, installation.clock
    return Started(
        ScheduledBackups([*PROGRAM, *schedule], installation.settings.backup, folder, clock),
        Examinations([*PROGRAM, *doctor], folder, clock),
    )


@pytest.fixture
async def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    backups = tmp_path / "backups"
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("WMSD_BACKUP_FOLDER", str(backups))
    settings = {"backup": {"folder": str(backups)}}
    async with open_world(tmp_path / "data", settings, started=of_house) as world:
        yield world
        for work in (started(world).backups, started(world).examinations):
            assert work is not None
            await work.stop()


def started(world: World) -> Started:
    (found,) = [each for each in world.installation.dispatcher._services.values() if hasattr(each, "started")]
    known: Started = found.started
    return known


@pytest.fixture
async def admin(house: World) -> Visitor:
    return await signed_in(house)


def folder_of(world: World) -> Path:
    return Path(world.installation.settings.backup.folder)


def archives(world: World) -> list[Path]:
    return list(folder_of(world).glob("*.tar.gz"))


async def over(running: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while running():  # noqa: ASYNC110  # there is no event to wait for
            await asyncio.sleep(0.02)


async def all_over(visitor: Visitor) -> None:
    begun = started(visitor.world)
    for work in (begun.backups, begun.examinations):
        assert work is not None
        await over(partial(getattr, work, "is_running"))


def button_of(seen: Seen) -> dict[str, str]:
    (form,) = FORMS.findall(seen.text)
    return dict(HIDDEN.findall(form))


async def examined(visitor: Visitor) -> Seen:
    """Run an examination, and return the page after it."""
    done = await visitor.post("/admin/health", button_of(await visitor.get("/admin/health")))
    assert (done.status, done.goes_to) == (303, "/admin/health?done=begun"), done.text
    await all_over(visitor)
    return await visitor.get("/admin/health")


async def backed_up(visitor: Visitor) -> Seen:
    done = await visitor.post("/admin/backups", button_of(await visitor.get("/admin/backups")))
    assert (done.status, done.goes_to) == (303, "/admin/backups?done=begun"), done.text
    await all_over(visitor)
    return await visitor.get("/admin/backups")


async def test_each_check_of_health_with_its_sentence(admin: Visitor) -> None:
    seen = await admin.get("/admin/health")
    found = {cells[0]: cells[1:] for cells in rows(seen)}
    assert found["Files"] == ["Good", "Every company's file can be read and written.", NOTHING]
    assert {cells[0] for cells in found.values()} == {"Good"}
    text = text_of(seen.text)
    for part in (
        f"{__version__} version",
        "of 1 company files are open",
        "of memory",
        "of data",
        "Working the service",
    ):
        assert part in text, part


async def test_a_check_that_fails_says_why_and_what_to_do(admin: Visitor) -> None:
    world = admin.world
    path = world.installation.files.path(world.company)
    await world.installation.files.close_unused()
    database = await world.database()
    await database.close()
    path.write_bytes(b"not a database\n" * 4000)
    assert (await world.send("GET", "/api/articles")).status == 503
    seen = await admin.get("/admin/health")
    found = {cells[0]: cells[1:] for cells in rows(seen)}
    state, says, remedy = found["Files"]
    assert (state, remedy) == ("Problem", "The log and wmsd doctor show which file and why.")
    assert says.startswith("A company's file cannot be used. ACME: ")
    assert "Degraded the service" in text_of(seen.text)


async def test_open_alerts_are_shown_with_what_to_do_and_that_nobody_is_told(admin: Visitor) -> None:
    text = text_of((await admin.get("/admin/health")).text)
    assert "No open alerts." in text
    assert "the settings name no e-mail address" in text
    admin.world.jobs.disk_watch.note(Disk(2**20, 2**40))
    await admin.world.jobs.alerts.look()
    text = text_of((await admin.get("/admin/health")).text)
    assert (
        "The disk is full 20 Nov 2026, 12:00 UTC The disk of the data folder is full: wmsd stores no new data."
        in text
    )
    assert (
        "wmsd looks for problems every 15 seconds (last time: 20 Nov 2026, 12:00 UTC). The checks in the table"
        in text
    )
    admin.world.jobs.disk_watch.note(Disk(2**40, 2**40))
    await admin.world.jobs.alerts.look()
    text = text_of((await admin.get("/admin/health")).text)
    assert (
        "The problem has been gone since 20 Nov 2026, 12:00 UTC. If it does not come back, the alert ends" in text
    )
    romanian = text_of((await admin.get("/admin/health", {"Accept-Language": "ro"})).text)
    assert "Discul dosarului de date este plin: wmsd nu mai stochează date noi." in romanian


async def test_why_there_is_no_backup_comes_with_what_to_do_at_health_and_today(admin: Visitor) -> None:
    """The page gives the doctor's advice, and not only the place to look."""
    failed = FailedBackup(at=timestamps.to_text(admin.world.clock.now()), error="The disk is gone.")
    change_record(admin.world.installation.folder.path, lambda _: BackupRecord(failed=failed))
    (cells,) = [each for each in rows(await admin.get("/admin/health")) if each[0] == "Backup"]
    assert cells[1] == "Problem"
    assert "The disk is gone." in cells[2]
    assert cells[3] == REMEDY
    assert f"There is no reliable backup. {REMEDY}" in text_of((await admin.get("/today")).text)


async def test_a_way_that_takes_no_alerts_is_shown(house: World) -> None:
    """The output of a program is data and is escaped."""
    alerts, clock = house.jobs.alerts, house.clock
    alerts._ways = [ToCommand(["/bin/sh", "-c", "echo '<b>no</b> route'; exit 3"], Path("data"))]
    house.jobs.disk_watch.note(Disk(2**20, 2**40))
    await alerts.look()
    async with asyncio.timeout(20):
        while not alerts.kept.failures:  # noqa: ASYNC110  # there is no event to wait for
            await asyncio.sleep(0.02)
    clock.advance(60)
    seen = await (await signed_in(house)).get("/admin/health")
    assert (
        "Alerts not sent. alerts.command has not accepted alerts since 20 Nov 2026, 12:00 UTC. "
        "Alerts waiting: 2. Reason: "
        "The program of alerts.command ended with exit status 3. Its output was: <b>no</b> route."
    ) in text_of(seen.text)
    assert "<b>no</b>" not in seen.text


async def test_the_doctor_examines_every_file(admin: Visitor) -> None:
    assert "The files have not been examined from this page yet." in (await admin.get("/admin/health")).text
    seen = await examined(admin)
    assert "No problems. All 2 files are undamaged. Examined 20 Nov 2026, 12:00 UTC." in text_of(seen.text)
    assert (await audit(admin))[0][:4] == [EMAIL, "examination.begin", "doctor", "127.0.0.1"]


async def test_what_the_doctor_finds_around_the_files_is_told_as_on_the_command_line(admin: Visitor) -> None:
    stray = admin.world.installation.folder.companies / "1.db.bak"
    stray.write_bytes(b"x")
    text = text_of((await examined(admin)).text)
    assert (
        f"Warning {stray} is not a file of wmsd, and wmsd does not read it. Move the file out of the "
        "data folder, so that nobody thinks that wmsd uses it."
    ) in text
    assert "Working the service" in text


async def test_what_the_doctor_finds_is_told_with_a_remedy(
    admin: Visitor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    database = await admin.world.database()
    await database.write(lambda tx: tx.execute(WRONG_COUNT))
    seen = await examined(admin)
    text = text_of(seen.text)
    assert "Problems found. Files with problems: 1 of 2." in text
    sentence = "the stored total of a list must equal the number of its records; but articles: 7 instead of 0."
    assert f"ACME {sentence}" in text
    assert "restore this company from an earlier backup" in text
    assert [each.getMessage() for each in caplog.records] == [f"examined ACME: {sentence}"]
    await admin.world.new_user(LEAD, "company-admin", ["ACME"])
    lead = await signed_in_as(admin.world, LEAD)
    today = await admin.get("/today")
    for page, doctor_at in ((seen, "#doctor"), (today, "/admin/health#doctor"), (await lead.get("/today"), "")):
        assert "Working the service" not in text_of(page.text)
        assert "Problems found by the doctor" in text_of(page.text)
        assert (f'<a href="{doctor_at}">Problems</a>' in page.text) == bool(doctor_at)
    told = "The doctor found problems in its examination of 20 Nov 2026, 12:00 UTC."
    assert f"{told} See the problems and what to do" in text_of(today.text)
    of_lead = text_of((await lead.get("/today")).text)
    assert f"{told} A platform admin can see the problems" in of_lead, of_lead[150:700]
    database = await admin.world.database()
    await database.write(lambda tx: tx.execute(WRONG_COUNT.replace("+", "-")))
    well = await examined(admin)
    assert "All 2 files are undamaged." in well.text
    for page in (well, await admin.get("/today")):
        assert "Working the service" in text_of(page.text)
        assert "found by the doctor" not in text_of(page.text)


async def test_findings_outlive_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    async with open_world(tmp_path, started=of_house) as world:
        await examined(await signed_in(world))
    async with open_world(tmp_path, started=of_house) as world:
        seen = await (await signed_in_as(world, EMAIL)).get("/admin/health")
        assert "All 2 files are undamaged." in seen.text


async def test_a_script_in_what_is_found_is_text(admin: Visitor) -> None:
    folder = admin.world.installation.folder.path
    script = "<script>alert(1)</script>"
    proven = VerifiedBackup(at="2026-11-20T12:00:00.000Z", path=f"/x/{script}", seconds=1, problems=[script])
    change_record(folder, lambda _: BackupRecord(proven=proven))
    (folder / "examination.json").write_text(
        '{"began_at": "2026-11-20T12:00:00.000Z", "ended_at": "2026-11-20T12:00:00.000Z", "files": 1, "wrong": 1,'
        f' "findings": [{{"file": "{script}", "kind": "damage", "sentence": "{script}"}}]}}'
    )
    seen = await admin.get("/admin/health")
    assert (seen.status, "<script>" in seen.text, "&lt;script&gt;" in seen.text) == (200, False, True)


@pytest.mark.parametrize("page", [HEALTH, BACKUPS], ids=lambda each: each.name)
async def test_there_is_one_at_a_time(admin: Visitor, page: AdminPage) -> None:
    path = f"/admin/{page.name}"
    forms = [button_of(await admin.get(path)) for _ in range(4)]
    seen = await asyncio.gather(*(admin.post(path, form) for form in forms))
    assert sorted(each.status for each in seen) == [303, 409, 409, 409]
    assert all("This task is already running." in each.text for each in seen if each.status == 409)
    running = await admin.get(path)
    assert (FORMS.findall(running.text), "data-follow" in running.text) == ([], True)
    await all_over(admin)
    form = button_of(await admin.get(path))
    first = await admin.post(path, form)
    await all_over(admin)
    again = await admin.post(path, form)
    assert (first.status, again.status) == (303, 409)
    assert "This form was already sent" in again.text
    entries = [each[1] for each in await audit(admin)]
    assert sum(each.endswith(".begin") and each != "session.begin" for each in entries) == 2


async def test_a_command_is_told_as_it_is_typed_beside_the_server(tmp_path: Path) -> None:
    given = {"--data": "/srv/stock", "--config": "/srv/wmsd.toml"}

    def of_server(installation: Installation) -> Started:
        return Started(complete=partial(completed, given=given))

    async with open_world(tmp_path / "data", started=of_server) as world:
        admin = await signed_in(world)
        for path, command in (("/admin/health", "wmsd doctor"), ("/admin/backups", "wmsd backup create")):
            seen = await admin.get(path)
            assert f"{command} --data /srv/stock --config /srv/wmsd.toml" in seen.text


async def test_what_a_server_cannot_begin_is_told(world: World) -> None:
    admin = await signed_in(world)
    for path, command in (("/admin/health", "wmsd doctor"), ("/admin/backups", "wmsd backup create")):
        seen = await admin.get(path)
        assert (FORMS.findall(seen.text), command in seen.text) == ([], True)
        token = (await admin.get("/admin/tokens/new")).form_token
        refused = await admin.post(path, {"form_token": token})
        assert (refused.status, "This server cannot start other programs." in refused.text) == (409, True)
    begun = {each[1] for each in await audit(admin) if each[1].endswith(".begin")}
    assert begun == {"session.begin"}


async def test_nobody_else_sees_or_begins_anything(admin: Visitor) -> None:
    world = admin.world
    await world.new_user(LEAD, "company-admin", ["ACME"])
    await world.new_user("m@example.com", "member", ["ACME"], ["stock:read"])
    token = await world.new_token(EMAIL)
    for email in (LEAD, "m@example.com"):
        visitor = await signed_in_as(world, email)
        form_token = form_of(await visitor.get("/admin/tokens/new"))["form_token"]
        for each in ADMIN_PAGES:
            path = f"/admin/{each.name}"
            assert path not in (await visitor.get("/today")).text
            seen = await visitor.get(path)
            assert (seen.status, seen.heading) == (403, "Not allowed"), path
            assert "Only a platform admin may do this" in seen.text
            if each.begins is not None:
                assert (await visitor.post(path, {"form_token": form_token})).status == 403
    stranger = Visitor(world)
    for each in ADMIN_PAGES:
        assert (await stranger.get(f"/admin/{each.name}")).goes_to.startswith("/sign-in")
        answer = await world.send("GET", f"/admin/{each.name}", token=token)
        assert answer.status == 303, "a token is no session"
    assert (await admin.post("/admin/backups", {"form_token": "wrong"})).status == 403
    form = button_of(await admin.get("/admin/backups"))
    assert (await admin.post("/admin/backups", form, site="cross-site")).status == 403
    begun = started(world)
    assert begun.backups is not None
    assert begun.examinations is not None
    assert (begun.backups.is_running, begun.examinations.is_running) == (False, False)
    assert read_record(world.installation.folder.path) == BackupRecord()
