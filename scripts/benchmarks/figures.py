"""The names of all measurements, their goals, and the table of results."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

ONE_ARTICLE: Final = "GET /api/articles/{id}, 32 connections"
PAGE_OF_ARTICLES: Final = "GET /api/articles?per_page=50, 32 connections"
SAME_PAGE_OF_ARTICLES: Final = f"{PAGE_OF_ARTICLES}: the same list, unchanged"
PAGE_OF_STOCK: Final = "GET /api/v2/stock?per_page=50&cursor=…, 32 connections"
SAME_PAGE_OF_STOCK: Final = f"{PAGE_OF_STOCK}: the same list, unchanged"
IMPORT: Final = "import of 100 000 articles"
WAIT_FOR_ARTICLES: Final = f"longest wait of a write beside the {IMPORT}"
WAIT_FOR_STOCK: Final = "longest wait of a write beside the import of 100 000 rows of stock"
WAIT_FOR_ORDERS: Final = "longest wait of a write beside the import of 20 000 orders"
FIRST_PAGE: Final = "page 1 of /api/articles, 1 000 000 against 10 000"
LAST_SYNC_PAGE: Final = "last page of /api/articles/sync, 1 000 000 against 10 000"
FIRST_STOCK_PAGE: Final = "page 1 of /api/v2/stock, 1 000 000 against 10 000"
LAST_STOCK_PAGE: Final = "last page of /api/v2/stock, 1 000 000 against 10 000"
MEMORY_IDLE: Final = "resident memory after start"
MEMORY_USED: Final = "resident memory after one request"
ORDERS: Final = "three-line orders with their keys, 32 connections"
BATCH_OF_ORDERS: Final = "orders in batches of 50 against single posts, 1 connection"
ORDERS_BY_STATUS_AND_PARTNER: Final = "orders by status and partner, 1 000 000 against 10 000"
RECEPTIONS: Final = "receptions of 200 lines at FINALIZAT, 1 connection"
RECEPTIONS_TOGETHER: Final = "receptions of 200 lines at FINALIZAT, 4 connections"
LONG_LEDGER: Final = "5 000 000 movements against 50 000"
STOCK_PAGE: Final = f"page 1 of /api/stock, {LONG_LEDGER}"
STOCK_CURSOR_PAGE: Final = f"page 1 of /api/v2/stock, {LONG_LEDGER}"
STOCK_WALK: Final = f"a walk through /api/v2/stock, {LONG_LEDGER}"
STOCK_LOTS: Final = f"page 1 of /api/v2/stock?detail=lots, {LONG_LEDGER}"
STOCK_LOTS_WALK: Final = f"a walk through /api/v2/stock?detail=lots, {LONG_LEDGER}"
STOCK_OF_ARTICLE: Final = f"an article's stock with its lots, {LONG_LEDGER}"
DOCTOR: Final = f"wmsd doctor, {LONG_LEDGER}"
DRAINING: Final = "draining 40 000 deliveries to a local receiver"
BESIDE_THE_DEAD: Final = "median delay of a delivery, 100 dead receivers beside it against none"
ORDERS_SUBSCRIBED: Final = "three-line orders with their keys, 3 subscriptions to * against none"
GRAPHQL_ORDERS: Final = "GraphQL: 50 orders with lines and articles, against REST's lists of them"
GRAPHQL_REFUSED: Final = "GraphQL: of a hundred refusals the slowest but one"
COMPANIES_RATE: Final = "the mix by 1 000 companies against 1, p99 under 250 ms"
COMPANIES_AT_ONE_A_SECOND: Final = "the mix by 1 000 companies at 1 request/s each, 60 s"
COMPANIES_P99: Final = "their 99th percentile"
COMPANIES_CARRIED: Final = "companies at 60 requests a minute, p99 under 250 ms"
COMPANIES_COLD: Final = "first answer of a company whose file is closed, against its second"
COMPANIES_MEMORY: Final = "resident memory idle, 1 000 companies"
COMPANIES_MEMORY_USED: Final = "resident memory after each of 1 000 was used once"
COMPANIES_MEMORY_LATER: Final = "resident memory ten minutes later"
COMPANIES_START: Final = "start to healthy, 1 000 companies against 1"
COMPANIES_ORDERS: Final = "durable orders over 32 companies against 1, 32 connections"
BESIDE_A_FLOOD: Final = "99th percentile beside a company that asks 100 times its limit"
BESIDE_AN_IMPORT: Final = "99th percentile beside an import of 100 000 rows"
BESIDE_A_SLOW_LIST: Final = "99th percentile beside lists of a second"
BESIDE_DEAD_RECEIVERS: Final = "99th percentile beside a company with 100 dead receivers"
BACKUP_RATE: Final = "backup of 1 GB beside orders, against cp"
ORDERS_BESIDE_A_BACKUP: Final = "orders beside a backup of 1 GB, against none"
RESTORE_SECONDS: Final = "restore of a company of 100 MB, against cp of its file"
ORDERS_BESIDE_REPLICATION: Final = "orders beside replication, against none"
LOST_BY_A_REPLICA: Final = "orders that a replica lacks after a kill"
REPLICA_SERVES: Final = "a replica restored and serving"
P99_BESIDE_A_PROOF: Final = "99th percentile beside the proof of 1 000 companies"
PAGE_AGAINST_API: Final = "against the API's answer"
DOWNLOAD: Final = "download of 100 000 articles, against the API"
DOWNLOAD_FOR_IMPORT: Final = "the same for an import"
DOWNLOAD_OF_ORDERS: Final = "download of orders, against the API"
BESIDE_DOWNLOADS: Final = "99th percentile of another company beside 100 downloads"
OPEN_FIRST: Final = "first time"
OPEN_AGAIN: Final = "again"
OPEN_SEARCH: Final = "searched for"
HEAVIEST_PAGE: Final = "heaviest page with all that it loads"
SCRIPTS: Final = "our own JavaScript"
SCRIPTS_WITH_LINES: Final = "our own JavaScript on a form with lines"
LABELS_OPENED: Final = "1 000 labels opened in Chromium"
SEARCH: Final = "the search box: 99th percentile of its processor time"
SEARCH_INDEX: Final = "a company's file with the search index, against none"
TODAY: Final = "Today with 1 000 companies, against 10"
STATUS: Final = "figures of 1 000 companies for wmsd status"
METRICS: Final = "a scrape with 1 000 companies"
OPENED_FOR_STATUS: Final = "files that are opened for these figures"
ORDERS_BESIDE_STREAMS: Final = "orders beside 200 open event streams, against none"
ORDERS_BESIDE_BROWSERS: Final = "orders beside 50 browsers that show Today, against none"
VERSION: Final = "dist/wmsd version"
SERVE: Final = "dist/wmsd serve until healthy"
PACKAGE_VERSION: Final = "the package's wmsd version, against dist/wmsd"
PACKAGE_SERVE: Final = "the package's wmsd serve until healthy, against dist/wmsd"


@dataclass(frozen=True, slots=True)
class Goal:
    """A limit for the ratio of the measured value to the floor, or for the measured value if there is no floor."""

    limit: float
    at_least: bool

    def is_met_by(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.limit:.3g}"


GOALS: Final[dict[str, Goal]] = {
    ONE_ARTICLE: Goal(0.5, at_least=True),
    PAGE_OF_ARTICLES: Goal(0.22, at_least=True),
    PAGE_OF_STOCK: Goal(0.2, at_least=True),
    **dict.fromkeys((SAME_PAGE_OF_ARTICLES, SAME_PAGE_OF_STOCK), Goal(0.35, at_least=True)),
    IMPORT: Goal(1 / 3, at_least=True),
    WAIT_FOR_ARTICLES: Goal(2, at_least=False),
    WAIT_FOR_STOCK: Goal(3, at_least=False),
    WAIT_FOR_ORDERS: Goal(12, at_least=False),
    FIRST_PAGE: Goal(1.5, at_least=False),
    LAST_SYNC_PAGE: Goal(1.5, at_least=False),
    FIRST_STOCK_PAGE: Goal(1.5, at_least=False),
    LAST_STOCK_PAGE: Goal(1.5, at_least=False),
    MEMORY_IDLE: Goal(90, at_least=False),
    MEMORY_USED: Goal(90, at_least=False),
    ORDERS: Goal(0.8, at_least=True),
    BATCH_OF_ORDERS: Goal(2, at_least=True),
    ORDERS_BY_STATUS_AND_PARTNER: Goal(1.5, at_least=False),
    RECEPTIONS: Goal(0.5, at_least=True),
    RECEPTIONS_TOGETHER: Goal(0.5, at_least=True),
    STOCK_PAGE: Goal(1.5, at_least=False),
    STOCK_CURSOR_PAGE: Goal(1.5, at_least=False),
    STOCK_WALK: Goal(1.5, at_least=False),
    STOCK_LOTS: Goal(1.5, at_least=False),
    STOCK_LOTS_WALK: Goal(1.5, at_least=False),
    STOCK_OF_ARTICLE: Goal(1.5, at_least=False),
    DOCTOR: Goal(2 / 3, at_least=True),
    DRAINING: Goal(0.6, at_least=True),
    BESIDE_THE_DEAD: Goal(1.5, at_least=False),
    ORDERS_SUBSCRIBED: Goal(0.75, at_least=True),
    GRAPHQL_ORDERS: Goal(0.4, at_least=True),
    GRAPHQL_REFUSED: Goal(20, at_least=False),
    COMPANIES_RATE: Goal(0.8, at_least=True),
    COMPANIES_AT_ONE_A_SECOND: Goal(990, at_least=True),
    COMPANIES_P99: Goal(250, at_least=False),
    COMPANIES_COLD: Goal(5, at_least=False),
    COMPANIES_MEMORY: Goal(100, at_least=False),
    COMPANIES_MEMORY_USED: Goal(500, at_least=False),
    COMPANIES_MEMORY_LATER: Goal(150, at_least=False),
    COMPANIES_START: Goal(1.5, at_least=False),
    COMPANIES_ORDERS: Goal(0.6, at_least=True),
    **dict.fromkeys(
        (BESIDE_A_FLOOD, BESIDE_AN_IMPORT, BESIDE_A_SLOW_LIST, BESIDE_DEAD_RECEIVERS), Goal(2, at_least=False)
    ),
    BACKUP_RATE: Goal(0.5, at_least=True),
    ORDERS_BESIDE_A_BACKUP: Goal(0.7, at_least=True),
    RESTORE_SECONDS: Goal(3, at_least=False),
    ORDERS_BESIDE_REPLICATION: Goal(0.9, at_least=True),
    LOST_BY_A_REPLICA: Goal(2, at_least=False),
    REPLICA_SERVES: Goal(60, at_least=False),
    P99_BESIDE_A_PROOF: Goal(1.5, at_least=False),
    **dict.fromkeys((DOWNLOAD, DOWNLOAD_FOR_IMPORT, DOWNLOAD_OF_ORDERS), Goal(3, at_least=False)),
    BESIDE_DOWNLOADS: Goal(100, at_least=False),
    HEAVIEST_PAGE: Goal(100, at_least=False),
    SCRIPTS: Goal(15, at_least=False),
    SCRIPTS_WITH_LINES: Goal(25, at_least=False),
    LABELS_OPENED: Goal(3, at_least=False),
    SEARCH: Goal(50, at_least=False),
    SEARCH_INDEX: Goal(1.15, at_least=False),
    TODAY: Goal(1.5, at_least=False),
    STATUS: Goal(100, at_least=False),
    METRICS: Goal(100, at_least=False),
    OPENED_FOR_STATUS: Goal(0, at_least=False),
    ORDERS_BESIDE_STREAMS: Goal(0.9, at_least=True),
    VERSION: Goal(3, at_least=False),
    SERVE: Goal(2.5, at_least=False),
    PACKAGE_SERVE: Goal(0.5, at_least=False),
}
PAGE_GOAL: Final = Goal(4, at_least=False)


OPEN_GOALS: Final = {OPEN_AGAIN: Goal(2, at_least=False), OPEN_SEARCH: Goal(4, at_least=False)}
"""Goals for the processor time of a whole request, in milliseconds. The search itself takes about half of it."""


def goal_of(figure: str) -> Goal | None:
    for end, goal in OPEN_GOALS.items():
        if figure.endswith(f" {end}"):
            return goal
    return PAGE_GOAL if figure.endswith(PAGE_AGAINST_API) else GOALS.get(figure)


HEADER: Final = ("figure", "wmsd", "floor", "unit", "ratio", "goal", "met")


@dataclass(frozen=True, slots=True)
class Figure:
    """A result. `measured` is None if the value could not be measured, and `note` then says why."""

    name: str
    unit: str
    measured: float | None
    floor: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.measured / self.floor if self.measured is not None and self.floor else None

    @property
    def met(self) -> bool | None:
        """True if the goal is met; None if there is no goal, or no value to compare with the goal."""
        goal = goal_of(self.name)
        value = self.measured if self.floor is None else self.ratio
        return None if goal is None or value is None else goal.is_met_by(value)

    def cells(self) -> list[str]:
        if self.measured is None:
            return [self.name, self.note, "", "", "", str(goal_of(self.name) or ""), ""]
        return [
            self.name,
            shown(self.measured),
            "" if self.floor is None else shown(self.floor),
            self.unit,
            "" if self.ratio is None else f"{self.ratio:.2f}",
            str(goal_of(self.name) or ""),
            {True: "yes", False: "NO", None: ""}[self.met],
        ]

    def as_json(self) -> dict[str, Any]:
        goal = goal_of(self.name)
        return {
            "figure": self.name,
            "unit": self.unit,
            "wmsd": self.measured,
            "floor": self.floor,
            "ratio": self.ratio,
            "goal": None if goal is None else str(goal),
            "met": self.met,
            "note": self.note,
        }


def shown(value: float) -> str:
    """Return the value as text with at least three digits. Values from 1000 have no decimals."""
    if value >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.1f}" if value >= 100 else f"{value:.3g}"


def table(figures: Iterable[Figure]) -> str:
    lines = [list(HEADER), *(figure.cells() for figure in figures)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(HEADER))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
