"""The program `scripts/bench`, which runs all or the chosen measurements and prints a table of the results."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from benchmarks import (
    against,
    articles,
    companies,
    downloads,
    executable,
    fairness,
    graphql,
    import_waits,
    imports,
    ledger,
    list_pages,
    memory,
    open_pages,
    order_lists,
    orders,
    pages,
    receptions,
    status,
    survival,
    today,
    webhooks,
)
from benchmarks.compared_rows import LIMIT
from benchmarks.figures import Figure, table
from benchmarks.load import has_wrk
from benchmarks.processes import Failed
from benchmarks.revisions import RELEASE
from benchmarks.size import FLAG, IS_TINY, ROWS, TINY

PARTS: Final[dict[str, Callable[[], Iterator[Figure]]]] = {
    "articles": articles.measure,
    "orders": orders.measure,
    "order-lists": order_lists.measure,
    "receptions": receptions.measure,
    "webhooks": webhooks.measure,
    "graphql": graphql.measure,
    "ledger": ledger.measure,
    "import": imports.measure,
    "import-waits": import_waits.measure,
    "list-pages": list_pages.measure,
    "pages": pages.measure,
    "open-pages": open_pages.measure,
    "downloads": downloads.measure,
    "memory": memory.measure,
    "companies": companies.measure,
    "fairness": fairness.measure,
    "status": status.measure,
    "today": today.measure,
    "survival": survival.measure,
    "executable": executable.measure,
}
AGAINST: Final = (
    f"only measure the cost of each request here and at REVISION ({RELEASE}: the last release). Exit "
    f"status 1: a request costs more than {LIMIT:.2f} times as much; 2: not known, for instance on a "
    "noisy machine"
)
TABLE: Final = "also write the table of --against to FILE, as Markdown"
FLAMES: Final = "draw a flame graph of each request of --against in FOLDER"
NEEDS_WRK: Final = {"articles", "orders", "webhooks", "graphql", "pages", "downloads", "survival"}
ONLY: Final = (
    "measure only this part; repeat the option for several. import: the speed of an import. "
    "import-waits: the longest wait of a small write of another client during an import, compared "
    "with the time that SQLite needs to write the same prepared rows. list-pages: pages of the "
    "API's lists. pages: the pages in a browser. open-pages: the cost of a request without "
    "credentials, in milliseconds of processor time"
)
ROWS_SEARCHED: Final = (
    "number of articles, and of orders, for the search box in the part pages; default: 100 000. The "
    "goal applies at 1 000 000, which take minutes to create"
)
TINY_SIZE: Final = (
    "measure at a tiny size, to check that each part still runs; the numbers mean nothing, and no goal applies"
)


def main() -> int:
    """Run the measurements. Return 0 if every measured goal is met, else 1. At the tiny size, return 0 if every
    part could be run.
    """
    options = _options()
    if options.tiny:
        os.environ[TINY] = "1"
    if options.rows:
        os.environ[ROWS] = str(options.rows)
    if options.against:
        return _against(options)
    chosen = options.only or list(PARTS)
    if not NEEDS_WRK.isdisjoint(chosen) and not has_wrk():
        print("scripts/bench needs wrk: sudo apt install wrk", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers are stopped and folders are removed
    figures: list[Figure] = []
    failed = False
    for part in chosen:
        try:
            for figure in PARTS[part]():
                figures.append(figure)  # one at a time, so that a failure does not lose the results before it
        except Failed as error:
            print(f"bench: {part}: {error}", file=sys.stderr)
            failed = True
    print(table(figures))
    if options.json:
        shown = [figure.as_json() for figure in figures]
        options.json.write_text(json.dumps(shown, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return int(failed or (not IS_TINY and any(figure.met is False for figure in figures)))


def _against(options: argparse.Namespace) -> int:
    """Compare with another revision.

    Return 0 if no request became slower, 1 if one did, and 2 if this is not known. At the tiny size, return 0 if
    the comparison could be run.
    """
    try:
        status = against.measure(options.against, options.table, options.flames)
        return 0 if IS_TINY else status
    except Failed as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="Measure wmsd against its floors.", allow_abbrev=False
    )
    parser.add_argument("--only", action="append", choices=list(PARTS), help=ONLY)
    parser.add_argument("--against", metavar="REVISION", help=AGAINST)
    parser.add_argument("--table", type=Path, metavar="FILE", help=TABLE)
    parser.add_argument("--flames", type=Path, metavar="FOLDER", help=FLAMES)
    parser.add_argument(FLAG, action="store_true", help=TINY_SIZE)
    parser.add_argument("--rows", type=int, metavar="NUMBER", help=ROWS_SEARCHED)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers to FILE")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
