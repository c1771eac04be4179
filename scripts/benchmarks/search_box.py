"""The search box of every page, in a company with many articles and as many orders, and the cost of its index.

The cost is the speed at which the index is filled, and how much larger it makes the company's file.
"""

import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from benchmarks.figures import SEARCH, SEARCH_INDEX, Figure
from benchmarks.order_lists import LINES, ORDERS, PARTNERS
from benchmarks.processes import QUIET, Failed, Server, progress, wmsd_server
from benchmarks.site import KINDS, MATERIALS, Company, Installation, article_code, installation
from benchmarks.size import ROWS, sized

if TYPE_CHECKING:
    from wmsd.db.engine.sqlite import sqlite3

DEFAULT_ROWS: Final = sized(100_000, 300)
"""The number of articles, and also of orders. The option `--rows` changes it."""
SEARCHES: Final = sized(100, 1)
"""The number of searches of each kind."""
SETTINGS: Final = {
    **QUIET,
    "WMSD_LIMITS_PAGES_PER_MINUTE": "1000000",
    "WMSD_LIMITS_OPEN_PER_MINUTE": "1000000",
}
REFERENCES: Final = """
    UPDATE sales_orders SET customer_reference = printf('C-%07x/%02d', id * 2654435761 % 268435456, id % 97),
        external_ref = printf('web-%08d', id * 48271 % 100000000), tracking_number = printf('RO%012d', id * 7919)
"""
"""SQL that gives each order different references, like those of real customers."""
INDEX: Final = ("search_index", "search_entries")
"""The tables of the search index."""
USED: Final = """
    SELECT (page_count - freelist_count) * page_size
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""


def measure(sign_in: Callable[[Server], str]) -> Iterator[Figure]:
    rows = int(os.environ.get(ROWS, DEFAULT_ROWS))
    with installation() as site:
        company = site.company("SEARCHED")
        _load(site, company, rows)
        yield from _filled(site, company, rows)
        with wmsd_server(site.data, SETTINGS) as wmsd:
            yield from _searched(wmsd, sign_in(wmsd), rows)


def _load(site: Installation, company: Company, rows: int) -> None:
    """Create the records. The orders are written by SQL, because their creation is not measured."""
    from wmsd.db.engine.sqlite import connect

    partners = "".join(f"P{number},Partner {number},CLIENT\n" for number in range(1, PARTNERS + 1))
    site.import_csv("partners", company, "code,name,type\n" + partners)
    site.import_csv("warehouses", company, "code,name\nMAIN,Main\n")
    site.load_articles(company, rows)
    progress(f"writing {rows} orders into {company.code}")
    with closing(connect(site.file(company))) as connection:
        connection.execute("BEGIN")
        connection.execute(ORDERS, {"count": rows, "partners": PARTNERS})
        connection.execute(LINES, {"articles": rows})
        connection.execute(REFERENCES)
        connection.execute("COMMIT")
        connection.execute("PRAGMA optimize = 0x10002")


def _filled(site: Installation, company: Company, rows: int) -> Iterator[Figure]:
    yield Figure(
        f"filling the search index, {2 * rows} records", "records/s", 2 * rows / fill_index(site, company)
    )
    yield _growth("a file with bare records only, likewise", site, company)


def fill_index(site: Installation, company: Company) -> float:
    """Fill the index of a closed file with the server's own function, but without the pauses between its steps.
    Return how long that takes, in seconds.
    """
    from wmsd.db.engine.sqlite import connect

    progress("filling the search index")
    with closing(connect(site.file(company))) as connection:
        began = time.perf_counter()
        _fill(connection)
        return time.perf_counter() - began


def growth(site: Installation, company: Company) -> Figure:
    """Measure how much larger the index makes a file whose orders came over the API, with their events and stored
    answers.
    """
    return _growth(SEARCH_INDEX, site, company)


def _growth(name: str, site: Installation, company: Company) -> Figure:
    """Measure a copy of the file with the search index, and again after removing the index from the copy."""
    from wmsd.db.engine.sqlite import connect

    progress(name)
    copy = site.data.parent / "without.db"
    site.copy(company, copy)
    with closing(connect(copy)) as connection:
        _fill(connection)
        (with_index,) = connection.execute(USED).fetchone()
        for table in INDEX:
            connection.execute(f"DROP TABLE {table}")
        (without,) = connection.execute(USED).fetchone()
    copy.unlink()
    return Figure(name, "MB", with_index / 1e6, without / 1e6)


def _fill(connection: "sqlite3.Connection") -> None:
    from wmsd.db.engine.transaction import lone_transaction
    from wmsd.warehouse.search.search_store import index_changes

    connection.execute("PRAGMA synchronous = OFF")  # the disk is measured by other benches
    connection.execute("PRAGMA wal_autocheckpoint = 1000")
    has_more = True
    while has_more:
        connection.execute("BEGIN IMMEDIATE")
        has_more = index_changes(lone_transaction(connection))
        connection.execute("COMMIT")


def _kinds(rows: int) -> Mapping[str, list[str]]:
    """Return the searches by kind, with the same number of each."""
    chosen = random.Random(46)
    numbers = [chosen.randint(1, rows) for _ in range(SEARCHES)]
    return {
        "an article's code": [article_code(each) for each in numbers],
        "an order's code": [f"so {each:06}" for each in numbers],
        "a part of a code": [f"{each:06}"[:5] for each in numbers],
        "a barcode": [f"0{4_000_000_000_000 + each}" for each in numbers],
        "a part of a customer's reference": [f"{each * 2654435761 % 268435456:07x}"[1:6] for each in numbers],
        "a tracking number": [f"RO{each * 7919:012}" for each in numbers],
        "two words of a name": [f"{MATERIALS[each % 7]} {KINDS[each % 10]}" for each in numbers],
        "a word of a tenth of all names": [KINDS[each % 10] for each in numbers],
        "three letters": [MATERIALS[each % 7][:3] for each in numbers],
        "one letter": ["aspmwx"[each % 6] for each in numbers],
        "what nothing has": [f"zz{each}qq" for each in numbers],
    }


def _searched(wmsd: Server, cookie: str, rows: int) -> Iterator[Figure]:
    """Measure the processor time of the searches in milliseconds."""
    found: dict[str, list[float]] = {}
    with closing(wmsd.connect()) as connection:

        def ask(text: str) -> float:
            before = wmsd.processor_seconds()
            connection.request("GET", f"/companies/1/search?text={quote(text)}", headers={"Cookie": cookie})
            answer = connection.getresponse()
            answer.read()
            if answer.status not in (200, 303):
                raise Failed(f"the search for {text!r} was answered {answer.status}.")
            return (wmsd.processor_seconds() - before) * 1000

        kinds = _kinds(rows)
        for texts in kinds.values():
            ask(texts[0])
        for kind, texts in kinds.items():
            found[kind] = [ask(text) for text in texts]
            progress(f"{kind}: median {statistics.median(found[kind]):.1f} ms, longest {max(found[kind]):.1f} ms")
    times = sorted(each for some in found.values() for each in some)
    yield Figure(f"the search box, {rows} articles and orders: median", "ms", statistics.median(times))
    yield Figure(SEARCH, "ms", times[int(len(times) * 0.99)])
