"""A frozen company in every interface: each write is refused, each read works."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.asking import DONE, WAYS, Question, Sender, Way, asking
from tests.support.two_tenants import OWN, TwoTenants, body_of, open_premises, sample_of
from tests.support.world import UNLIMITED, World, open_world
from wmsd.base import timestamps
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.companies import actions

SENTENCE = "OWN is being moved and has accepted no changes since "


def question_of(way: Way, company: TwoTenants) -> Question:
    sample = sample_of(way.operations[0])
    return Question(way, {name: company.there[kind] for name, kind in sample.parts.items()}, body_of(sample))


async def freeze(world: World) -> None:
    await world.installation.platform.write(lambda tx: actions.freeze_company(tx, OWN))


async def test_writing_is_refused_everywhere_and_reading_works(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world, asking(world) as asker:
        own, theirs = await open_premises(world, more_of_theirs=1, more_of_own=1)
        await freeze(world)
        before = await own.rows()
        wrong: list[Any] = []
        for way in WAYS:
            sender = Sender(own.site_token) if way.interface == "ETSM" else Sender(world.token, str(own.id))
            (said,) = await asker.ask(sender, [question_of(way, own)])
            if any(each.writes for each in way.operations):
                is_right = (said.status, said.code) == (503, "SERVICE_UNAVAILABLE")
                is_right &= SENTENCE in str(said.shown)
                if way.interface.startswith(("REST", "ETSM")):
                    is_right &= said.headers["Retry-After"] == "60"
            else:
                is_right = said.code == DONE
            if not is_right:
                wrong.append((str(way), said.status, said.code, said.shown))
        assert wrong == []
        assert await own.rows() == before
        await theirs.send("POST", "/api/articles", {"code": "NEW", "name": "New"})  # another company still works


async def test_who_was_admitted_before_the_freeze_is_refused_when_its_turn_comes(world: World) -> None:
    """The dispatcher has admitted the request, and the freeze is announced before its unit of work starts."""
    await world.call("POST", "/api/articles", {"code": "A", "name": "A"}, status=201, events=["article.created"])
    world.installation.freezes.begin(1, "2026-11-20T12:00:00.000Z")
    answer = await world.call("POST", "/api/articles", {"code": "B", "name": "B"}, status=503)
    assert answer.body["code"] == "SERVICE_UNAVAILABLE"
    world.installation.freezes.end(1)
    await world.call("POST", "/api/articles", {"code": "B", "name": "B"}, status=201, events=["article.created"])


@pytest.mark.parametrize(("hours", "status"), [(23, "ok"), (25, "degraded")])
async def test_a_freeze_that_was_forgotten_degrades_health(world: World, hours: int, status: str) -> None:
    since = timestamps.to_text(world.installation.clock.now() - timedelta(hours=hours))

    def freeze_at(tx: Transaction) -> None:
        tx.execute("UPDATE companies SET frozen_at = ? WHERE id = 1", (since,))

    await world.installation.platform.write(freeze_at)
    found = (await world.call("GET", "/api/health")).body
    assert found["status"] == status
    assert found["checks"]["moves"]["ok"] is (status == "ok")
    assert (found["checks"]["moves"]["companies_frozen"], found["checks"]["moves"]["frozen_since"]) == (1, since)
    stranger = (await world.call("GET", "/api/health", token="", company="")).body
    assert stranger["checks"]["moves"].keys() <= {"ok", "degraded"}
