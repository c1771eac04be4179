"""The page Today of an admin of a thousand companies, compared with that of an admin of ten.

In each company some orders are late.
"""

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from typing import Final

from benchmarks.figures import TODAY, Figure
from benchmarks.list_pages import Reader, timed
from benchmarks.mix import many
from benchmarks.orders import company_with_goods
from benchmarks.pages import SETTINGS, sign_in
from benchmarks.processes import QUIET, Failed, progress, wmsd_server
from benchmarks.site import Company, Installation, installation
from benchmarks.size import sized
from wmsd.db.engine.sqlite import connect

FEW: Final = sized(10, 1)
MANY: Final = sized(1000, 3)
LATE: Final = 5
"""The number of late orders in each company."""
LATE_ORDER: Final = """
    INSERT INTO sales_orders (code, status, status_history, partner_id, warehouse_id, requested_date, change_seq,
        created_at, updated_at)
    VALUES ('LATE-' || :number, 'CREAT', '[]', 1, 1, '2026-11-0' || :number, :number, 'x', 'x')
"""
LATE_IN_ALL: Final = re.compile(r'<b class="bad"><a href="[^"]*">([^<]+)</a></b>')
LONGEST_SECONDS: Final = 300.0
"""The longest wait until the page Today has the numbers of all companies, in seconds.

The server reads ten files per second of companies that are not in use.
"""


def measure() -> Iterator[Figure]:
    with ExitStack() as stack:
        several, few = _reader(stack, MANY), _reader(stack, FEW)  # the connection for FEW would be idle for long
        progress(TODAY)
        yield timed(TODAY, partial(few.seconds, "/today"), partial(several.seconds, "/today"))


def _reader(stack: ExitStack, count: int) -> Reader:
    """Return a connection of an admin of `count` companies, after the server has read the numbers of all
    companies.
    """
    made = stack.enter_context(installation())
    first = company_with_goods(made, articles=20, partners=2)
    _make_late_orders(made, first)
    many(made, first, count)
    server = stack.enter_context(wmsd_server(made.data, {**QUIET, **SETTINGS}))
    reader = Reader(stack.enter_context(closing(server.connect())), {"Cookie": sign_in(server)})
    until = time.monotonic() + LONGEST_SECONDS
    while (late := _late_in_all(reader)) != count * LATE:
        if time.monotonic() > until:
            raise Failed(f"the numbers of all companies were not read in time: {late} orders are late.")
        time.sleep(1)
    return reader


def _late_in_all(reader: Reader) -> int:
    found = LATE_IN_ALL.search(reader.get("/today").decode())
    return int(re.sub(r"\D", "", found[1])) if found else 0


def _make_late_orders(made: Installation, company: Company) -> None:
    with closing(connect(made.data / "companies" / f"{company.id}.db")) as connection, connection:
        connection.executemany(LATE_ORDER, [{"number": number} for number in range(1, LATE + 1)])
