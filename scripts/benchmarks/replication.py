"""How much continuous replication slows down orders, and what the replica lacks after a crash of the machine.

Litestream replicates to a folder on the same disk. This is the most expensive case, because both write to the
disk.
"""

import os
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from benchmarks.figures import LOST_BY_A_REPLICA, ORDERS_BESIDE_REPLICATION, REPLICA_SERVES, Figure
from benchmarks.load import WARM_UP_SECONDS, Target, drive
from benchmarks.orders import company_with_goods, write_script
from benchmarks.processes import QUIET, WMSD, Failed, Server, progress, run, stop, wmsd_server
from benchmarks.site import Company, Installation, installation
from benchmarks.size import sized

LITESTREAM: Final = Path(sys.executable).with_name("litestream")
SHARED: Final = {**QUIET, "WMSD_REPLICA_ENABLED": "true"}
ROUNDS: Final = sized(3, 1)
ORDER_SECONDS: Final = sized(5.0, 0.3)
SETTLED_SECONDS: Final = sized(3.0, 1.0)
BEFORE_THE_KILL_SECONDS: Final = sized(6.0, 1.5)
COUNT: Final = "SELECT count(*) FROM sales_orders"


def measure() -> Iterator[Figure]:
    with installation() as site:
        company = company_with_goods(site)
        script = write_script(site.data.parent)
        alone, beside = (list[float]() for _ in range(2))
        for number in range(ROUNDS):
            with wmsd_server(site.data) as server:
                alone.append(_orders(server, company, script, f"A{number}"))
            with wmsd_server(site.data, SHARED) as server, _litestream(site):
                beside.append(_orders(server, company, script, f"B{number}"))
            rates = f"{beside[-1]:.0f}, without {alone[-1]:.0f}"
            progress(f"{ORDERS_BESIDE_REPLICATION}, {number + 1} of {ROUNDS}: {rates}")
        yield Figure(ORDERS_BESIDE_REPLICATION, "orders/s", statistics.median(beside), statistics.median(alone))
        lost, serves = zip(*(_killed(site, company, script, number) for number in range(ROUNDS)), strict=True)
        yield Figure(LOST_BY_A_REPLICA, "seconds", max(lost))
        yield Figure(REPLICA_SERVES, "seconds", max(serves))


def _orders(server: Server, company: Company, script: Path, prefix: str) -> float:
    target = Target(f"{server.url}/api/v2/sales-orders", company.headers, script)
    drive(target, 32, WARM_UP_SECONDS, [f"{prefix}-warm", "0", "0"])
    return drive(target, 32, ORDER_SECONDS, [prefix, "0", "0"]).rate


def _replica(site: Installation) -> Path:
    return site.data.parent / "replica"


@contextmanager
def _litestream(site: Installation) -> Iterator["subprocess.Popen[bytes]"]:
    shutil.rmtree(_replica(site), ignore_errors=True)
    settings = site.data.parent / "litestream.yml"
    settings.write_text(run([WMSD, "replica", "config", _replica(site), "--data", site.data], site.data.parent))
    with (site.data.parent / "litestream.log").open("wb") as log:
        process = subprocess.Popen([LITESTREAM, "replicate", "-config", settings], stdout=log, stderr=log)
    time.sleep(SETTLED_SECONDS)
    try:
        yield process
    finally:
        stop(process)


def _killed(site: Installation, company: Company, script: Path, number: int) -> tuple[float, float]:
    """Kill the server and Litestream while orders are posted, then restore the replica in another folder.

    Return two times in seconds: how long it took to post the orders that are missing, and how long it took until a
    server ran in the other folder.
    """
    with wmsd_server(site.data, SHARED) as server, _litestream(site) as litestream:
        target = Target(f"{server.url}/api/v2/sales-orders", company.headers, script)
        before = _count(site.file(company))
        posting = threading.Thread(target=_until_killed, args=(target, f"K{number}"))
        posting.start()
        time.sleep(BEFORE_THE_KILL_SECONDS)
        for pid in (server.pid, litestream.pid):
            os.kill(pid, signal.SIGKILL)
        posting.join()
    written = _count(site.file(company)) - before
    other = site.data.parent / f"other-{number}"
    began = time.perf_counter()
    run(
        [WMSD, "replica", "restore", _replica(site), "--litestream", LITESTREAM, "--data", other], site.data.parent
    )
    missing = before + written - _count(other / "companies" / f"{company.id}.db")
    with wmsd_server(other):
        serves = time.perf_counter() - began
    shutil.rmtree(other)
    seconds = missing / (written / BEFORE_THE_KILL_SECONDS)
    progress(
        f"{LOST_BY_A_REPLICA}, {number + 1} of {ROUNDS}: {missing} of {written} orders, serves in {serves:.1f} s"
    )
    return seconds, serves


def _until_killed(target: Target, prefix: str) -> None:
    with suppress(Failed):  # the server is killed meanwhile
        drive(target, 32, BEFORE_THE_KILL_SECONDS + 1, [prefix, "0", "0"])


def _count(file: Path) -> int:
    from wmsd.db.engine.sqlite import connect

    with closing(connect(file)) as connection:
        [count] = connection.execute(COUNT).fetchone()
    return int(count)
