"""The counters of requests: where each request is counted, and what the durations mean."""

import pytest

from tests.support.world import World
from wmsd.dispatch.request_measures import (
    BOUNDS,
    OTHER,
    STREAMS,
    SURFACES,
    RequestMeasures,
    quantile,
    surface_of,
)
from wmsd.interfaces.service import FOR_BROWSERS
from wmsd.server.figures.loop_lag import BEATS, LoopLag


@pytest.mark.parametrize(
    ("template", "surface"),
    [
        ("/api", "rest_v1"),
        ("/api/articles/{id}", "rest_v1"),
        ("/api/v2/stock", "rest_v2"),
        ("/api/graphql", "graphql"),
        ("/api/kernel/v1/stats", "kernel"),
        ("/api/integrations/etsm/orders", "transports"),
        ("/api/health", "health"),
        ("/openapi.json", "rest_v1"),
        ("/docs/{name}", "guide"),
        ("/pages/{name}", "files"),
        ("/live", STREAMS),
        ("/lively", "pages"),
        ("/today", "pages"),
        ("/{anything:(?s:.*)}", OTHER),
    ],
)
def test_each_address_belongs_to_a_surface(template: str, surface: str) -> None:
    assert surface_of(template) == surface


async def test_every_surface_has_routes(world: World) -> None:
    for_browsers = await world.app[FOR_BROWSERS].prepare()
    routes = (*world.app.router.routes(), *for_browsers.routes())
    served = {surface_of(route.resource.canonical) for route in routes if route.resource}
    assert served | {OTHER} == set(SURFACES) == world.installation.measures.surfaces.keys()


def test_a_time_at_a_bound_is_within_it() -> None:
    counted = RequestMeasures().of("/api")
    for bound in BOUNDS:
        counted.note(200, bound)
    counted.note(503, BOUNDS[-1] + 1)
    assert counted.buckets == [1] * (len(BOUNDS) + 1)
    assert counted.by_class == [len(BOUNDS), 0, 0, 1]


def test_the_quantile_lies_in_its_bucket() -> None:
    assert quantile([0] * 14, 0.5) is None
    assert quantile([10, *[0] * 13], 0.5) == pytest.approx(0.0005)
    assert quantile([0, 100, *[0] * 12], 0.99) == pytest.approx(0.001 + 0.99 * 0.0015)
    assert quantile([50, *[0] * 12, 50], 0.99) == BOUNDS[-1]


def test_the_last_minute_forgets_what_is_older_and_leaves_streams_out() -> None:
    measures = RequestMeasures()
    pulse = LoopLag(measures)
    assert pulse.last_minute(0.0) == (0.0, [])
    pulse.beat(0.0, 0.0)
    measures.of("/api").note(200, 0.002)
    measures.of("/live").note(200, 600.0)
    seconds, answered = pulse.last_minute(1.0)
    assert (seconds, sum(answered)) == (1.0, 1)
    assert quantile(answered, 0.5) == pytest.approx(0.00175)
    assert quantile(answered, 0.99) == pytest.approx(0.002485)
    for second in range(1, BEATS + 1):
        pulse.beat(float(second), second + 0.5)
    assert sum(pulse.last_minute(61.0)[1]) == 0
    assert pulse.lag == pulse.most_lag == 0.5
