"""How fast sales orders are created, beside SQLite that commits the same rows, one order a transaction.

    python -m benchmarks.orders floor COMPANY.db BEFORE.db NEW.db SECONDS

The floor takes the rows of the orders in COMPANY.db and writes them into a copy of BEFORE.db, which has all but the
orders: each with its lines, reservations, stock balances, events, counts and idempotency record, and one sync. It
prints orders a second.
"""

import json
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.figures import BATCH_OF_ORDERS, ORDERS, Figure
from benchmarks.load import ROUND_SECONDS, ROUNDS, Load, Target, drive
from benchmarks.processes import Failed, Server, progress, run, wmsd_server
from benchmarks.site import Company, Installation, installation

ARTICLES: Final = 2_000
PARTNERS: Final = 100
PLENTY: Final = 500_000_000
IN_A_BATCH: Final = 50
SCRIPT: Final = """
local number, prefix, articles, in_a_batch = 0, "", %(articles)d, 0
local order = '{"partner_id":%%d,"warehouse_id":1,"lines":[{"article_id":%%d,"quantity":1},'
  .. '{"article_id":%%d,"quantity":2},{"article_id":%%d,"quantity":0.5}]}'
function init(arguments)
  prefix, in_a_batch = arguments[1], tonumber(arguments[2])
  wrk.headers["Content-Type"] = "application/json"
  math.randomseed(tonumber(arguments[3]))
end
local function body()
  local first = math.random(articles - 2)
  return order:format(math.random(%(partners)d), first, first + 1, first + 2)
end
function request()
  number = number + 1
  wrk.headers["Idempotency-Key"] = prefix .. "-" .. number
  if in_a_batch == 0 then return wrk.format("POST", nil, nil, body()) end
  local requests = {}
  for place = 1, in_a_batch do
    requests[place] = '{"method":"POST","path":"/api/v2/sales-orders","body":' .. body() .. "}"
  end
  return wrk.format("POST", nil, nil, '{"requests":[' .. table.concat(requests, ",") .. "]}")
end
"""


def measure() -> Iterator[Figure]:
    with installation() as site:
        company = _company(site)
        script = site.data.parent / "orders.lua"
        script.write_text(SCRIPT % {"articles": ARTICLES, "partners": PARTNERS}, encoding="utf-8")
        with wmsd_server(site.data) as wmsd:
            yield from _created(site, wmsd, company, script)
            yield _in_batches(wmsd, company, script)


def _company(site: Installation) -> Company:
    company = site.company("ORDERS")
    site.load_articles(company, ARTICLES)
    partners = "".join(f"P{number},Partner {number},CLIENT\n" for number in range(1, PARTNERS + 1))
    site.import_csv("partners", company, "code,name,type\n" + partners)
    site.load_stock(company, ARTICLES, PLENTY)
    return company


def _created(site: Installation, wmsd: Server, company: Company, script: Path) -> Iterator[Figure]:
    """In turns, so that what else the disk does falls on both."""
    file = site.data / "companies" / f"{company.id}.db"
    before = site.data.parent / "before.db"
    _copy(file, before)
    target = Target(f"{wmsd.url}/api/v2/sales-orders", company.headers, script)
    drive(target, 32, 1, ["warm", "0", "0"])
    found, floors, created = [], [], _total(wmsd, company)
    for number in range(ROUNDS):
        progress(f"{ORDERS}, {number + 1} of {ROUNDS}")
        found.append(drive(target, 32, arguments=[f"R{number}", "0", str(number)]))
        bare = site.data.parent / f"floor-{number}.db"
        module = [sys.executable, "-m", "benchmarks.orders", "floor"]
        floors.append(float(run([*module, file, before, bare, str(ROUND_SECONDS)], site.data.parent)))
    _check_created(found, _total(wmsd, company) - created)
    ours = statistics.median(load.rate for load in found)
    yield Figure(ORDERS, "orders/s", ours, statistics.median(floors))
    yield Figure("orders in a commit, on average", "orders", _group_size(file))


def _in_batches(wmsd: Server, company: Company, script: Path) -> Figure:
    progress(BATCH_OF_ORDERS)
    alone = Target(f"{wmsd.url}/api/v2/sales-orders", company.headers, script)
    together = Target(f"{wmsd.url}/api/v2/batch", company.headers, script)
    singles, batches, created = [], [], _total(wmsd, company)
    for number in range(ROUNDS):
        singles.append(drive(alone, 1, arguments=[f"S{number}", "0", str(number)]))
        batches.append(drive(together, 1, arguments=[f"B{number}", str(IN_A_BATCH), str(number)]))
    _check_created(
        [*singles, *[Load(0, load.requests * IN_A_BATCH) for load in batches]], _total(wmsd, company) - created
    )
    ours = statistics.median(load.rate for load in batches) * IN_A_BATCH
    return Figure(BATCH_OF_ORDERS, "orders/s", ours, statistics.median(load.rate for load in singles))


def _check_created(loads: list[Load], created: int) -> None:
    posted = sum(load.requests for load in loads)
    if created < posted:
        raise Failed(f"{posted} orders were posted, {created} created.")


def _total(wmsd: Server, company: Company) -> int:
    page = json.loads(wmsd.get("/api/sales-orders?per_page=1", company.headers))
    total: int = page["meta"]["total"]
    return total


def _copy(file: Path, copy: Path) -> None:
    from wmsd.db.sqlite import connect

    source = connect(file)
    source.execute("VACUUM INTO ?", (str(copy),))
    source.close()


def _group_size(file: Path) -> float:
    """Orders of one commit have its frozen time; two commits in one millisecond count as one."""
    from wmsd.db.sqlite import connect

    source = connect(file)
    size: float = source.execute(
        "SELECT count(*) * 1.0 / count(DISTINCT created_at) FROM sales_orders"
    ).fetchone()[0]
    source.close()
    return size


def _floor(company: Path, before: Path, new: Path, seconds: float) -> float:
    from wmsd.db.sqlite import connect

    shutil.copyfile(before, new)
    source, target = connect(company), connect(new)
    orders = _orders(source, int(seconds * 10_000))
    started = time.perf_counter()
    done = 0
    for statements in orders:
        target.execute("BEGIN IMMEDIATE")
        for sql, rows in statements:
            target.executemany(sql, rows)
        target.execute("COMMIT")
        done += 1
        if time.perf_counter() - started > seconds:
            break
    rate = done / (time.perf_counter() - started)
    for connection in (source, target):
        connection.close()
    return rate


def _orders(source: Any, most: int) -> list[list[tuple[str, list[Any]]]]:
    """What each order wrote, as statements with their rows: made before the time is taken."""

    def by_order(sql: str) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = {}
        for order_id, *row in source.execute(sql):
            found.setdefault(order_id, []).append(row)
        return found

    newest = f"(SELECT id FROM sales_orders ORDER BY id DESC LIMIT {most})"
    orders = by_order(f"SELECT id, * FROM sales_orders WHERE id IN {newest} ORDER BY id")
    lines = by_order(f"SELECT sales_order_id, * FROM sales_order_lines WHERE sales_order_id IN {newest}")
    held = by_order(f"SELECT sales_order_id, * FROM reservations WHERE sales_order_id IN {newest}")
    created = f"SELECT sequence FROM events WHERE event = 'sales_order.created' AND entity_id IN {newest}"
    events: dict[int, list[Any]] = {}
    order_id = 0
    for row in source.execute(f"SELECT * FROM events WHERE sequence >= (SELECT min(sequence) FROM ({created}))"):
        order_id = row[4] if row[2] == "sales_order.created" else order_id
        events.setdefault(order_id, []).append(row)
    keys = source.execute(f"SELECT * FROM idempotency_keys ORDER BY id DESC LIMIT {most}").fetchall()
    written = []
    for (order_id, order), key in zip(orders.items(), reversed(keys), strict=False):
        stock = [
            (quantity, 10**12 + order_id * 8 + place, order[0][-1], stock_id)
            for place, (_, stock_id, quantity) in enumerate(held[order_id])
        ]
        counts = [("2026-11", "sales_order.created", 1), ("2026-11", "stock.updated", len(stock))]
        written.append(
            [
                (
                    "INSERT INTO series (name, last) VALUES ('SO', ?) ON CONFLICT DO UPDATE SET last = last + 1",
                    [(1,)],
                ),
                ("UPDATE change_sequence SET value = value + ?", [(1,), (len(stock),)]),
                (_insert("sales_orders", order), order),
                (_insert("sales_order_lines", lines[order_id]), lines[order_id]),
                (_insert("reservations", held[order_id]), held[order_id]),
                ("UPDATE stock SET reserved = reserved + ?, change_seq = ?, updated_at = ? WHERE id = ?", stock),
                (_insert("events", events[order_id]), events[order_id]),
                (
                    "INSERT INTO event_counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
                    counts,
                ),
                (_insert("idempotency_keys", [key]), [key]),
            ]
        )
    return written


def _insert(table: str, rows: list[Any]) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["floor", company, before, new, seconds]:
            print(_floor(Path(company), Path(before), Path(new), float(seconds)))
        case _:
            sys.exit(__doc__)
