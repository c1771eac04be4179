"""Tests of unknown paths: the error suggests a similar known path."""

import time

import pytest

from wmsd.contract.near_paths import NOWHERE, NearPaths

PATHS = (
    *("/api", "/openapi.json", "/api/health", "/api/articles", "/api/articles/{id}", "/api/articles/sync"),
    *("/api/articles/by-code/{code}", "/api/sales-orders", "/api/sales-orders/{id}", "/api/partners/{id}"),
    *("/api/v2/articles", "/api/v2/sales-orders/{id}/status", "/api/v2/packaging/movements"),
)
NEAR = NearPaths(lambda: PATHS)


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/api/articles/", "/api/articles, without the slash at the end"),
        ("/api/articles/1//", "/api/articles/1, without the slash at the end"),
        ("//api/articles", "/api/articles, without the double slash"),
        ("/api//articles/x%20y", "/api/articles/x%20y, without the double slash"),
        ("//api//articles/", "/api/articles"),
        ("/api/artcles", "/api/articles"),
        ("/api/article/7", "/api/articles/7"),
        ("/api/articles/bycode/A-1", "/api/articles/by-code/A-1"),
        ("/api/sales_orders", "/api/sales-orders"),
        ("/API/Articles", "/api/articles"),
        ("/api/v1/articles", "/api/articles"),
        ("/v1/articles", "/api/articles"),
        ("/api/v3/articles", "/api/articles"),
        ("/articles", "/api/articles"),
        ("/v2/packaging/movements", "/api/v2/packaging/movements"),
        ("/api/packaging/movements", "/api/v2/packaging/movements"),
        ("/api/v2/packaging/movement", "/api/v2/packaging/movements"),
        ("/api/sales-orders/5/status", "/api/v2/sales-orders/5/status"),
        ("/api/v2/partners/5", "/api/partners/5"),
        ("/api/v2", "/api"),
    ],
)
def test_the_nearest_path_is_named(path: str, meant: str) -> None:
    assert NEAR.sentence(path) == f"{NOWHERE} Did you mean {meant}?"


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "//", "/nothing", "/apix", "/artcles", "/api/invoices", "/api/v2/invoices"),
        *("/api/articles/1/2/3", "/api/" + "a" * 200, "/api" + "/articles" * 8, "/api/articles"),
    ],
)
def test_nothing_is_named_where_nothing_is_like_it(path: str) -> None:
    assert NEAR.sentence(path) == NOWHERE


def test_a_hostile_path_costs_little() -> None:
    many = NearPaths(lambda: [f"/api/{'ab' * 15}{number:04}/{'ba' * 15}{number:04}" for number in range(200)])
    began = time.process_time()
    for _ in range(10):
        many.sentence(f"/api/{'ab' * 18}/{'ba' * 18}")
    assert time.process_time() - began < 1
