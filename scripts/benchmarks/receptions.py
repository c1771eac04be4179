"""The speed of posting receptions of 200 lines to stock, compared with bare SQLite that commits the same rows."""

import http.client
import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from benchmarks.figures import RECEPTIONS, RECEPTIONS_TOGETHER, Figure
from benchmarks.processes import Failed, Server, progress, run, wmsd_server
from benchmarks.site import Company, Installation, installation
from benchmarks.size import sized

LINES: Final = sized(200, 4)
KNOWN: Final = sized(10_000, 40)
"""The number of articles that have stock already. Half of the lines of each reception are for such articles."""
ROUNDS: Final = sized(5, 1)
IN_A_ROUND: Final = sized(60, 4)
WARM_UP: Final = sized(20, 2)
CASES: Final = ((RECEPTIONS, 1), (RECEPTIONS_TOGETHER, 4))
DRAFTS: Final = WARM_UP + ROUNDS * IN_A_ROUND * len(CASES)
NEW: Final = LINES // 2 * DRAFTS
LOT_EACH: Final = 5
"""One in this many articles has lots."""


def measure() -> Iterator[Figure]:
    with installation() as site:
        company = _company(site)
        with wmsd_server(site.data) as wmsd:
            _make_drafts(wmsd, company)
            bare = site.data.parent / "bare.db"
            _post(wmsd, company, range(1, WARM_UP + 1), 1)
            site.copy(company, bare)
            first = WARM_UP + 1
            found: dict[str, list[tuple[float, float]]] = {name: [] for name, _ in CASES}
            for number in range(ROUNDS):
                for name, connections in CASES:
                    progress(f"{name}, {number + 1} of {ROUNDS}")
                    ids = range(first, first + IN_A_ROUND)
                    first += IN_A_ROUND
                    ours = _post(wmsd, company, ids, connections)
                    with site.borrowed(company) as file:
                        found[name].append((ours, _floor(file, bare, ids)))
        for name, rates in found.items():
            ours, floor = (statistics.median(each) for each in zip(*rates, strict=True))
            yield Figure(name, "receptions/s", ours, floor)


def _company(site: Installation) -> Company:
    from wmsd.db.engine.sqlite import connect

    company = site.company("RECEPTIONS")
    site.import_csv("partners", company, "code,name,type\nP1,Supplier,FURNIZOR\n")
    site.load_articles(company, KNOWN + NEW)
    site.load_stock(company, KNOWN)
    connection = connect(site.file(company))
    connection.execute(f"UPDATE articles SET track_lot = id % {LOT_EACH} = 0")
    connection.close()
    return company


def _make_drafts(wmsd: Server, company: Company) -> None:
    """Create draft receptions with the ids 1, 2, 3 and so on.

    Each draft receives all goods of a separate order.
    """
    progress(f"{DRAFTS} drafts of {LINES} lines")
    connection = wmsd.connect()
    for number in range(DRAFTS):
        known = [(number * 7919 + place * 101) % KNOWN + 1 for place in range(LINES // 2)]
        new = [KNOWN + place * DRAFTS + number + 1 for place in range(LINES // 2)]
        items = [{"article_id": article_id, "quantity": article_id % 9 + 1} for article_id in (*known, *new)]
        order = {"partner_id": 1, "warehouse_id": 1, "items": items}
        ordered = json.loads(_send(connection, company, "POST", "/api/purchase-orders", order))
        selected = [_arrived(item, number) for item in ordered["items"]]
        draft = {"purchase_order_id": ordered["id"], "warehouse_id": 1, "selected_items": selected}
        made = json.loads(_send(connection, company, "POST", "/api/receptions", draft))
        if made["id"] != number + 1:
            raise Failed(f"reception {made['id']} was created instead of {number + 1}.")


def _arrived(item: dict[str, Any], number: int) -> dict[str, Any]:
    has_lots = item["article_id"] % LOT_EACH == 0
    arrived = {"po_item_id": item["id"], "quantity_um3pl": item["quantity"]}
    return {**arrived, "lot_number": f"L{number}"} if has_lots else arrived


def _post(wmsd: Server, company: Company, ids: Sequence[int], connections: int) -> float:
    """Post the receptions, and return how many per second."""

    def post(mine: Sequence[int]) -> None:
        connection = wmsd.connect()
        for reception_id in mine:
            answer = _send(
                connection, company, "PATCH", f"/api/receptions/{reception_id}", {"status": "FINALIZAT"}
            )
            if b'"status":"FINALIZAT"' not in answer:
                raise Failed(f"reception {reception_id} was not posted: {answer[:300]!r}")
        connection.close()

    started = time.perf_counter()
    with ThreadPoolExecutor(connections) as pool:
        for _ in pool.map(post, [ids[place::connections] for place in range(connections)]):
            pass
    return len(ids) / (time.perf_counter() - started)


def _send(
    connection: http.client.HTTPConnection, company: Company, method: str, path: str, body: dict[str, Any]
) -> bytes:
    headers = {**company.headers, "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body), headers)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status not in (200, 201):
        raise Failed(f"{method} {path} was answered {answer.status}: {text[:300]!r}")
    return text


def _floor(file: Path, bare: Path, ids: Sequence[int]) -> float:
    module = [sys.executable, "-m", "benchmarks.receptions_floor"]
    return float(run([*module, file, bare, str(ids[0]), str(ids[-1])], bare.parent))
