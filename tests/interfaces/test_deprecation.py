"""A route that will be removed announces this in its replies and in its description, a year in advance."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.world import UNLIMITED, World, open_world
from wmsd.contract.route import Deprecation, Route
from wmsd.interfaces import browser_service, service
from wmsd.interfaces.openapi.document import openapi_document
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2
from wmsd.platform.discovery import versions

SINCE = Deprecation(datetime(2026, 11, 23, tzinfo=UTC))
TOLD = {"Deprecation": "@1795392000", "Sunset": "Tue, 23 Nov 2027 00:00:00 GMT"}


def deprecated(routes: tuple[Route, ...], path: str) -> tuple[Route, ...]:
    return tuple(replace(each, deprecation=SINCE) if each.path == path else each for each in routes)


@pytest.fixture
async def ageing(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """Open an installation in which the articles of version 2 are deprecated; `world` stays unchanged."""
    routes = deprecated(tuple(V2), "/api/v2/articles")
    for module in (service, browser_service):
        monkeypatch.setattr(module, "V2", routes)
    monkeypatch.setattr(service, "SERVED", (*V1, *routes, *service.INTERNAL))
    async with open_world(tmp_path / "ageing", UNLIMITED) as opened:
        yield opened


async def test_every_answer_of_the_route_says_so_and_no_other(ageing: World) -> None:
    for query, token in (("", None), ("?search=x", None), ("?nonsense=1", None), ("", "wrong")):
        answer = await ageing.send("GET", f"/api/v2/articles{query}", token=token)
        assert {name: answer.headers.get(name) for name in TOLD} == TOLD, answer.status
    tag = (await ageing.send("GET", "/api/v2/articles")).headers["ETag"]
    known = await ageing.send("GET", "/api/v2/articles", headers={"If-None-Match": tag})
    assert (known.status, known.headers["Sunset"]) == (304, TOLD["Sunset"])
    for path in ("/api/articles", "/api/v2/stock"):
        assert not {"Deprecation", "Sunset"} & set((await ageing.send("GET", path)).headers)


async def test_the_reference_says_it(ageing: World) -> None:
    for page in ("/docs/api/articles", "/docs/api/articles/list_sparse_articles"):
        shown = (await ageing.send("GET", page, token="", company="")).raw.decode()
        assert shown.count("Deprecated: works until 2027-11-23.") == 1, page


async def test_a_batch_says_it_in_the_place_of_the_request(ageing: World) -> None:
    requests = [{"method": "GET", "path": path} for path in ("/api/v2/articles", "/api/v2/stock")]
    slots = (await ageing.send("POST", "/api/v2/batch", {"requests": requests})).body["responses"]
    assert {name: slots[0]["headers"].get(name) for name in TOLD} == TOLD
    assert not TOLD.keys() & slots[1]["headers"].keys()


def test_the_descriptions_say_it() -> None:
    routes = deprecated(tuple(V2), "/api/v2/articles")
    paths = openapi_document("t", "1", routes)["paths"]
    told = paths["/api/v2/articles"]["get"]
    assert told["deprecated"] is True
    assert TOLD.keys() <= told["responses"]["200"]["headers"].keys()
    assert TOLD.keys() <= told["responses"]["422"]["headers"].keys()
    assert "deprecated" not in paths["/api/v2/stock"]["get"]


def test_a_version_is_deprecated_when_all_of_it_is() -> None:
    some, every = deprecated(tuple(V1), "/api/articles"), tuple(replace(each, deprecation=SINCE) for each in V1)
    assert [each["state"] for each in versions(V1, V2)] == ["supported", "current"]
    assert [each["state"] for each in versions(some, V2)] == ["supported", "current"]
    assert [each["state"] for each in versions(every, V2)] == ["deprecated", "current"]


@pytest.mark.parametrize(
    ("host", "forwarded", "url"),
    [
        ("wms.example.com", "", "http://wms.example.com/docs/changelog"),
        ("10.0.0.5:8480", "", "http://10.0.0.5:8480/docs/changelog"),
        ("[::1]:8480", "", "http://[::1]:8480/docs/changelog"),
        ("wms.example.com", "https", "http://wms.example.com/docs/changelog"),
        ("a b", "", "/docs/changelog"),
        ('x"><script>', "", "/docs/changelog"),
        ("a.example@b.example", "", "/docs/changelog"),
    ],
)
async def test_the_changes_are_at_the_address_that_the_caller_knows(
    world: World, host: str, forwarded: str, url: str
) -> None:
    headers = {"Host": host, "X-Forwarded-Proto": forwarded}
    answer = await world.call("GET", "/api/v2/meta", headers=headers)
    assert answer.body["changelog_url"] == url


async def test_a_trusted_proxy_says_by_which_scheme_it_was_reached(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"server": {"trusted_proxies": ["127.0.0.0/8"]}}) as world:
        for forwarded, origin in (
            ("https", "https://wms.example.com"),
            ("http", "http://wms.example.com"),
            ("javascript", ""),
        ):
            headers = {"Host": "wms.example.com", "X-Forwarded-Proto": forwarded}
            answer = await world.call("GET", "/api/v2/meta", headers=headers)
            assert answer.body["changelog_url"] == f"{origin}/docs/changelog"
