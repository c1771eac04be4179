"""How much memory an idle server uses."""

import time
from collections.abc import Iterator
from typing import Final

from benchmarks.figures import MEMORY_IDLE, MEMORY_USED, Figure
from benchmarks.processes import progress, wmsd_server
from benchmarks.site import installation
from benchmarks.size import sized

ARTICLES: Final = sized(10_000, 50)
SETTLE_SECONDS: Final = sized(2.0, 0.0)


def measure() -> Iterator[Figure]:
    with installation() as site:
        company = site.company("BENCH")
        site.load_articles(company, ARTICLES)
        progress("resident memory")
        with wmsd_server(site.data) as wmsd:
            time.sleep(SETTLE_SECONDS)
            yield Figure(MEMORY_IDLE, "MB", wmsd.resident_mb())
            wmsd.get("/api/articles", company.headers)
            time.sleep(SETTLE_SECONDS)
            yield Figure(MEMORY_USED, "MB", wmsd.resident_mb())
