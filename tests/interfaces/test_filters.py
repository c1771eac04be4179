"""Every filter that a list declares works: no filter causes a 500."""

from urllib.parse import urlencode

from tests.support.two_tenants import open_premises, sample_of
from tests.support.world import World
from wmsd.contract.list_queries import Query
from wmsd.contract.operation import Operation
from wmsd.interfaces.service import ROUTES

VALUES = (
    "1",
    "true",
    "2026-01-01T00:00:00Z",
    "2026-01-01",
    "CREAT",
    "DESCHIS",
    "DRAFT",
    "CLIENT",
    "article.created",
    "pending",
)
"""A value of each type; the first value that a filter accepts is sent."""
LISTS = [
    route
    for route in ROUTES
    if route.method == "GET"
    and route.operation.scope in ("company", "site")
    and route.operation.query is not None
    and route.operation.answer in ("page", "cursor")
]


def filters(operation: Operation) -> list[str]:
    query = operation.query
    assert query is not None
    assert issubclass(query, Query)
    return query.filter_names()


async def test_every_filter_of_every_list_is_known(world: World) -> None:
    own, _ = await open_premises(world, more_of_theirs=0)
    events = await world.send("GET", "/api/v2/events", company=own.id)
    values = [*VALUES, events.body["data"][0]["id"]]
    tried = 0
    for route in LISTS:
        parts = sample_of(route.operation).parts
        path = route.path.format(**{name: own.there[kind] for name, kind in parts.items()})
        token = own.site_token if route.operation.scope == "site" else None
        for name in filters(route.operation):
            statuses = []
            for value in values:
                asked = f"{path}?{urlencode({name: value})}"
                answer = await world.send("GET", asked, company=own.id, token=token)
                statuses.append(answer.status)
                if answer.status != 422:
                    break
            assert statuses[-1] == 200, (path, name, statuses)
            tried += 1
    assert tried > 30
