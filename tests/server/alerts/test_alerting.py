"""The problems of a real installation reach a receiver and a program: once when they start, and once when they
end.
"""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.receivers import ANY_PORT, Receiver, answer, hang
from tests.support.world import UNLIMITED, World, open_world
from wmsd.base.machine.disk import MEBIBYTE, Disk
from wmsd.events.webhooks.signing import has_valid_signature
from wmsd.server.alerts.alerts import Alerts
from wmsd.server.alerts.alerts_file import FILE, Kept, OpenAlert, read_alerts, write_alerts
from wmsd.server.alerts.channels import channels_of
from wmsd.server.alerts.rules import SETTLED, TRIED_FOR

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
GIGABYTE = 1024 * MEBIBYTE
FULL = Disk(10 * MEBIBYTE, 100 * GIGABYTE)
ROOMY = Disk(90 * GIGABYTE, 100 * GIGABYTE)
APPEND = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"


class Told:
    """A world whose alerts go to a receiver and to a program."""

    def __init__(self, world: World, receiver: Receiver, file: Path) -> None:
        self.world = world
        self.receiver = receiver
        self.file = file

    @property
    def alerts(self) -> Alerts:
        return self.world.jobs.alerts

    @property
    def received(self) -> list[tuple[str, str]]:
        bodies = [json.loads(each.body) for each in self.receiver.received]
        return [(each["event"], each["data"]["alert"]) for each in bodies]

    @property
    def run(self) -> list[tuple[str, str]]:
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        return [(each["event"], each["data"]["alert"]) for each in map(json.loads, lines)]

    async def look(self) -> None:
        await self.alerts.look()
        await self.sent()

    async def sent(self) -> None:
        async with asyncio.timeout(20):
            while tasks := [each for each in self.alerts._sending.values() if not each.done()]:
                await asyncio.wait(tasks)

    async def settled(self) -> None:
        """Check twice: the second check is late enough to end the alerts whose cause is gone."""
        await self.look()
        self.world.clock.advance(SETTLED.total_seconds() + 1)
        await self.look()

    def restarted(self) -> Alerts:
        """Replace the `Alerts` object, as after a restart: its state comes from the file."""
        old, installation = self.alerts, self.world.installation
        ways = channels_of(installation.settings, installation.folder.path, installation.clock)
        data = installation.folder.path
        self.world.jobs.alerts = Alerts(data, installation.clock, installation.ids, old._looks, ways)
        return old


def settings_of(folder: Path, receiver: Receiver) -> dict[str, Any]:
    secret = folder / "secret"
    secret.write_text(f"{SECRET}\n")
    return {
        **UNLIMITED,
        "alerts": {
            "url": receiver.url("/alerts?key=hush"),
            "secret_file": str(secret),
            "allow_networks": ["127.0.0.1/32"],
            "allow_ports": ANY_PORT,
            "allow_http": True,
            "command": [sys.executable, "-c", APPEND, str(folder / "told")],
        },
    }


@asynccontextmanager
async def opened(folder: Path, **changes: Any) -> AsyncIterator[Told]:
    async with Receiver() as receiver:
        settings = settings_of(folder, receiver)
        settings["alerts"] |= changes
        async with open_world(folder / "data", settings) as world:
            yield Told(world, receiver, folder / "told")
            await world.jobs.alerts.stop()


@pytest.fixture
async def told(tmp_path: Path) -> AsyncIterator[Told]:
    async with opened(tmp_path) as found:
        yield found


async def test_a_company_that_is_down_is_told_once_over_restarts_and_once_when_it_is_well(told: Told) -> None:
    world = told.world
    await told.look()
    assert told.received == told.run == []
    await world.call("GET", "/api/articles")
    await (await world.database()).close()
    path = world.installation.files.path(world.company)
    kept = path.read_bytes()
    path.write_bytes(b"not a database" * 1000)
    assert (await world.send("GET", "/api/articles")).status == 503
    for _ in range(3):
        await told.look()
    begun = [("alert.begun", f"company-down:{world.company}")]
    assert told.received == told.run == begun
    await told.restarted().stop()
    await told.settled()
    assert told.received == told.run == begun
    path.write_bytes(kept)
    await world.call("GET", "/api/articles")
    await told.settled()
    await told.look()
    assert told.received == told.run == [*begun, ("alert.over", f"company-down:{world.company}")]
    first, last = (json.loads(each.body)["data"] for each in told.receiver.received)
    assert "ACME" in first["sentence"]
    assert (first["severity"], first["over_at"], first["subject"]) == ("error", None, str(world.company))
    assert last["begun_at"] == first["begun_at"] < last["over_at"]


async def test_a_company_is_not_well_because_nobody_has_used_it_since_the_start(tmp_path: Path) -> None:
    async with Receiver() as receiver:
        settings = settings_of(tmp_path, receiver)
        async with open_world(tmp_path / "data", settings) as world:
            company, path = world.company, world.installation.files.path(world.company)
        path.write_bytes(b"not a database" * 1000)
        moment = "2026-11-20T11:00:00.000Z"
        facts = {"company": "ACME", "why": "gone."}
        alert = OpenAlert(kind="company-down", subject=str(company), facts=facts, begun_at=moment)
        write_alerts(tmp_path / "data", Kept(open=[alert]))
        async with open_world(tmp_path / "data", settings) as world:
            for _ in range(3):
                await world.jobs.alerts.look()
                world.clock.advance(SETTLED.total_seconds() + 1)
            assert [each.kind for each in world.jobs.alerts.kept.open] == ["company-down"]
            assert world.jobs.alerts.kept.open[0].gone_at is None
            await world.jobs.alerts.stop()
        assert receiver.received == []


async def test_the_receiver_can_check_the_signature(told: Told) -> None:
    told.world.jobs.disk_watch.note(FULL)
    await told.look()
    assert told.received == [("alert.begun", "disk-fills"), ("alert.begun", "disk-full")]
    for each in told.receiver.received:
        assert each.method == "POST"
        assert each.headers["x-webhook-event"] == "alert.begun"
        assert has_valid_signature(SECRET, each.headers, each.body)
        assert not has_valid_signature(SECRET, each.headers, each.body + b" ")
        assert int(each.headers["webhook-timestamp"]) == int(told.world.clock.now().timestamp())
    assert len({each.headers["webhook-id"] for each in told.receiver.received}) == 2


async def test_a_disk_with_room_again_ends_both_of_its_alerts(told: Told) -> None:
    told.world.jobs.disk_watch.note(FULL)
    await told.look()
    told.world.jobs.disk_watch.note(ROOMY)
    await told.settled()
    assert sorted(told.received) == [
        *(("alert.begun", name) for name in ("disk-fills", "disk-full")),
        *(("alert.over", name) for name in ("disk-fills", "disk-full")),
    ]
    assert told.alerts.kept.open == []


async def test_deliveries_that_are_given_up_are_told_and_are_over_after_a_day(told: Told) -> None:
    world = told.world
    hook = {"name": "W", "url": "https://example.com/", "events": ["*"], "secret": "x" * 32}
    await world.call("POST", "/api/webhooks", hook, status=201)
    await give_up(world, 3)
    await told.look()
    alert = f"deliveries-given-up:{world.company}"
    assert told.received == [("alert.begun", alert)]
    assert ": 3 had failed when" in json.loads(told.receiver.received[0].body)["data"]["sentence"]
    world.clock.advance(20 * 3600)
    await give_up(world, 4)
    await told.look()
    world.clock.advance(20 * 3600)
    await told.settled()
    assert told.received == [("alert.begun", alert)]
    world.clock.advance(4 * 3600)
    await told.settled()
    assert told.received == [("alert.begun", alert), ("alert.over", alert)]


async def give_up(world: World, count: int) -> None:
    database = await world.database()
    await database.write(
        lambda tx: tx.execute(
            "INSERT INTO webhook_subscription_counts (subscription_id, status, rows) VALUES (1, 'exhausted', ?) "
            "ON CONFLICT DO UPDATE SET rows = excluded.rows",
            (count,),
        )
    )
    await world.jobs.today.keep()


async def test_a_token_is_told_two_weeks_before_its_end_and_is_over_when_it_is_revoked(told: Told) -> None:
    world = told.world
    days = await world.installation.platform.read(
        lambda tx: tx.value("SELECT julianday(max(expires_at)) - julianday(?) FROM tokens", (tx.timestamp,))
    )
    world.clock.advance((days - 14.5) * 86_400)
    await told.look()
    assert told.received == []
    world.clock.advance(86_400)
    await told.look()
    assert [event for event, _ in told.received] == ["alert.begun"]
    alert = told.received[0][1]
    assert alert.startswith("token-expires:")
    await world.installation.platform.write(
        lambda tx: tx.execute("UPDATE tokens SET revoked_at = ? WHERE revoked_at IS NULL", (tx.timestamp,))
    )
    await told.settled()
    assert told.received[1:] == [("alert.over", alert)]
    assert world.token not in "".join(each.body.decode() for each in told.receiver.received)


async def test_a_receiver_that_fails_is_tried_again_in_order_and_told_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as told:
        told.receiver.script += [answer(500, b"broken \x1b[31m"), answer(500), answer(500)]
        told.world.jobs.disk_watch.note(FULL)
        await told.look()
        assert told.run == [("alert.begun", "disk-fills"), ("alert.begun", "disk-full")]
        assert told.received == [("alert.begun", "disk-fills")]
        await told.look()
        assert len(told.received) == 1
        failure = told.alerts.kept.failures["url"]
        assert failure.error == "The receiver answered with status 500. Its answer was: broken [31m."
        assert read_alerts(told.world.installation.folder.path) == told.alerts.kept
        for minutes in (1, 2):
            told.world.clock.advance(minutes * 60)
            await told.look()
        assert [alert for _, alert in told.received] == ["disk-fills"] * 3
        told.world.clock.advance(5 * 60)
        await told.look()
        assert [alert for _, alert in told.received] == [*["disk-fills"] * 4, "disk-full"]
        assert len({each.headers["webhook-id"] for each in told.receiver.received}) == 2
        attempts = [each.headers["x-webhook-attempt"] for each in told.receiver.received]
        assert attempts == ["1", "2", "3", "4", "1"]
        assert told.alerts.kept.failures == {}
        assert told.alerts.kept.waiting_of("url") == []
    lines = [each.getMessage() for each in caplog.records if "alerts.url" in each.getMessage()]
    assert len([each for each in lines if each.startswith("alerts cannot be sent through alerts.url: ")]) == 1
    assert not any("hush" in each for each in lines)


async def test_what_no_receiver_takes_in_a_day_is_given_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as told:
        told.receiver.script += [answer(500)] * 500
        told.world.jobs.disk_watch.note(FULL)
        await told.look()
        for _ in range(2 * int(TRIED_FOR / timedelta(minutes=15)) + 20):
            told.world.clock.advance(15 * 60)
            await told.alerts.look()
            await told.sent()
        assert told.alerts.kept.waiting_of("url") == []
        assert len(told.receiver.received) < 2 * 24 * 4 + 20
    assert (
        len(
            [
                each
                for each in caplog.records
                if "could not be sent through alerts.url for a day" in each.getMessage()
            ]
        )
        == 2
    )


async def test_one_way_that_hangs_holds_up_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as told:
        told.receiver.script.append(hang)
        told.world.jobs.disk_watch.note(FULL)
        await told.alerts.look()
        async with asyncio.timeout(20):
            while len(told.run) < 2:  # noqa: ASYNC110  # there is no event to wait for
                await asyncio.sleep(0.02)
        await told.alerts.look()
        await told.world.call("GET", "/api/articles")
        assert len(told.alerts.kept.waiting_of("url")) == 2
        async with asyncio.timeout(5):
            await told.alerts.stop()
        assert len(read_alerts(told.world.installation.folder.path).waiting_of("url")) == 2


@pytest.mark.parametrize("held", [b"", b"\xff\xff", b"[]", b'{"open": 7}', b'{"waiting": {"mail": []}}'])
async def test_a_file_that_cannot_be_read_is_made_anew(told: Told, held: bytes) -> None:
    file = told.world.installation.folder.path / FILE
    file.write_bytes(held)
    told.world.jobs.disk_watch.note(FULL)
    await told.look()
    assert len(told.received) == 2
    assert {each.kind for each in read_alerts(file.parent).open} == {"disk-fills", "disk-full"}


async def test_a_file_that_cannot_be_written_is_told_once_and_alerts_go_on(
    told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    blocking = told.world.installation.folder.path / f"{FILE}.new"
    blocking.mkdir()
    told.world.jobs.disk_watch.note(FULL)
    for _ in range(3):
        await told.look()
    assert len(told.received) == len(told.run) == 2
    said = [each for each in caplog.records if "alerts.json cannot be written" in each.getMessage()]
    assert len(said) == 1
    blocking.rmdir()
    await told.look()
    assert len(read_alerts(blocking.parent).open) == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"secret_file": "/does/not/exist"}, "The file /does/not/exist of alerts.secret_file cannot be read"),
        ({"allow_networks": []}, "127.0.0.1"),
        ({"allow_http": False}, "The URL must begin with https://."),
    ],
)
async def test_what_is_set_wrongly_is_said(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    async with opened(tmp_path, **changes) as told:
        told.world.jobs.disk_watch.note(FULL)
        await told.look()
        assert said in told.alerts.kept.failures["url"].error
        assert told.receiver.received == []
        assert len(told.run) == 2


async def test_without_a_way_alerts_are_known_and_nothing_waits(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        world.jobs.disk_watch.note(FULL)
        await world.jobs.alerts.look()
        kept = read_alerts(world.installation.folder.path)
        assert [each.kind for each in kept.open] == ["disk-fills", "disk-full"]
        assert kept.waiting == {}
        world.jobs.disk_watch.note(ROOMY)


async def test_a_quiet_house_writes_no_file(told: Told, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "wmsd.alerts")
    for _ in range(3):
        await told.look()
    assert not (told.world.installation.folder.path / FILE).exists()
    assert [each.getMessage() for each in caplog.records if each.name == "wmsd.alerts"] == []
