"""Tests of the preview of a file of documents: it names the lines that are removed and added."""

from typing import Any

import pytest

from tests.imports.test_document_files import FILES, filled, furnish
from tests.support.command import Tenant

HEADER = "code,partner_code,warehouse_code,article_code,quantity,line_warehouse_code\n"


@pytest.fixture
def dock(tenant: Tenant) -> Tenant:
    furnish(tenant)
    tenant.take("articles", "code,name\nB,B\n")
    tenant.take("stock", "article_code,warehouse_code,quantity\nA,MAIN,900\nB,MAIN,900\n")
    return tenant


def previewed(tenant: Tenant, kind: str, file: str) -> list[dict[str, Any]]:
    done = tenant.home.ok("import", kind, "-", "--company", tenant.code, "--preview", "--json", stdin=file)
    return list(done.json["rows"])


def told(tenant: Tenant, rows: str) -> list[tuple[Any, ...]]:
    return [
        (row["row"], row["what"], *(row["lines"].values() if "lines" in row else ()))
        for row in previewed(tenant, "sales-orders", HEADER + rows)
    ]


def test_lines_of_an_order_that_change_are_named(dock: Tenant) -> None:
    dock.take("sales-orders", f"{HEADER}S,CUST,MAIN,A,2,\nS,CUST,MAIN,B,3,\nT,CUST,MAIN,A,1,\n")
    assert told(dock, "S,CUST,MAIN,A,200,\nS,CUST,MAIN,B,3,MAIN\nT,CUST,MAIN,A,1.0,\n") == [
        (2, "changed", ["A, 2"], ["A, 200"], 0, 0),
        (3, "changed"),
        (4, "same"),
    ]
    assert told(dock, "S,CUST,MAIN,A,2,\n") == [(2, "changed", ["B, 3"], [], 0, 0)]
    assert told(dock, "S,CUST,MAIN,B,3,\nS,CUST,MAIN,A,2,\n")[0] == (2, "changed", [], [], 0, 0)
    many = "".join(f"S,CUST,MAIN,A,{number},\n" for number in range(1, 31))
    assert told(dock, many)[0] == (2, "changed", ["B, 3"], [f"A, {each}" for each in (1, 3, 4, 5, 6)], 0, 24)
    file = f"{HEADER}S,CUST,MAIN,A,200,\nS,CUST,MAIN,B,3,\n"
    shown = dock.home.ok("import", "sales-orders", "-", "--company", dock.code, "--preview", stdin=file).out
    assert "lines: - A, 2; + A, 200" in shown
    assert dock.take("sales-orders", file) == (0, 1, 0)
    assert told(dock, file.removeprefix(HEADER)) == [(2, "same"), (3, "same")]


def test_the_preview_of_an_export_changes_nothing(tenant: Tenant) -> None:
    furnish(tenant)
    filled(tenant)
    for kind in FILES:
        assert {row["what"] for row in previewed(tenant, kind, tenant.export(kind))} == {"same"}
    without_items = tenant.export("receptions").replace("S,1,3,,S1;S2;S3", "S,,3,,S1;S2;S3")
    assert {row["what"] for row in previewed(tenant, "receptions", without_items)} == {"same"}
