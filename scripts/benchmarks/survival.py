"""The duration of backups and restores, compared with `cp`, and how much they slow down other work.

All copies are on the same disk. A copy is complete when it is synced to the disk.
"""

import shutil
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks import replication
from benchmarks.figures import (
    BACKUP_RATE,
    ORDERS_BESIDE_A_BACKUP,
    P99_BESIDE_A_PROOF,
    RESTORE_SECONDS,
    Figure,
)
from benchmarks.load import WARM_UP_SECONDS, Target, drive
from benchmarks.mix import ARTICLES, PARTNERS, many
from benchmarks.orders import company_with_goods, write_script
from benchmarks.processes import WMSD, Failed, Server, environment, progress, wmsd_server
from benchmarks.site import Company, Installation, installation
from benchmarks.size import IS_TINY, sized

LARGE_ARTICLES: Final = sized(2_400_000, 2_000)
"""The number of articles for a file of about 1 GB."""
SMALL_ARTICLES: Final = sized(110_000, 500)
"""The number of articles for a file of about 100 MB."""
AT_ONCE: Final = 400_000
"""The most articles in one import."""
COMPANIES: Final = sized(1000, 3)
RATE: Final = sized(100.0, 40.0)
SECONDS: Final = sized(15.0, 0.5)
ROUNDS: Final = sized(3, 1)
ORDER_SECONDS: Final = sized(3.0, 0.3)
POSTING_SECONDS: Final = sized(1.0, 0.2)
"""The seconds of one round of orders, which is repeated until the copy or the backup is complete."""


def measure() -> Iterator[Figure]:
    yield from _large()
    yield from replication.measure()
    yield from _many()


def _large() -> Iterator[Figure]:
    with installation() as site:
        orders = company_with_goods(site)
        large, small = site.company("LARGE"), site.company("SMALL")
        for company, count in ((large, LARGE_ARTICLES), (small, SMALL_ARTICLES)):
            for first in range(0, count, AT_ONCE):
                _load(site, company, first, min(AT_ONCE, count - first))
        script = write_script(site.data.parent)
        with wmsd_server(site.data) as server:
            yield from _backups(site, server, orders, script)
            yield _restores(site, small)


def _load(site: Installation, company: Company, first: int, count: int) -> None:
    progress(f"importing articles {first} to {first + count} into {company.code}")
    rows = (
        f"L{number:08},Article number {number} in a large catalogue\n" for number in range(first, first + count)
    )
    site.import_csv("articles", company, "code,name\n" + "".join(rows))


def _backups(site: Installation, server: Server, company: Company, script: Path) -> Iterator[Figure]:
    """Measure copies and backups in turns, each while orders are posted.

    Then compare the rate of orders during a backup with the rate without a backup.
    """
    target = Target(f"{server.url}/api/v2/sales-orders", company.headers, script)
    drive(target, 32, WARM_UP_SECONDS, ["warm", "0", "0"])
    data = sum(path.stat().st_size for path in (site.data / "companies").glob("*.db"))
    backups, copies, beside, alone = (list[float]() for _ in range(4))
    for number in range(ROUNDS):
        alone.append(drive(target, 32, ORDER_SECONDS, [f"A{number}", "0", str(number)]).rate)
        for times, work in ((copies, _copy), (backups, _back_up)):
            with _orders(target, f"{work.__name__}{number}", beside if work is _back_up else []):
                started = time.perf_counter()
                work(site)
                times.append(time.perf_counter() - started)
        progress(f"{BACKUP_RATE}, {number + 1} of {ROUNDS}: {backups[-1]:.1f} s, cp {copies[-1]:.1f} s")
    megabytes = data / 1e6
    yield Figure(
        BACKUP_RATE, "MB/s", megabytes / statistics.median(backups), megabytes / statistics.median(copies)
    )
    yield Figure(ORDERS_BESIDE_A_BACKUP, "orders/s", statistics.median(beside), statistics.median(alone))


@contextmanager
def _orders(target: Target, prefix: str, rates: list[float]) -> Iterator[None]:
    """Post orders until the context ends, and append their rates to `rates`."""
    over = threading.Event()

    def post() -> None:
        number = 0
        while not over.is_set():
            number += 1
            rates.append(drive(target, 32, POSTING_SECONDS, [f"{prefix}-{number}", "0", str(number)]).rate)

    thread = threading.Thread(target=post)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _copy(site: Installation) -> None:
    target = site.data.parent / "copied"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    files = (site.data / "companies").glob("*.db")  # the server deletes the logs of files that it closes
    subprocess.run(["cp", *sorted(files), target], check=True)
    subprocess.run(["sync", *sorted(target.iterdir())], check=True)


def _back_up(site: Installation) -> None:
    archive = _archive(site)
    archive.unlink(missing_ok=True)
    _wmsd(site, "backup", "create", archive)


def _archive(site: Installation) -> Path:
    """Return the path of the backup. It is in the backup folder: wmsd does not verify an archive again if it has
    verified it there.
    """
    folder = site.data / "backups"
    folder.mkdir(exist_ok=True)
    return folder / "backup.tar.gz"


def _restores(site: Installation, company: Company) -> Figure:
    """Measure `wmsd backup restore` of one company beside an idle server, compared with `cp` of its file.

    The archive is verified first, as a server verifies the backup of each night.
    """
    _wmsd(site, "backup", "verify", _archive(site))
    restores, copies = [], []
    file, copied = site.file(company), site.data.parent / "copied.db"
    for number in range(ROUNDS):
        started = time.perf_counter()
        subprocess.run(["cp", file, copied], check=True)
        subprocess.run(["sync", copied], check=True)
        copies.append(time.perf_counter() - started)
        started = time.perf_counter()
        _wmsd(site, "backup", "restore", _archive(site), "--company", company.code, "--yes")
        restores.append(time.perf_counter() - started)
        copied.unlink()
        progress(f"{RESTORE_SECONDS}, {number + 1} of {ROUNDS}: {restores[-1]:.2f} s, cp {copies[-1]:.2f} s")
    return Figure(RESTORE_SECONDS, "seconds", statistics.median(restores), statistics.median(copies))


def _many() -> Iterator[Figure]:
    """Measure the 99th percentile of the mix during the nightly verification of a backup of all companies."""
    with installation() as made:
        first = company_with_goods(made, ARTICLES, PARTNERS)
        site = many(made, first, COMPANIES)
        with wmsd_server(made.data) as server:
            site.load(server, COMPANIES, RATE, SECONDS)
            found: dict[bool, list[float]] = {True: [], False: []}
            _back_up(made)
            for number in range(ROUNDS):
                for is_beside in (False, True):
                    process = _proof(made) if is_beside else None
                    seen = site.load(server, COMPANIES, RATE, SECONDS)
                    if seen.wrong:
                        raise Failed(f"{seen.wrong} requests failed: {seen.first_wrong[-300:]}")
                    if process is not None and process.poll() is not None and not IS_TINY:
                        raise Failed("the verification ended before the load")
                    if process is not None:
                        process.wait()
                    found[is_beside].append(seen.slow * 1000)
                times = f"{found[True][-1]:.1f} ms, without {found[False][-1]:.1f} ms"
                progress(f"{P99_BESIDE_A_PROOF}, {number + 1} of {ROUNDS}: {times}")
            yield Figure(P99_BESIDE_A_PROOF, "ms", statistics.median(found[True]), statistics.median(found[False]))


def _proof(site: Installation) -> "subprocess.Popen[bytes]":
    """Start the verification at a low priority, as the server does."""
    command = ["nice", "-n", "10", WMSD, "backup", "verify", _archive(site), "--data", site.data]
    return subprocess.Popen(
        [str(each) for each in command],
        cwd=site.data.parent,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _wmsd(site: Installation, *words: str | Path) -> None:
    done = subprocess.run(
        [WMSD, *words, "--data", site.data],
        cwd=site.data.parent,
        env=environment(),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise Failed(f"wmsd {' '.join(map(str, words))}: {done.stderr[-1000:]}")
