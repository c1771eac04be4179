"""Whether a long history slows down stock lists and the doctor: 5 000 000 movements compared with 50 000.

    python -m benchmarks.ledger DATA COMPANY_ID

examines a company in a separate process, and prints rows and seconds.
"""

import asyncio
import statistics
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.figures import (
    DOCTOR,
    STOCK_CURSOR_PAGE,
    STOCK_LOTS,
    STOCK_LOTS_WALK,
    STOCK_OF_ARTICLE,
    STOCK_PAGE,
    STOCK_WALK,
    Figure,
)
from benchmarks.ledger_history import ARTICLES, company_with_history
from benchmarks.list_pages import Reader, compared, timed
from benchmarks.processes import Failed, progress, run, wmsd_server
from benchmarks.site import Company, Installation, installation
from benchmarks.size import sized

SMALL: Final = sized(50_000, 1_000)
LARGE: Final = sized(5_000_000, 2_000)
ROUNDS: Final = sized(3, 1)
SMALL_EXAMINATIONS: Final = sized(5, 1)
"""How many times the small company is examined for each examination of the large company, which takes longer."""
PAGES: Final = (
    (STOCK_PAGE, "/api/stock"),
    (STOCK_CURSOR_PAGE, "/api/v2/stock"),
    (STOCK_LOTS, "/api/v2/stock?detail=lots"),
    (STOCK_OF_ARTICLE, f"/api/v2/stock?detail=lots&article_id={ARTICLES // 2}"),
)
WALKS: Final = (
    (STOCK_WALK, "/api/v2/stock?per_page=500"),
    (STOCK_LOTS_WALK, "/api/v2/stock?detail=lots&per_page=500"),
)


def measure() -> Iterator[Figure]:
    with installation() as site:
        small, large = (
            company_with_history(site, code, movements) for code, movements in (("SMALL", SMALL), ("LARGE", LARGE))
        )
        with wmsd_server(site.data) as wmsd:
            readers = [Reader(wmsd.connect(), company.headers) for company in (small, large)]
            for name, path in PAGES:
                progress(name)
                yield compared(name, readers[0], path, readers[1], path)
            for name, path in WALKS:
                progress(name)
                yield timed(name, *(partial(reader.walk_seconds, path) for reader in readers))
        yield from _examined(site, small, large)


def _examined(site: Installation, small: Company, large: Company) -> Iterator[Figure]:
    found: dict[Company, list[tuple[int, float]]] = {small: [], large: []}
    for number in range(ROUNDS):
        progress(f"{DOCTOR}, {number + 1} of {ROUNDS}")
        for company in (*[small] * SMALL_EXAMINATIONS, large):
            module = [sys.executable, "-m", "benchmarks.ledger"]
            told = run([*module, site.data, str(company.id)], site.data.parent).split()
            found[company].append((int(told[0]), float(told[1])))
    floor, ours = (statistics.median(rows / seconds for rows, seconds in found[each]) for each in (small, large))
    yield Figure(DOCTOR, "rows/s", ours, floor)
    rows, _ = found[large][0]
    taken = statistics.median(seconds for _, seconds in found[large])
    yield Figure(f"wmsd doctor, {LARGE} movements, {rows} rows altogether", "seconds", taken)


async def _examine(data: Path, company_id: int) -> tuple[int, float]:
    """Examine the company as the doctor does. Return the number of rows, and the duration in seconds.

    Raise Failed if anything is found, because the history was created without errors.
    """
    from wmsd.data_folder.folder import DataFolder
    from wmsd.installation.open_installation import open_installation
    from wmsd.maintenance.file_checks.company_checks import examine
    from wmsd.settings.all_settings import Settings

    async with open_installation(Settings(), DataFolder(data)) as site:
        findings = await (await site.files.get(company_id)).read_long(examine)
    if not findings.are_none:
        raise Failed(f"wmsd doctor finds {findings.damages[:3]} {findings.differences[:3]}.")
    return findings.rows, findings.seconds


if __name__ == "__main__":
    print(*asyncio.run(_examine(Path(sys.argv[1]), int(sys.argv[2]))))
