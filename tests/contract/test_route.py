"""Tests of how a path finds its route in the route table, without a server."""

import pytest

from wmsd.base.problems import Problem
from wmsd.contract.operation import operation
from wmsd.contract.route import Route, RouteTable


@operation(tag="Articles", answer="nothing")
def try_it(tx: object) -> None:
    """Try it."""


PATHS = (
    ("GET", "/api/articles"),
    ("POST", "/api/articles"),
    ("GET", "/api/articles/{id}"),
    ("PUT", "/api/articles/{id}"),
    ("DELETE", "/api/articles/{id}"),
    ("GET", "/api/articles/{id}/stock/{code}"),
    ("GET", "/api/health"),
)
ROUTES = [Route(method, path, try_it) for method, path in PATHS]


@pytest.mark.parametrize(
    ("method", "path", "place", "parts"),
    [
        ("GET", "/api/articles", 0, {}),
        ("POST", "/api/articles", 1, {}),
        ("GET", "/api/articles/7", 2, {"id": "7"}),
        ("PUT", "/api/articles/x%20y%2Fz", 3, {"id": "x y/z"}),
        ("DELETE", "/api/articles/%ff", 4, {"id": "\ufffd"}),
        ("GET", "/api/articles/7/stock/A", 5, {"id": "7", "code": "A"}),
        ("GET", "/api/he%61lth", 6, {}),
    ],
)
def test_a_path_has_its_route_and_its_parts(method: str, path: str, place: int, parts: dict[str, str]) -> None:
    assert RouteTable(ROUTES).find(method, path) == (ROUTES[place], parts)


@pytest.mark.parametrize(
    "path",
    ["", "/", "/api", "/api/articles/", "/api/articles//stock/A", "/api/articles/7/stock", "/api/Health", "api"],
)
def test_where_there_is_nothing(path: str) -> None:
    with pytest.raises(Problem) as refused:
        RouteTable(ROUTES).find("GET", path)
    assert refused.value.code == "NOT_FOUND"
    assert refused.value.message.startswith("This address does not exist.")


@pytest.mark.parametrize(
    ("path", "message", "allow"),
    [
        (
            "/api/articles",
            "The method PATCH is not possible at this address. Possible methods: GET, POST.",
            "GET, POST",
        ),
        (
            "/api/articles/7",
            "The method PATCH is not possible at this address. Possible methods: DELETE, GET, PUT.",
            "DELETE, GET, PUT",
        ),
        ("/api/health", "The method PATCH is not possible at this address. Possible methods: GET.", "GET"),
    ],
)
def test_what_is_possible_instead_is_told(path: str, message: str, allow: str) -> None:
    with pytest.raises(Problem) as refused:
        RouteTable(ROUTES).find("PATCH", path)
    assert (refused.value.status, refused.value.message) == (405, message)
    assert refused.value.headers == {"Allow": allow}
