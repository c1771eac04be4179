"""Access to the stored requests of a test."""

import json
from typing import Any

from tests.support.world import Answer, World
from wmsd.request_history.history import END
from wmsd.request_history.lines import Entry


def id_of(answer: Answer) -> str:
    return str(answer.headers["X-Request-Id"])


def kept(world: World, company: int | None = None) -> list[Entry]:
    """Return the stored requests of the company, the newest first."""
    found = world.installation.history.newest_first(company or world.company, END)
    return [entry for entry in found if entry is not None]


def statuses(world: World, company: int | None = None) -> list[int]:
    """Return the statuses of the stored requests, the oldest first."""
    return [entry.shown["status"] for entry in reversed(kept(world, company))]


def whole(world: World, answer: Answer, company: int | None = None) -> dict[str, Any]:
    """Return everything that is stored about the request that got `answer`."""
    (found,) = [each for each in kept(world, company) if each.shown["id"] == id_of(answer)]
    return {**found.shown, **json.loads(found.rest)}
