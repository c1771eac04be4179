"""Tests of the clock watch: wmsd deletes nothing while its clock was just set, or was set while the server was
stopped.
"""

from datetime import datetime, timedelta

import pytest

from tests.support.shop import Shop
from tests.support.world import World
from wmsd.base.clock import OrderedClock
from wmsd.data_folder import clock_watch
from wmsd.data_folder.clock_watch import ClockWatch
from wmsd.db.engine.sqlite import connect

DAY = 86_400
KEY = {"Idempotency-Key": "k"}
ORDER = {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": 3}]}
WARNING = (
    "the clock was set forward by 95 days, so wmsd deletes no old data until "
    "2027-02-24T12:00:00.000Z. If the clock is right, run `wmsd clock confirm`"
)


async def hourly(world: World) -> None:
    await world.jobs.tidy_files()
    await world.jobs.sweep_tokens()


async def kept(world: World) -> tuple[int, int, int]:
    """Return the number of events, keys and tokens."""
    tokens: int = await world.installation.platform.read(lambda tx: tx.value("SELECT count(*) FROM tokens"))
    events, keys = [
        (await world.rows(f"SELECT count(*) FROM {table}"))[0][0] for table in ("events", "idempotency_keys")
    ]
    return events, keys, tokens


async def health_of(world: World) -> dict[str, object]:
    answer = await world.send("GET", "/api/health")
    found: dict[str, object] = answer.body["checks"]["clock"]
    return found


async def test_a_clock_set_forward_deletes_nothing_and_is_told_once(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    world = shop.world
    await world.jobs.clock_watch.start()
    first = await world.send("POST", "/api/sales-orders", ORDER, headers=KEY)
    before = await kept(world)
    assert min(before) > 0
    world.clock.set_forward(95 * DAY)
    await hourly(world)
    await hourly(world)
    assert await kept(world) == before
    assert [record.getMessage() for record in caplog.records if record.name == "wmsd.clock"] == [WARNING]
    world.clock.set_back(95 * DAY)
    await hourly(world)
    again = await world.call("POST", "/api/sales-orders", ORDER, status=201, headers=KEY)
    assert again.raw == first.raw


async def test_a_key_is_known_while_the_clock_is_wrong(shop: Shop) -> None:
    first = await shop.world.send("POST", "/api/articles", {"code": "N", "name": "N"}, headers=KEY)
    shop.world.clock.set_forward(30 * DAY)
    again = await shop.world.call("POST", "/api/articles", {"code": "N", "name": "N"}, status=201, headers=KEY)
    assert again.raw == first.raw


async def test_a_token_that_expired_by_a_wrong_clock_is_refused_and_works_again(world: World) -> None:
    await world.jobs.clock_watch.start()
    world.clock.set_forward(100 * DAY)
    await hourly(world)
    await world.call("GET", "/api/articles", status=401)
    world.clock.set_back(100 * DAY)
    await hourly(world)
    await world.call("GET", "/api/articles", status=200)


async def test_after_a_day_it_is_believed(shop: Shop) -> None:
    world = shop.world
    await world.jobs.clock_watch.start()
    await world.send("POST", "/api/sales-orders", ORDER, headers=KEY)
    world.clock.set_forward(100 * DAY)
    await hourly(world)
    world.clock.advance(DAY)
    await hourly(world)
    assert await kept(world) == (0, 0, 0)


async def test_after_a_person_said_so_it_is_believed(shop: Shop) -> None:
    """A clock is trusted after a person confirmed it by the command line, which is another process."""
    world = shop.world
    await world.jobs.clock_watch.start()
    await world.send("POST", "/api/sales-orders", ORDER, headers=KEY)
    world.clock.set_forward(100 * DAY)
    await world.jobs.clock_watch.tick()
    assert (await health_of(world))["ok"] is False
    await world.installation.platform.write(clock_watch.confirm)
    await world.jobs.clock_watch.hear()
    assert await health_of(world) == {"ok": True}
    await hourly(world)
    assert await kept(world) == (0, 0, 0)


async def test_health_tells_of_it(world: World) -> None:
    await world.jobs.clock_watch.start()
    assert await health_of(world) == {"ok": True}
    world.clock.set_back(3600)
    await world.jobs.clock_watch.tick()
    answer = await world.call("GET", "/api/health")
    assert answer.body["status"] == "degraded"
    assert answer.body["checks"]["clock"] == {
        "ok": False,
        "degraded": True,
        "doubted_since": "2026-11-20T11:00:00.000Z",
    }


@pytest.mark.parametrize(
    ("stood_still", "step", "is_steady"), [(3600, 0, True), (95 * DAY, 0, False), (60, -180, False)]
)
async def test_a_start_compares_with_the_last_moment_that_was_kept(
    world: World, stood_still: float, step: float, is_steady: bool
) -> None:
    """A start compares the clock with the last stored time.

    A long stop alone is no reason for doubt. Only a clock that went back must have been set.
    """
    await ClockWatch(world.installation.platform, world.installation.clock).keep()
    world.clock.advance(stood_still)
    world.clock.set_forward(step)
    started = ClockWatch(world.installation.platform, OrderedClock(world.clock))
    await started.start()
    assert (started.is_steady(), started.known.step is not None) == (is_steady, step != 0)


async def test_a_clock_that_is_steady_deletes_what_is_old(shop: Shop) -> None:
    world = shop.world
    await world.jobs.clock_watch.start()
    await world.send("POST", "/api/sales-orders", ORDER, headers=KEY)
    world.clock.advance(8 * DAY)
    await hourly(world)
    events, keys, tokens = await kept(world)
    assert (events > 0, keys, tokens) == (True, 0, 1)


async def test_the_jobs_keep_what_is_known(world: World) -> None:
    """The jobs store what is known, so that a kill loses at most ten minutes. A change is stored immediately."""
    await world.jobs.clock_watch.start()
    world.clock.set_forward(DAY)
    await world.jobs.clock_watch.tick()
    other = connect(world.installation.folder.platform_file)
    assert other.execute("SELECT doubted_since, step_seconds FROM clock").fetchone() == (
        "2026-11-21T12:00:00.000Z",
        DAY,
    )
    other.close()


async def changed_at(world: World) -> str:
    """Change an article, and return its `updated_at`."""
    answer = await world.send("PATCH", "/api/articles/1", {"name": str(world.clock.seconds)})
    moment: str = answer.body["updated_at"]
    return moment


async def test_a_clock_that_is_wrong_for_ten_seconds_leaves_nothing_behind(shop: Shop) -> None:
    world = shop.world
    world.clock.set_forward(21 * DAY)
    assert await changed_at(world) < "2026-11-20T12:01"
    world.clock.advance(10)
    world.clock.set_back(21 * DAY)
    assert (await changed_at(world)).startswith("2026-11-20T12:00:1")


async def test_after_ten_minutes_changes_follow_it_and_health_and_log_say_so(
    shop: Shop, caplog: pytest.LogCaptureFixture
) -> None:
    world = shop.world
    world.clock.set_forward(21 * DAY)
    await changed_at(world)
    world.clock.advance(600)
    assert (await changed_at(world)).startswith("2026-12-11T12:10")
    world.clock.set_back(21 * DAY)
    await world.installation.marks.write()
    await world.installation.marks.write()
    assert (await changed_at(world)).startswith("2026-12-11T12:10"), "after the last one, whatever the clock says"
    assert await health_of(world) == {"ok": True, "companies_ahead": 1, "ahead_until": "2026-12-11T12:10:00.000Z"}
    [line] = [each.getMessage() for each in caplog.records if "the last change of company" in each.getMessage()]
    assert line.startswith(
        "the last change of company ACME has the time 2026-12-11T12:10:00.000Z, so the clock was wrong then"
    )
    world.clock.advance(22 * DAY)
    caplog.set_level("INFO", "wmsd.companies")
    await world.installation.marks.write()
    assert caplog.records[-1].getMessage().startswith("the last change of company ACME is now at most an hour")


async def test_a_command_beside_the_server_orders_its_changes_as_that_does(world: World) -> None:
    """A command orders its changes as the server does.

    The command only sees the current clock, but the server has seen the clock jump.
    """
    platform, watch = world.installation.platform, world.jobs.clock_watch

    async def order() -> datetime:
        command = OrderedClock(world.clock)
        await clock_watch.order_as_server(platform, command, is_running=True)
        return command.ordering()

    assert await order() == world.clock.wall, "no server has run"
    await watch.start()
    await watch.tick()
    assert await order() == world.clock.wall
    right = world.clock.wall
    world.clock.set_forward(21 * DAY)
    await watch.tick()
    assert await order() == right
    world.clock.advance(600)
    await watch.keep()
    assert await order() < right + timedelta(seconds=600), "the server has not looked yet"
    await watch.tick()
    await watch.keep()
    assert await order() == world.clock.wall
    world.clock.set_back(21 * DAY)
    await watch.tick()
    assert await order() == world.clock.wall


async def test_after_a_long_stop_a_command_follows_the_clock(world: World) -> None:
    await world.jobs.clock_watch.keep()
    world.clock.advance(3 * DAY)
    await world.jobs.clock_watch.start()
    await world.jobs.clock_watch.tick()
    command = OrderedClock(world.clock)
    await clock_watch.order_as_server(world.installation.platform, command, is_running=True)
    assert command.ordering() == world.clock.wall


async def test_a_command_without_a_server_does_not_follow_a_clock_that_is_years_ahead(world: World) -> None:
    platform = world.installation.platform

    async def order() -> datetime:
        command = OrderedClock(world.clock)
        await clock_watch.order_as_server(platform, command, is_running=False)
        return command.ordering()

    assert await order() == world.clock.wall, "no server has ever run"
    await world.jobs.clock_watch.keep()
    last = world.clock.wall
    world.clock.set_forward(30 * DAY)
    assert await order() == world.clock.wall, "a stop may be as long"
    world.clock.set_forward(3650 * DAY)
    assert await order() == last
    await platform.write(clock_watch.confirm)
    assert await order() == world.clock.wall, "somebody says that it is right"


async def test_a_start_years_later_orders_changes_as_before_until_somebody_confirms(shop: Shop) -> None:
    world = shop.world
    await world.jobs.clock_watch.keep()
    world.clock.set_forward(32 * DAY)
    await world.jobs.clock_watch.start()
    ordering = world.installation.clock.ordering
    assert ordering() < world.clock.wall
    await world.installation.platform.write(clock_watch.confirm)
    await world.jobs.clock_watch.hear()
    assert ordering() == world.clock.wall
