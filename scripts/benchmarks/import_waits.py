"""The longest wait of another client's small write during an import.

    python -m benchmarks.import_waits BEFORE.db AFTER.db TABLE...

writes to BEFORE the rows that only AFTER has in these tables, and prints the seconds of this work.
"""

import http.client
import json
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.figures import WAIT_FOR_ARTICLES, WAIT_FOR_ORDERS, WAIT_FOR_STOCK, Figure
from benchmarks.processes import Failed, Server, progress, run, wmsd_server
from benchmarks.site import Company, Installation, article_code, articles_csv, installation
from benchmarks.size import sized

ROWS: Final = sized(100_000, 500)
ORDERS: Final = sized(20_000, 50)
LINES: Final = 3
PAUSE_SECONDS: Final = 0.02
TABLES: Final[dict[str, tuple[str, ...]]] = {
    "articles": ("articles", "events"),
    "stock": ("stock", "stock_movements", "events"),
    "sales-orders": ("sales_orders", "sales_order_lines", "reservations", "document_changes", "events"),
}
"""The tables that an import of each kind fills, and that the floor fills too."""


@dataclass(frozen=True, slots=True)
class Input:
    """A file to import."""

    figure: str
    kind: str
    text: str


def measure() -> Iterator[Figure]:
    with installation() as site:
        company = site.company("BENCH")
        site.import_csv("warehouses", company, "code,name\nMAIN,Main\n")
        site.import_csv("partners", company, "code,name,type\nP1,Partner,CLIENT\n")
        with wmsd_server(site.data) as wmsd:
            for number, each in enumerate(_inputs()):
                progress(each.figure)
                before = site.data.parent / f"before-{number}.db"
                site.copy(company, before)
                longest = _longest_wait(site, wmsd, company, each)
                yield Figure(each.figure, "seconds", longest, _floor(site, company, before, TABLES[each.kind]))


def _inputs() -> Iterator[Input]:
    """Yield the files. Each file uses the records of the files before."""
    yield Input(WAIT_FOR_ARTICLES, "articles", articles_csv(ROWS))
    counts = (f"{article_code(number)},MAIN,1000\n" for number in range(1, ROWS + 1))
    text = "article_code,warehouse_code,quantity\n" + "".join(counts)
    yield Input(WAIT_FOR_STOCK, "stock", text)
    lines = (
        f"O{order},P1,MAIN,{article_code(order * LINES + line)},{line}\n"
        for order in range(ORDERS)
        for line in range(1, LINES + 1)
    )
    text = "code,partner_code,warehouse_code,article_code,quantity\n" + "".join(lines)
    yield Input(WAIT_FOR_ORDERS, "sales-orders", text)


def _longest_wait(site: Installation, wmsd: Server, company: Company, each: Input) -> float:
    """Import the file `each` with the command, beside the running server. Return the longest wait of another
    client's write meanwhile, in seconds.

    The client writes articles one after the other.
    """
    file = site.data.parent / f"{each.kind}.csv"
    file.write_text(each.text, encoding="utf-8")
    with ThreadPoolExecutor(1) as pool:
        importing = pool.submit(site.wmsd, "import", each.kind, file, "--company", company.code)
        waits = list(_waits(wmsd, company, each.kind, importing))
        importing.result()
    return max(waits)


def _waits(wmsd: Server, company: Company, tag: str, importing: "Future[str]") -> Iterator[float]:
    connection, number = wmsd.connect(), 0
    try:
        while not importing.done():
            number += 1
            started = time.perf_counter()
            _write(connection, company, f"{tag}-{number}")
            yield time.perf_counter() - started
            time.sleep(PAUSE_SECONDS)
    finally:
        connection.close()


def _write(connection: http.client.HTTPConnection, company: Company, code: str) -> None:
    headers = {**company.headers, "Content-Type": "application/json"}
    connection.request("POST", "/api/articles", json.dumps({"code": code, "name": code}), headers)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 201:
        raise Failed(f"a write during the import was answered {answer.status}: {body[:300]!r}")


def _floor(site: Installation, company: Company, before: Path, tables: Sequence[str]) -> float:
    after = before.with_name(f"after-{before.name}")
    site.copy(company, after)
    return float(run([sys.executable, "-m", "benchmarks.import_waits", before, after, *tables], before.parent))


def write_bare(before: Path, after: Path, tables: Sequence[str]) -> float:
    """Return the seconds that bare SQLite needs to write rows to `before` in one transaction. The rows are those
    that only `after` has in `tables`.

    Other writers must wait at least this long.
    """
    from wmsd.db.engine.sqlite import connect

    target = connect(before)
    target.execute("ATTACH ? AS after", (str(after),))
    writes = []
    for table in tables:
        new = f"SELECT * FROM after.{table} EXCEPT SELECT * FROM main.{table} ORDER BY 1"
        target.execute(f"CREATE TEMP TABLE new_{table} AS {new}")
        names = ", ".join(name for name, *_ in target.execute(f"SELECT * FROM new_{table}").description)
        writes.append(f"INSERT INTO {table} ({names}) SELECT {names} FROM new_{table} ORDER BY rowid")
    started = time.perf_counter()
    target.execute("BEGIN IMMEDIATE")
    for write in writes:
        target.execute(write)
    target.execute("COMMIT")
    seconds = time.perf_counter() - started
    target.close()
    return seconds


if __name__ == "__main__":
    match sys.argv[1:]:
        case [before, after, *tables]:
            print(write_bare(Path(before), Path(after), tables))
        case _:
            sys.exit(__doc__)
