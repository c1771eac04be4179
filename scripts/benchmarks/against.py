"""The measurement `scripts/bench --against REVISION`: what each request costs here and at the other revision.

Three servers with the same data run at a time: two of this tree, and one of the other revision. The servers are
measured in turns, so that other work of the machine slows all of them. The comparison of this tree with itself
shows the noise. A row whose noise is more than half of the allowed difference is not conclusive.
"""

import itertools
import json
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.compared_rows import ROUNDS, Row, markdown, table
from benchmarks.exchanges import Request, exchange
from benchmarks.processes import Failed, Server, folder, progress
from benchmarks.revisions import Checkout, checked_out, this_tree
from benchmarks.site import ADMIN, PASSWORD, Company, articles_csv
from benchmarks.size import sized
from benchmarks.webhooks import CREATED, LOOPBACK, Receiver, receiving, subscribe

FLAME_SECONDS: Final = sized(3.0, 0.05)
UNKNOWN: Final = re.compile(r"the environment: (\w+) is not a setting")
FILE_NAME: Final = re.compile(r"[^a-z0-9]+", re.IGNORECASE)
ROUND_SECONDS: Final = sized(0.3, 0.01)
"""The processor time, in seconds, that one round of a row should cost the server."""
ARTICLES: Final = sized(2_000, 60)
PAGES: Final = ARTICLES // 50
SPELLINGS: Final = 13
PARTNERS: Final = sized(100, 5)
ORDERS: Final = sized(1_000, 60)
AT_ONCE: Final = sized((1, 32), (1, 2))
IN_A_BATCH: Final = sized(50, 3)
IMPORTED: Final = sized(10_000, 50)
LIMITS: Final = {
    f"WMSD_LIMITS_{what}_PER_MINUTE": "1000000000" for what in ("DATA", "SANDBOX", "GRAPHQL", "AUTH", "REFUSED")
}
QUIET: Final = {**LIMITS, "WMSD_LOG_LEVEL": "warning", "WMSD_REQUESTS_KEEP": "false"}
"""Settings without the request log and the request history."""
READ_ORDERS: Final = 50
GRAPHQL: Final = f"""{{
    sales_orders(first: {READ_ORDERS}) {{ nodes {{ id code status lines {{ article_id quantity }} }} }}
}}"""


@dataclass
class Filled:
    """A data folder with a company. `numbers` makes each request different from all earlier ones."""

    checkout: Checkout
    data: Path
    token: str
    cursors: Sequence[str] = ("",)
    """The cursors of pages of stock."""
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "X-Company-Id": "1"}


class Side(NamedTuple):
    """One of the three servers that are measured, with its data folder."""

    filled: Filled
    server: Server
    over_tls: bool = False
    receiver: Receiver | None = None
    """The receiver of the webhook delivery that each request causes."""

    def exchange(self, kind: "Kind", connections: int, number: int) -> list[float]:
        """Send `number` requests, and return the duration of each in seconds.

        If there is a receiver, also wait until the webhook deliveries of the requests have arrived.
        """
        requests = (kind.make(number, self.filled) for number in self.filled.numbers)
        if self.receiver is not None:
            self.receiver.forget()
        seconds = exchange(self.server.port, requests, self.filled.headers, connections, number, self.over_tls)
        if self.receiver is not None:
            self.receiver.await_count(number)
        return seconds


class Kind(NamedTuple):
    """A kind of request. `make` gets a number that no other request to the server has, and the data folder."""

    name: str
    make: Callable[[int, Filled], Request]


def _of_pages(number: int) -> tuple[int, str]:
    """Return a page number, and the parameter `per_page` with the value 50 and some leading zeros.

    The zeros make the address of a page different from request to request, so that no answer comes from a cache.
    """
    return number % PAGES + 1, f"per_page={'0' * (number // PAGES % SPELLINGS)}50"


def _articles(number: int, _: Filled) -> Request:
    page, per_page = _of_pages(number)
    return Request("GET", f"/api/articles?{per_page}&page={page}")


def _stock(number: int, filled: Filled) -> Request:
    page, per_page = _of_pages(number)
    return Request("GET", f"/api/v2/stock?{per_page}{filled.cursors[page % len(filled.cursors)]}")


def _order(number: int) -> dict[str, object]:
    first = number % (ARTICLES - 3) + 1
    lines = [{"article_id": first + place, "quantity": 1} for place in range(3)]
    return {"partner_id": number % PARTNERS + 1, "warehouse_id": 1, "lines": lines}


def _json(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def _created(number: int, _: Filled) -> Request:
    return Request("POST", "/api/v2/sales-orders", _json(_order(number)), {"Idempotency-Key": f"key-{number}"})


def _batch(number: int, _: Filled) -> Request:
    single = [
        {"method": "POST", "path": "/api/v2/sales-orders", "body": _order(number * IN_A_BATCH + place)}
        for place in range(IN_A_BATCH)
    ]
    return Request("POST", "/api/v2/batch", _json({"requests": single}), {"Idempotency-Key": f"batch-{number}"})


def _moved(number: int, _: Filled) -> Request:
    """Return a request that moves an order forwards or backwards. The orders take turns.

    The orders that GraphQL reads are not moved, because an order becomes larger with each move.
    """
    moved = ORDERS - READ_ORDERS
    status = ("IN_LUCRU", "CREAT")[number // moved % 2]
    return Request("PATCH", f"/api/sales-orders/{READ_ORDERS + number % moved + 1}", _json({"status": status}))


ORDER: Final = Kind("order of three lines with a key", _created)
ARTICLE: Final = Kind("one article", lambda number, _: Request("GET", f"/api/articles/{number % ARTICLES + 1}"))
KINDS: Final = (
    ARTICLE,
    Kind("list of 50 articles", _articles),
    Kind("v2 stock of 50", _stock),
    Kind("the same list of 50 articles", lambda *_: Request("GET", "/api/articles?per_page=50")),
    Kind("sync page of 500", lambda *_: Request("GET", "/api/articles/sync?per_page=500")),
    ORDER,
    Kind("status move", _moved),
    Kind("batch of 50 orders", _batch),
    Kind("GraphQL of 50 orders", lambda *_: Request("POST", "/api/graphql", _json({"query": GRAPHQL}))),
)


class Setup(NamedTuple):
    """The settings of the servers, and the kinds of request to send. The names of the rows end in `suffix`."""

    suffix: str
    settings: Mapping[str, str]
    kinds: Sequence[Kind]
    over_tls: bool = False
    is_subscribed: bool = False
    """True if a webhook is subscribed to created orders."""


SETUPS: Final = (
    Setup("", LIMITS, KINDS),
    Setup(", log and history off", QUIET, KINDS),
    Setup(", over TLS", {**LIMITS, "WMSD_SERVER_TLS": "lan"}, [ARTICLE], over_tls=True),
    Setup(", with a webhook delivery each", {**LIMITS, **LOOPBACK}, [ORDER], is_subscribed=True),
)


def measure(revision: str, kept: Path | None = None, flames: Path | None = None) -> int:
    """Measure this tree and the other revision, and print the table of results. Return 1 if a request became
    slower. Otherwise, return 2 if a row is not conclusive or could not be measured, or else 0. Raise Failed if the
    whole measurement is impossible.

    `kept` is a file to write the table to, as Markdown. `flames` is a folder for a flame graph of each kind of
    request.
    """
    rows: list[Row] = []
    left_out: list[Setup] = []
    with folder() as scratch, checked_out(revision, scratch) as other:
        here = this_tree()
        first = _fill(here, scratch / "side-0")
        filled = [first, _copy(first, scratch / "side-1"), _fill(other, scratch / "side-2")]
        for setup in SETUPS:
            try:
                rows += _rows_of(setup, filled, flames)
            except Failed as error:
                if setup is SETUPS[0]:
                    raise
                left_out.append(setup)  # for example TLS, at a revision that creates no certificates
                progress(f"not measured{setup.suffix}: {error}")
        rows.append(_starts(filled))
        rows.append(_imports(filled))
    print(table(rows, other.name))
    if kept is not None:
        kept.write_text(markdown(rows, other.name), encoding="utf-8")
    verdicts = {row.verdict for row in rows}
    return 1 if "dearer" in verdicts else 2 if "too noisy" in verdicts or left_out else 0


def _rows_of(setup: Setup, filled: Sequence[Filled], flames: Path | None) -> Iterator[Row]:
    with ExitStack() as stack:
        sides = [_side(each, setup, stack) for each in filled]
        for side in sides:
            side.exchange(ORDER, 8, ORDERS)
        for kind, connections in itertools.product(setup.kinds, AT_ONCE):
            row = _row(kind, connections, sides, f"{kind.name}, {connections} at once{setup.suffix}")
            progress(f"{row.name}: {row.ratio:.2f} {row.verdict}")
            yield row
            if flames is not None and connections > 1 and setup is SETUPS[0]:
                draw(flames / f"{FILE_NAME.sub('-', row.name)}.svg", sides[0], kind, connections)
        yield Row(f"memory after that, MB{setup.suffix}", [side.server.resident_mb() for side in sides])


def _side(filled: Filled, setup: Setup, stack: ExitStack) -> Side:
    server = _serving(filled, setup.settings, stack)
    if not setup.over_tls:
        filled.cursors = list(_cursors(server, filled))
    if not setup.is_subscribed:
        return Side(filled, server, setup.over_tls)
    receiver = stack.enter_context(receiving(filled.data.parent))
    subscribe(server, Company(1, "ACME", filled.token), receiver.url("orders"), CREATED)
    return Side(filled, server, setup.over_tls, receiver)


def _serving(filled: Filled, settings: Mapping[str, str], stack: ExitStack) -> Server:
    """Start a server with the settings that its revision knows. Unknown settings are left out."""
    try:
        return stack.enter_context(filled.checkout.serving(filled.data, settings))
    except Failed as error:
        unknown = UNKNOWN.search(str(error))
        if unknown is None:
            raise
        left = {name: value for name, value in settings.items() if name != unknown[1]}
        return _serving(filled, left, stack)


def _cursors(server: Server, filled: Filled) -> Iterator[str]:
    """Yield the cursor parameters of the pages of stock."""
    cursor = ""
    for _ in range(PAGES):
        yield cursor
        page = json.loads(server.get(f"/api/v2/stock?per_page=50{cursor}", filled.headers))
        cursor = f"&cursor={page['end_cursor']}"


def _fill(checkout: Checkout, where: Path) -> Filled:
    progress(f"filling a company by {checkout.name}")
    where.mkdir()
    data = where / "data"
    checkout.wmsd(data, "company", "create", "ACME", "--name", "Acme", "--init", "--all-modules")
    admin = ("user", "create", ADMIN, "--role", "platform-admin", "--password-stdin")
    checkout.wmsd(data, *admin, stdin=f"{PASSWORD}\n")
    partners = "".join(f"P{number},Partner {number},CLIENT\n" for number in range(1, PARTNERS + 1))
    stock = "".join(f"A{number:07},MAIN,500000000\n" for number in range(1, ARTICLES + 1))
    for kind, text in (
        ("warehouses", "code,name\nMAIN,Main\n"),
        ("partners", f"code,name,type\n{partners}"),
        ("articles", articles_csv(ARTICLES)),
        ("stock", f"article_code,warehouse_code,quantity\n{stock}"),
    ):
        checkout.wmsd(data, "import", kind, "-", "--company", "ACME", stdin=text)
    token = checkout.wmsd(data, "token", "create", "--user", ADMIN, "--ability", "*", "--company", "ACME")
    return Filled(checkout, data, token.strip())


def _copy(filled: Filled, where: Path) -> Filled:
    """Copy the data folder, in which no server may have run yet, and return the copy."""
    shutil.copytree(filled.data.parent, where)
    return Filled(filled.checkout, where / filled.data.name, filled.token)


def _row(kind: Kind, connections: int, sides: Sequence[Side], name: str) -> Row:
    """Measure a row. In each round the sides take turns, and every other round has the reverse order."""
    number = max(connections, _as_many_as_take(ROUND_SECONDS, kind, connections, sides[0]))
    cost: list[list[float]] = [[] for _ in sides]
    seconds: list[list[float]] = [[] for _ in sides]
    for turn in range(ROUNDS):
        for place in range(len(sides)) if turn % 2 else reversed(range(len(sides))):
            spent, found = _spent(kind, connections, sides[place], number)
            cost[place].append(spent / number)
            seconds[place] += found
    return Row(name, [min(each) * 1e6 for each in cost], [_percentiles(each) for each in seconds])


def draw(file: Path, side: Side, kind: Kind, connections: int) -> None:
    """Draw a flame graph of the server's work during requests of this kind.

    Raise Failed if py-spy cannot watch the server.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    watch = (Path(sys.executable).with_name("py-spy"), "record", "--pid", str(side.server.pid))
    command: list[str | Path] = [*watch, "--rate", "500", "--nonblocking", "--output", file]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as spy:
        number = max(connections, _as_many_as_take(FLAME_SECONDS, kind, connections, side))
        _spent(kind, connections, side, number)
        spy.send_signal(signal.SIGINT)
        told, _ = spy.communicate()
    if not file.exists():
        raise Failed(f"py-spy could not profile the server: {told.strip()[-500:]}")


def _spent(kind: Kind, connections: int, side: Side, number: int) -> tuple[float, list[float]]:
    """Send `number` requests. Return the processor time that the server used, and the duration of each request, in
    seconds.
    """
    before = side.server.processor_seconds()
    found = side.exchange(kind, connections, number)
    return side.server.processor_seconds() - before, found


def _as_many_as_take(seconds: float, kind: Kind, connections: int, side: Side) -> int:
    few = 2 * connections
    _spent(kind, connections, side, few)  # the first requests also pay for what is created only once
    spent, _ = _spent(kind, connections, side, few)
    return int(few * seconds / spent)


def _percentiles(seconds: list[float]) -> tuple[float, float]:
    ordered = sorted(seconds)
    return statistics.median(ordered) * 1000, ordered[int(len(ordered) * 0.99)] * 1000


def _starts(filled: Sequence[Filled]) -> Row:
    """Measure the processor time from the start of the process until it listens."""

    def start(place: int) -> float:
        with filled[place].checkout.serving(filled[place].data, LIMITS) as server:
            return server.processor_seconds() * 1e6

    return _of_turns("start", start, len(filled))


def _imports(filled: Sequence[Filled]) -> Row:
    """Measure the duration of an import by the command line. Each round imports new articles."""
    numbers = itertools.count(1)

    def take(place: int) -> float:
        first = next(numbers) * IMPORTED
        text = "".join(f"I{number},Imported {number}\n" for number in range(first, first + IMPORTED))
        began = time.perf_counter()
        words = ("import", "articles", "-", "--company", "ACME")
        filled[place].checkout.wmsd(filled[place].data, *words, stdin=f"code,name\n{text}")
        return (time.perf_counter() - began) * 1e6

    return _of_turns(f"import of {IMPORTED} rows", take, len(filled))


def _of_turns(name: str, work: Callable[[int], float], sides: int) -> Row:
    progress(name)
    found: list[list[float]] = [[] for _ in range(sides)]
    for turn in range(ROUNDS):
        for place in range(sides) if turn % 2 else reversed(range(sides)):
            found[place].append(work(place))
    return Row(name, [min(each) for each in found])
