"""The jobs that run automatically, and the reply of the health check."""

import asyncio
import errno
import json
import logging
from pathlib import Path

import pytest

from tests.support.shop import Shop
from tests.support.world import UNLIMITED, World, open_world
from wmsd.base.machine.disk import Disk
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.sqlite import connect
from wmsd.db.files.open_files import FileBounds
from wmsd.server import jobs as jobs_module
from wmsd.server.jobs import A_DAY_SECONDS, Jobs
from wmsd.tenants.accounts import token_store


async def test_expired_tokens_are_swept(world: World) -> None:
    world.clock.advance(91 * 86_400)
    assert await world.installation.platform.write(token_store.sweep_expired_tokens) == 1
    await world.call("GET", "/api/articles", status=401)


async def test_what_another_process_changes_is_noticed(world: World) -> None:
    await world.call("GET", "/api/articles")
    await world.installation.access.forget_if_changed()
    other = connect(world.installation.folder.platform_file)
    other.execute("UPDATE tokens SET revoked_at = '2026'")
    other.close()
    await world.installation.access.forget_if_changed()
    await world.call("GET", "/api/articles", status=401)


async def test_a_companys_bad_file_does_not_keep_the_jobs_from_the_others(shop: Shop) -> None:
    world = shop.world
    bad, last = await world.new_company("BAD"), await world.new_company("LAST")
    articles = {"code": "A", "name": "A"}
    for company in (bad, last):
        await world.send("POST", "/api/articles", articles, company=company, headers={"Idempotency-Key": "k"})
    await (await world.database(bad)).close()
    world.installation.files.path(bad).write_bytes(b"not a database" * 1000)
    world.clock.advance(8 * 86_400)
    await world.jobs.tidy_files()
    database = await world.database(last)
    assert await database.read(lambda tx: tx.value("SELECT count(*) FROM idempotency_keys")) == 0
    assert bad in world.installation.files.failed


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), MemoryError(), LookupError()])
async def test_a_job_that_fails_comes_again_and_is_told_once(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    caplog.set_level(logging.INFO)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        ticks += 1
        if ticks <= 5:
            raise error

    monkeypatch.setattr(world.sender, "tick", tick)
    monkeypatch.setattr(jobs_module, "SENDER_TICK_SECONDS", 0.01)
    jobs = Jobs(world.installation, world.sender, world.jobs.today, world.jobs.changes)
    await jobs.start()
    async with asyncio.timeout(10):
        while ticks < 7:  # noqa: ASYNC110  # there is no event to wait for
            await asyncio.sleep(0.01)
    await jobs.stop()
    told = [record.getMessage() for record in caplog.records if "the job tick failed" in record.getMessage()]
    assert len(told) == 2
    assert told[1] == "resolved after 5 failures: the job tick failed, and runs again as scheduled"


async def test_a_job_that_a_stop_cuts_off_leaves_no_trace(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun = asyncio.Event()

    async def tick() -> None:
        begun.set()
        await asyncio.sleep(60)

    monkeypatch.setattr(world.sender, "tick", tick)
    jobs = Jobs(world.installation, world.sender, world.jobs.today, world.jobs.changes)
    await jobs.start()
    async with asyncio.timeout(10):
        await begun.wait()
    await jobs.stop()
    await asyncio.sleep(0)
    assert [record.getMessage() for record in caplog.records if record.exc_info] == []


async def test_a_company_that_fails_in_any_way_does_not_keep_the_jobs_from_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, last = await world.new_company("BAD"), await world.new_company("LAST")
    await world.send(
        "POST", "/api/articles", {"code": "A", "name": "A"}, company=last, headers={"Idempotency-Key": "k"}
    )
    get = world.installation.files.get

    async def failing(company_id: int) -> Database:
        if company_id == bad:
            raise OSError(errno.EMFILE, "Too many open files")
        return await get(company_id)

    monkeypatch.setattr(world.installation.files, "get", failing)
    world.clock.advance(8 * 86_400)
    await world.jobs.tidy_files()
    database = await world.database(last)
    assert await database.read(lambda tx: tx.value("SELECT count(*) FROM idempotency_keys")) == 0


async def test_a_file_that_was_put_back_is_the_one_that_is_written(world: World) -> None:
    await world.import_csv("clients", "code,name\nC1,Kept\n")
    database = await world.database()
    file = world.installation.files.path(world.company)
    page = await database.read(
        lambda tx: tx.value("SELECT (rootpage - 1) * 4096 FROM sqlite_schema WHERE name = 'clients'")
    )
    await database.close()
    backup = file.read_bytes()
    with file.open("r+b") as damaged:
        damaged.seek(page)
        damaged.write(b"\xff" * 4096)
    await world.call("GET", "/api/clients", status=503)
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    file.with_name("put-back").write_bytes(backup)
    file.with_name("put-back").rename(file)
    await world.call("POST", "/api/articles", {"code": "A", "name": "A"}, status=201, events=["article.created"])
    assert (await world.call("GET", "/api/clients")).body["meta"]["total"] == 1
    other = connect(file, read_only=True)
    assert other.execute("SELECT code FROM articles").fetchall() == [("A",)]
    other.close()


async def test_many_companies_at_once_are_closed_again_beyond_the_limit(world: World) -> None:
    world.installation.files.open.bounds = FileBounds(connections=20)
    companies = [await world.new_company(f"C{number}") for number in range(40)]
    answers = await asyncio.gather(*(world.send("GET", "/api/articles", company=each) for each in companies))
    assert {answer.status for answer in answers} == {200}
    assert len(world.opened) <= 20


async def test_health_tells_no_path_and_no_version(world: World) -> None:
    answer = await world.call("GET", "/api/health", token="", company="")
    assert answer.body["status"] == "ok"
    checks = {"database", "cache", "job_queue", "disk", "webhooks", "clock", "backup", "keys"}
    assert set(answer.body["checks"]) == checks
    assert str(world.installation.folder.path) not in answer.raw.decode()
    assert "0.1" not in answer.body


async def test_a_job_queue_that_stands_still_is_unavailable(world: World) -> None:
    world.clock.advance(31)
    answer = await world.call("GET", "/api/health", token="", company="", status=503)
    assert answer.body["checks"]["job_queue"]["ok"] is False
    assert answer.body["status"] == "unavailable"


async def test_strangers_are_told_a_figure_of_each_check_and_no_bytes(world: World) -> None:
    """A stranger gets one number for each of the database, the cache, the job queue and the disk (decisions,
    section 4).
    """
    known = (await world.call("GET", "/api/health")).body["checks"]["disk"]
    assert known.keys() == {"ok", "free_bytes", "free_percent"}
    for token in ("", "forged", f"{world.token}x"):
        answer = await world.call("GET", "/api/health", token=token, company="")
        checks = answer.body["checks"]
        assert checks["disk"] == {"ok": True, "free_percent": known["free_percent"]}
        figures = [("database", "milliseconds"), ("cache", "entries"), ("job_queue", "seconds_since_tick")]
        assert all(checks[name].keys() == {"ok", figure} for name, figure in figures)


async def test_a_full_disk_is_unavailable(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wmsd.server.health.disk_of", lambda _: Disk(10**6, 10**12))
    answer = await world.call("GET", "/api/health", token="", company="", status=503)
    assert answer.body["checks"]["disk"]["ok"] is False


async def test_a_companys_damaged_file_fails_that_company_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with open_world(folder, UNLIMITED) as world:
        other = await world.new_company("OTHER")
        await world.call(
            "POST", "/api/articles", {"code": "A", "name": "A"}, status=201, events=["article.created"]
        )
        token = world.token
    file = folder / "companies" / "1.db"
    whole = file.read_bytes()
    file.write_bytes(b"not a database at all" * 500)
    async with open_world(folder, UNLIMITED) as world:
        world.token, world.company = token, 1
        await world.installation.files.prepare(await world.installation.access.companies())
        answer = await world.call("GET", "/api/articles", status=503)
        assert answer.body["code"] == "SERVICE_UNAVAILABLE"
        assert int(answer.headers["Retry-After"]) > 0
        said = answer.body["message"]
        assert "ask the platform admin" in said, "a client must know what to do"
        assert "wmsd doctor" in said
        assert str(folder) not in json.dumps(answer.body)
        await world.call("GET", "/api/articles", company=other)
        health = (await world.call("GET", "/api/health", token="", company="")).body
        assert health["status"] == "degraded"
        assert file.read_bytes() == b"not a database at all" * 500
        file.write_bytes(whole)
        assert (await world.send("GET", "/api/articles")).body["meta"]["total"] == 1
        assert (await world.call("GET", "/api/health")).body["status"] == "ok"


async def test_a_missing_company_file_is_not_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with open_world(folder, UNLIMITED) as world:
        token = world.token
    (folder / "companies" / "1.db").unlink()
    async with open_world(folder, UNLIMITED) as world:
        world.token = token
        assert (await world.send("GET", "/api/articles", company=1)).status == 503
    assert not (folder / "companies" / "1.db").exists()


async def test_a_file_without_a_company_is_moved_aside(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with open_world(folder, UNLIMITED) as world:
        stray = folder / "companies" / "2.db"
        stray.write_bytes(b"somebody's goods")
        assert await world.new_company("NEXT") == 2
        (kept,) = (folder / "companies").glob("2.db.orphan-*")
        assert kept.read_bytes() == b"somebody's goods"
        await world.call("GET", "/api/articles", company=2)


async def test_a_company_that_is_refused_leaves_no_file(world: World) -> None:
    from wmsd.base.problems import Problem

    with pytest.raises(Problem):
        await world.new_company("ACME")
    assert [file.name for file in world.installation.folder.companies.glob("*.db")] == ["1.db"]


async def test_many_companies_do_not_keep_their_files_open(world: World) -> None:
    world.installation.files.open.bounds = FileBounds(connections=3)
    ids = [await world.new_company(f"C{place}") for place in range(8)]
    for company_id in [*ids, *ids]:
        await world.call("GET", "/api/articles", company=company_id)
    assert len(world.opened) <= 3


def test_one_server_has_a_data_folder(tmp_path: Path) -> None:
    first, second = DataFolder(tmp_path / "data"), DataFolder(tmp_path / "data")
    first.make()
    first.lock("127.0.0.1:8480")
    with pytest.raises(StorageError, match=r"process \d+, listening on 127.0.0.1:8480"):
        second.lock("127.0.0.1:9999")
    first.unlock()
    second.lock("127.0.0.1:9999")
    second.unlock()


async def test_the_files_are_their_owners_alone(world: World) -> None:
    files = [file for file in world.installation.folder.path.rglob("*.db*") if file.is_file()]
    assert {file.name for file in files} >= {"platform.db", "platform.db-wal", "1.db"}
    assert {oct(file.stat().st_mode & 0o777) for file in files} == {"0o600"}


async def test_a_file_that_nobody_uses_is_tidied_once_a_day(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An hourly round does not open the file, and leaves the file closed."""
    quiet = await world.new_company("QUIET")
    article = {"code": "A", "name": "A"}
    await world.send("POST", "/api/articles", article, company=quiet, headers={"Idempotency-Key": "k"})
    database = await world.database(quiet)
    files = world.installation.files
    told: list[int] = []
    monkeypatch.setattr(files, "after_commit", told.append)

    async def keys_after(days: float) -> int:
        await database.close()
        world.clock.advance(days * A_DAY_SECONDS)
        await world.jobs.tidy_files()
        assert (files.is_open(quiet), told) == (False, []), "nobody opens it again for what is due"
        connection = connect(files.path(quiet))
        (kept,) = connection.execute("SELECT count(*) FROM idempotency_keys").fetchone()
        connection.close()
        return int(kept)

    assert await keys_after(6.4) == 1
    assert await keys_after(0.7) == 1, "too old by now, but tidied less than a day ago"
    assert await keys_after(0.7) == 0


async def test_a_company_that_is_gone_is_not_unavailable(world: World) -> None:
    """A request may have asked for the file of the company while the company was deleted."""
    files = world.installation.files
    for company_id in (1, 7):
        files.file(company_id).failure = f"{company_id}.db is missing"
    assert files.failed.keys() == {1, 7}
    await world.installation.access.companies()
    assert files.failed.keys() == {1}
