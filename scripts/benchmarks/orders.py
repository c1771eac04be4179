"""The speed of creating sales orders, compared with bare SQLite, and in batches compared with single posts."""

import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.figures import BATCH_OF_ORDERS, ORDERS, Figure
from benchmarks.load import ROUND_SECONDS, ROUNDS, WARM_UP_SECONDS, Load, Target, drive
from benchmarks.processes import Failed, Server, progress, run, wmsd_server
from benchmarks.site import Company, Installation, installation
from benchmarks.size import sized

ARTICLES: Final = sized(2_000, 60)
PARTNERS: Final = sized(100, 5)
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
        company = company_with_goods(site)
        script = write_script(site.data.parent)
        with wmsd_server(site.data) as wmsd:
            yield from _created(site, wmsd, company, script)
            yield _in_batches(wmsd, company, script)


def write_script(folder: Path) -> Path:
    """Write the script for wrk, and return its path.

    The script has three arguments:
    - The prefix of the idempotency keys.
    - The number of orders in a batch. With 0, each order is posted separately.
    - The seed for random numbers.
    """
    script = folder / "orders.lua"
    script.write_text(SCRIPT % {"articles": ARTICLES, "partners": PARTNERS}, encoding="utf-8")
    return script


def company_with_goods(site: Installation, articles: int = ARTICLES, partners: int = PARTNERS) -> Company:
    company = site.company("ORDERS")
    site.load_articles(company, articles)
    rows = "".join(f"P{number},Partner {number},CLIENT\n" for number in range(1, partners + 1))
    site.import_csv("partners", company, "code,name,type\n" + rows)
    site.load_stock(company, articles, PLENTY)
    return company


def _created(site: Installation, wmsd: Server, company: Company, script: Path) -> Iterator[Figure]:
    """Measure wmsd and the floor in turns, so that other work of the disk slows both."""
    before = site.data.parent / "before.db"
    site.copy(company, before)
    target = Target(f"{wmsd.url}/api/v2/sales-orders", company.headers, script)
    drive(target, 32, WARM_UP_SECONDS, ["warm", "0", "0"])
    found, floors, created = [], [], total(wmsd, company)
    for number in range(ROUNDS):
        progress(f"{ORDERS}, {number + 1} of {ROUNDS}")
        found.append(drive(target, 32, arguments=[f"R{number}", "0", str(number)]))
        bare = site.data.parent / f"floor-{number}.db"
        module = [sys.executable, "-m", "benchmarks.orders_floor"]
        with site.borrowed(company) as file:
            floors.append(float(run([*module, file, before, bare, str(ROUND_SECONDS)], site.data.parent)))
    check_created(found, total(wmsd, company) - created)
    ours = statistics.median(load.rate for load in found)
    yield Figure(ORDERS, "orders/s", ours, statistics.median(floors))
    with site.borrowed(company) as file:
        yield Figure("orders in a commit, on average", "orders", _group_size(file))


def _in_batches(wmsd: Server, company: Company, script: Path) -> Figure:
    progress(BATCH_OF_ORDERS)
    alone = Target(f"{wmsd.url}/api/v2/sales-orders", company.headers, script)
    together = Target(f"{wmsd.url}/api/v2/batch", company.headers, script)
    singles, batches, created = [], [], total(wmsd, company)
    for number in range(ROUNDS):
        singles.append(drive(alone, 1, arguments=[f"S{number}", "0", str(number)]))
        batches.append(drive(together, 1, arguments=[f"B{number}", str(IN_A_BATCH), str(number)]))
    check_created(
        [*singles, *[Load(0, load.requests * IN_A_BATCH) for load in batches]], total(wmsd, company) - created
    )
    ours = statistics.median(load.rate for load in batches) * IN_A_BATCH
    return Figure(BATCH_OF_ORDERS, "orders/s", ours, statistics.median(load.rate for load in singles))


def check_created(loads: list[Load], created: int) -> None:
    posted = sum(load.requests for load in loads)
    if created < posted:
        raise Failed(f"{posted} orders were posted, {created} created.")


def total(wmsd: Server, company: Company) -> int:
    page = json.loads(wmsd.get("/api/sales-orders?per_page=1", company.headers))
    total: int = page["meta"]["total"]
    return total


def _group_size(file: Path) -> float:
    """Return the average number of orders in a commit.

    Orders of one commit have the same time; two commits in the same millisecond count as one.
    """
    from wmsd.db.engine.sqlite import connect

    source = connect(file)
    size: float = source.execute(
        "SELECT count(*) * 1.0 / count(DISTINCT created_at) FROM sales_orders"
    ).fetchone()[0]
    source.close()
    return size
