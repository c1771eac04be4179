"""A month of a real shop, from its invoice lines to an integrator who reads all of it back over HTTP."""

import csv
import lzma
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.command import Home, Server, first_day
from tests.support.forked import FIXED, ROOT, Program

SOURCE = ROOT.parent / "shared" / "data" / "online-retail-2010-12.csv.xz"
ORDER = ("warehouses", "partners", "articles", "stock")
UNLIMITED = {"WMSD_LIMITS_DATA_PER_MINUTE": "100000", "WMSD_LOG_REQUESTS": "false"}

pytestmark = pytest.mark.skipif(not SOURCE.exists(), reason=f"{SOURCE.name} is not beside the checkout")

Rows = dict[str, list[dict[str, str]]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("month")


@pytest.fixture(scope="module")
def files(folder: Path) -> Rows:
    """Return the rows of the import files that the loader creates, by kind."""
    loader = [sys.executable, str(ROOT / "scripts" / "retail-files"), str(SOURCE), str(folder)]
    done = subprocess.run(loader, env=FIXED, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        str(folder / f"{kind}.csv") for kind in ("articles", "partners", "warehouses", "stock")
    ]
    return {kind: read(folder / f"{kind}.csv") for kind in ORDER}


@pytest.fixture(scope="module")
def server(program: Program, folder: Path, files: Rows) -> Iterator[Server]:
    """Import the files through the command line, and run a server."""
    home = first_day(Home(program, folder))
    for kind in ORDER:
        said = home.ok("import", kind, folder / f"{kind}.csv", "--company", "ACME", "--json").json
        assert said["created"] + said["updated"] == len(files[kind])
        assert said["unchanged"] == 0
    with home.serving(env=UNLIMITED) as server:
        yield server


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def pages(server: Server, path: str) -> list[Any]:
    """Return every record of a list by pages."""
    records: list[Any] = []
    page, last = 1, 1
    while page <= last:
        status, body = server.get(f"{path}?per_page=200&page={page}")
        assert status == 200, body
        records += body["data"]
        last = body["meta"]["last_page"]
        page += 1
    assert body["meta"]["total"] == len(records)
    return records


def walk(server: Server, path: str, per_page: int = 500) -> list[Any]:
    """Return every record of a list by cursor."""
    records: list[Any] = []
    cursor = ""
    while True:
        status, body = server.get(f"{path}?per_page={per_page}{cursor}")
        assert status == 200, body
        records += body["data"]
        if body["next_cursor"] is None:
            return records
        cursor = f"&cursor={quote(body['next_cursor'])}"


def test_the_month_is_the_one_we_know(files: Rows) -> None:
    codes = [row["code"] for row in files["articles"]]
    assert (len(codes), len(set(codes)), len(files["partners"])) == (2822, 2822, 948)
    folded = Counter(code.lower() for code in codes)
    assert sum(count > 1 for count in folded.values()) > 50
    assert [row["article_code"] for row in files["stock"]] == codes
    with lzma.open(SOURCE, "rt", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    sold: Counter[str] = Counter()
    for line in lines:
        sold[line["StockCode"].strip()] += 0 if line["InvoiceNo"].startswith("C") else int(line["Quantity"])
    assert (len(lines), set(codes)) == (42_481, set(sold))
    assert all(int(row["quantity"]) >= sold[row["article_code"]] for row in files["stock"])


def test_every_article_is_read_back_in_pages(server: Server, files: Rows) -> None:
    articles = pages(server, "/api/articles")
    shown = [{"code": article["code"], "name": article["name"], "unit": article["unit"]} for article in articles]
    assert shown == files["articles"]
    assert all(article["active"] and article["barcodes"] == [] for article in articles)


def test_every_article_is_read_back_by_a_sync_walk(server: Server, files: Rows) -> None:
    walked = walk(server, "/api/articles/sync", 137)
    assert [article["code"] for article in walked] == [row["code"] for row in files["articles"]]
    assert walked == pages(server, "/api/articles")
    newest = max(article["updated_at"] for article in walked)
    status, body = server.get(f"/api/articles/sync?updated_since={newest}")
    assert status == 200
    assert all(article["updated_at"] >= newest for article in body["data"])


def test_codes_that_differ_by_case_only_stay_apart(server: Server, files: Rows) -> None:
    folded = Counter(row["code"].lower() for row in files["articles"])
    twins = [row for row in files["articles"] if folded[row["code"].lower()] > 1]
    for row in twins[:20]:
        (article,) = server.get(f"/api/articles?code={quote(row['code'])}")[1]["data"]
        assert (article["code"], article["name"]) == (row["code"], row["name"])
        assert server.get(f"/api/articles/{article['id']}")[1] == article


def test_every_stock_record_is_read_back(server: Server, files: Rows) -> None:
    names = {row["code"]: row["name"] for row in files["articles"]}
    expected = [
        (row["article_code"], names[row["article_code"]], row["warehouse_code"], int(row["quantity"]))
        for row in files["stock"]
    ]
    paged = pages(server, "/api/stock")
    columns = ("article_code", "article_name", "warehouse_code", "quantity")
    assert [tuple(record[column] for column in columns) for record in paged] == expected
    assert all(record["available"] == record["quantity"] for record in paged)
    assert {(record["reserved"], record["quarantined"]) for record in paged} == {(0, 0)}
    assert walk(server, "/api/v2/stock") == paged


def test_every_partner_and_warehouse_is_read_back(server: Server, files: Rows) -> None:
    partners = [
        {key: partner[key] for key in ("code", "name", "type")}
        | {"address.country": partner["address"]["country"]}
        for partner in pages(server, "/api/partners")
    ]
    assert partners == files["partners"]
    assert [house["code"] for house in pages(server, "/api/warehouses")] == ["MAIN"]


def test_importing_the_month_again_changes_nothing(
    server: Server, program: Program, folder: Path, files: Rows
) -> None:
    home = Home(program, folder)
    before = pages(server, "/api/articles"), pages(server, "/api/stock")
    for kind in ORDER:
        said = home.ok("import", kind, folder / f"{kind}.csv", "--company", "ACME", "--json").json
        assert (said["created"], said["updated"], said["unchanged"]) == (0, 0, len(files[kind]))
    assert (pages(server, "/api/articles"), pages(server, "/api/stock")) == before
