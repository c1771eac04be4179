"""`/metrics`: who may read it, and that the metrics agree with the requests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.world import UNLIMITED, World, open_world
from wmsd.base.machine.secret_files import LEAST_TOKEN
from wmsd.dispatch.request_measures import BOUNDS
from wmsd.interfaces.http.metrics import listening_for_scrapes
from wmsd.interfaces.service import LIVE_FIGURES
from wmsd.server.figures import live
from wmsd.server.figures.metrics import METRICS

TOKEN = "a-token-that-nobody-guesses"
Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture(autouse=True)
def _each_time_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "HOLDS_SECONDS", 0.0)


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    file = tmp_path / "metrics-token"
    file.write_text(f"{TOKEN}\n")
    return file


@pytest.fixture
async def watched(tmp_path: Path, token_file: Path) -> AsyncIterator[World]:
    settings = {**UNLIMITED, "metrics": {"token_file": str(token_file)}}
    async with open_world(tmp_path / "data", settings) as world:
        yield world


def put(file: Path, content: bytes) -> None:
    file.write_bytes(content)


async def scrape(world: World) -> Series:
    answer = await world.send("GET", "/metrics", token=TOKEN)
    assert answer.status == 200, answer.raw
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return series(answer.raw.decode())


def series(text: str) -> Series:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def requests(found: Series, surface: str, status_class: str) -> float:
    return found["wmsd_requests_total", (("class", status_class), ("surface", surface))]


async def test_it_is_off_unless_it_is_set(world: World) -> None:
    for token in ("", world.token, TOKEN):
        assert (await world.send("GET", "/metrics", token=token)).status == 404


@pytest.mark.parametrize("token", ["", "forged", TOKEN[:-1], f"{TOKEN}x", "ä" * 30])
async def test_without_the_token_nobody_reads_it(watched: World, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    refused = await watched.send("GET", "/metrics", token="", company="", headers=headers)
    assert refused.status == 401
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    assert b"wmsd_" not in refused.raw


async def test_no_token_of_the_api_reads_it(watched: World) -> None:
    await watched.open_kernel()
    for token in (watched.token, watched.kernel_token):
        assert (await watched.send("GET", "/metrics", token=token)).status == 401


async def test_guesses_are_counted_by_address(tmp_path: Path, token_file: Path) -> None:
    settings = {"limits": {"open_per_minute": 5}, "metrics": {"token_file": str(token_file)}}
    async with open_world(tmp_path / "data", settings) as world:
        statuses = [(await world.send("GET", "/metrics", token="no")).status for _ in range(7)]
    assert statuses == [401] * 5 + [429] * 2


async def test_a_changed_token_holds_at_once(watched: World, token_file: Path) -> None:
    put(token_file, b"another-token-that-nobody-guesses")
    assert (await watched.send("GET", "/metrics", token=TOKEN)).status == 401
    other = await watched.send("GET", "/metrics", token="another-token-that-nobody-guesses")
    assert other.status == 200


@pytest.mark.parametrize(
    "content", [b"", b"x" * (LEAST_TOKEN - 1), b"two words of some length", b"\xff" * 30 + b"\0"]
)
async def test_a_token_file_that_is_of_no_use_lets_nobody_in(
    watched: World, token_file: Path, content: bytes
) -> None:
    put(token_file, content)
    for token in ("", content.decode("latin-1").strip("\0 ") or "x", TOKEN):
        headers = {"Authorization": f"Bearer {token}"}
        answer = await watched.send("GET", "/metrics", token="", headers=headers)
        assert answer.status == 503
    put(token_file, b"")
    assert (await watched.send("GET", "/metrics", token=TOKEN)).status == 503


async def test_what_is_read_is_what_was_done(watched: World) -> None:
    before = await scrape(watched)
    await watched.call("GET", "/api/articles")
    await watched.call("GET", "/api/v2/stock")
    await watched.call("GET", "/api/articles/7", status=404)
    await watched.send("POST", "/api/graphql", {"query": "{ articles { data { id } } }"})
    found = await scrape(watched)
    for surface, status_class, more in (
        ("rest_v1", "2xx", 1),
        ("rest_v1", "4xx", 1),
        ("rest_v2", "2xx", 1),
        ("graphql", "2xx", 1),
        ("kernel", "2xx", 0),
        ("rest_v1", "5xx", 0),
    ):
        assert requests(found, surface, status_class) - requests(before, surface, status_class) == more
    of_rest = found["wmsd_request_duration_seconds_count", (("surface", "rest_v1"),)]
    assert of_rest == requests(found, "rest_v1", "2xx") + requests(found, "rest_v1", "4xx")
    assert found["wmsd_companies", ()] == 1
    assert found["wmsd_disk_bytes", ()] > found["wmsd_disk_free_bytes", ()] > 0
    assert found["process_resident_memory_bytes", ()] > 10_000_000


async def test_buckets_add_up(watched: World) -> None:
    await watched.call("GET", "/api/articles")
    found = await scrape(watched)
    name = "wmsd_request_duration_seconds_bucket"
    buckets = [found[name, (("le", str(bound)), ("surface", "rest_v1"))] for bound in (*BOUNDS, "+Inf")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == found["wmsd_request_duration_seconds_count", (("surface", "rest_v1"),)] == 1


async def test_the_number_of_series_does_not_grow_with_what_is_asked_for(watched: World) -> None:
    before = await scrape(watched)
    for number in range(20):
        await watched.new_company(f"C{number}")
        await watched.send("GET", f"/api/nothing/{number}")
        await watched.send("GET", f"/{number}/?{number}")
    assert (await scrape(watched)).keys() == before.keys()


async def test_every_metric_is_there_or_says_when_it_is_absent(watched: World) -> None:
    await watched.call("GET", "/api/articles")  # the request adds to the costs
    told = {family.name for family in text_string_to_metric_families(await _text(watched))}
    assert told == {each.name.removesuffix("_total") for each in METRICS}
    values = {name for name, _ in await scrape(watched)}
    absent = {each.name for each in METRICS if each.kind != "histogram" and each.name not in values}
    assert {each.name for each in METRICS if "absent" in each.help} >= absent - {"wmsd_replica_files_behind"}


async def _text(world: World) -> str:
    return (await world.send("GET", "/metrics", token=TOKEN)).raw.decode()


async def test_head_is_as_get_without_the_body(watched: World) -> None:
    answer = await watched.send("HEAD", "/metrics", token=TOKEN)
    assert (answer.status, answer.raw) == (200, b"")
    assert int(answer.headers["Content-Length"]) > 1000


async def test_an_address_of_its_own_has_the_metrics_and_nothing_else(tmp_path: Path, token_file: Path) -> None:
    chosen = {**UNLIMITED, "metrics": {"listen": "127.0.0.1:0"}}
    async with open_world(tmp_path / "data", chosen) as world:
        settings = world.installation.settings.metrics
        async with listening_for_scrapes(settings, world.app[LIVE_FIGURES]) as address:
            assert address is not None
            async with world.session.get(address) as answer:
                assert answer.status == 200
                assert "wmsd_companies 1.0" in await answer.text()
            for path in ("/", "/api/health", "/metrics/x"):
                async with world.session.get(address.replace("/metrics", path)) as answer:
                    assert answer.status == 404
            async with world.session.post(address, data=b"x") as answer:
                assert answer.status == 405
        assert (await world.send("GET", "/metrics")).status == 404
        with_token = settings.model_copy(update={"token_file": str(token_file)})
        async with listening_for_scrapes(with_token, world.app[LIVE_FIGURES]) as address:
            assert address is not None
            async with world.session.get(address) as answer:
                assert answer.status == 401
            async with world.session.get(address, headers={"Authorization": f"Bearer {TOKEN}"}) as answer:
                assert answer.status == 200
