"""Companies with plenty of stock. Faults affect the first company, or all of them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.support.command import EMAIL, Home, first_day
from tests.support.hostile.scene import Tenant
from tests.support.wholeness import NOT_TOLD_ONCE
from wmsd.db.engine.sqlite import connect
from wmsd.interfaces.cli.maintenance.doctor import ONLY_WARNINGS

CODES: Final = ("ACME", "NEAR", "LATE")
STRUCK, NEAR, LATE = range(3)
"""The indexes of the three companies. The first and the second company are at work when a fault begins; the third
starts its work then.
"""
FILES: Final = {
    "partners": "code,name,type\nP,Customer,CLIENT\n",
    "warehouses": "code,name\nMAIN,Main\n",
    "articles": "code,name\nA,Alpha\nB,Beta\n",
    "stock": "article_code,warehouse_code,quantity\nA,MAIN,100000000\nB,MAIN,100000000\n",
}
SETTINGS: Final = {
    **{f"WMSD_LIMITS_{what}_PER_MINUTE": "1000000000" for what in ("DATA", "AUTH", "REFUSED", "OPEN")},
    "WMSD_TOKENS_MOST_DAYS": "36500",
    "WMSD_LOG_REQUESTS": "false",
}


@dataclass(frozen=True)
class Scene:
    home: Home
    tenants: tuple[Tenant, ...]

    def file(self, place: int) -> Path:
        return self.home.data / "companies" / f"{self.tenants[place].company}.db"

    def rows(self, place: int, sql: str) -> list[Any]:
        """Return rows of the company's file. No server may be running."""
        connection = connect(self.file(place))
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def stored(self, place: int) -> Counter[str]:
        """Return how many times the company's file has each order, by the order's notes."""
        return Counter(notes for (notes,) in self.rows(place, "SELECT notes FROM sales_orders"))

    def flaws(self) -> Iterator[str]:
        """Yield a sentence for each promise that the files break. No server may be running."""
        examined = self.home.run("doctor", "--json")
        if examined.code not in (0, ONLY_WARNINGS):
            yield f"wmsd doctor finds {examined.out.strip() or examined.err.strip()}"
        for place, code in enumerate(CODES):
            for order, times in self.rows(place, NOT_TOLD_ONCE):
                yield f"{order} of {code} has {times} sales_order.created."


def made_in(home: Home) -> Scene:
    home.environment |= SETTINGS
    first_day(home)
    for code in CODES[1:]:
        home.ok("company", "create", code, "--name", code, "--all-modules")
    for code in CODES:
        for kind, text in FILES.items():
            home.ok("import", kind, "-", "--company", code, stdin=text)
    token = home.ok("token", "create", "--user", EMAIL, "--ability", "*", "--expires", "36000d").out.strip()
    return Scene(home, tuple(Tenant(number, token) for number in range(1, len(CODES) + 1)))
