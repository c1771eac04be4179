"""The dict finds the same routes as aiohttp's router."""

from aiohttp.test_utils import make_mocked_request
from hypothesis import given
from hypothesis import strategies as st

from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.route_table import Handler, RouteTable, parts_of
from wmsd.interfaces.service import SERVED

OTHERS = ("/api/a/{one}/c", "/api/a/b/{two}", "/api/{three}/b/c", "/api/a/{four}", "/")
PATHS = sorted({route.path for route in SERVED} | {*OTHERS})
PARTS = sorted({part for path in PATHS for part in path.split("/")})
METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE")


def _handler() -> Handler:
    async def answer(_: web.Request) -> web.Response:
        raise AssertionError

    return answer


async def _expected(_: web.Request) -> None:
    raise AssertionError


TABLE = RouteTable(_expected)
for _path in PATHS:
    for _method in METHODS:
        if not (_path in OTHERS and _method == "PATCH"):
            TABLE.add(_method, _path, _handler())


Found = tuple[web.AbstractRoute, dict[str, str]]


async def found_by_aiohttp(request: web.Request) -> Found | None:
    found = await TABLE.router.resolve(request)
    return None if found.http_exception else (found.route, dict(found))


def found_here(request: web.Request) -> Found | None:
    handler = TABLE.find(request)
    if handler is None:
        return None
    (route,) = [each for each in TABLE if each.handler is handler]
    return route, dict(parts_of(request))


async def test_each_route_is_found() -> None:
    for path in PATHS:
        for method in METHODS:
            request = make_mocked_request(method, path.replace("{", "").replace("}", ""))
            assert found_here(request) == await found_by_aiohttp(request)
            assert (found_here(request) is None) == (path in OTHERS and method == "PATCH")


@given(
    st.sampled_from(METHODS),
    st.lists(
        st.sampled_from(PARTS) | st.sampled_from(("", "7", "a b", "%2F", "%", "ä", ".", "..", "{", "a;b", "*"))
    ),
    st.sampled_from(("", "?a=b", "/", "//")),
)
async def test_what_is_found_is_what_aiohttp_finds(method: str, parts: list[str], end: str) -> None:
    request = make_mocked_request(method, "/" + "/".join(parts) + end)
    found, right = found_here(request), await found_by_aiohttp(request)
    assert found is None or found == right
    left, _ = await TABLE.resolve(request)
    assert (None if left is None else (left.route, dict(left))) == right


async def test_what_must_be_decoded_or_continued_is_left_to_aiohttp() -> None:
    for path, headers in (("/api/articles/%2F", {}), ("/api/articles/1", {"Expect": "100-continue"})):
        assert found_here(make_mocked_request("GET", path, headers=headers)) is None
