"""The shop before the month: its company, directory and articles, created by the command line. The stock is 0."""

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from benchmarks.processes import ROOT, Server, run
from benchmarks.site import Company, Installation
from replay.articles import COLUMNS, columns
from replay.invoices import WALK_IN
from replay.plan import Plan

KINDS: Final = ("warehouses", "partners", "articles")
PARTNER_COLUMNS: Final = ("code", "name", "type")


def set_up(folder: Path, source: Path, plan: Plan) -> Company:
    """Write the import files and import them. The data folder is `data`."""
    run([sys.executable, ROOT / "scripts" / "retail-files", source, folder], folder)
    site = Installation(folder / "data")
    company = site.company("SHOP")
    for kind in KINDS:
        site.import_csv(kind, company, (folder / f"{kind}.csv").read_text(encoding="utf-8"))
    suppliers = sorted({order.supplier for order in plan.purchases})
    partners = [(WALK_IN, "Walk-in customer", "CLIENT"), *((code, code, "FURNIZOR") for code in suppliers)]
    site.import_csv("partners", company, _csv(PARTNER_COLUMNS, partners))
    site.import_csv("articles", company, _csv(COLUMNS, (columns(*each) for each in plan.articles.items())))
    return company


def _csv(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return file.getvalue()


def article_count(folder: Path) -> int:
    """Return the number of articles in the source, including those that are not goods."""
    with (folder / "articles.csv").open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.DictReader(file))


@dataclass(frozen=True, slots=True)
class Shop:
    """The company while its server runs."""

    server: Server
    company: Company

    def pages(self, path: str) -> Iterator[Any]:
        """Yield every record of a list with pages."""
        page = last = 1
        while page <= last:
            body = self._get(path, per_page=200, page=page)
            yield from body["data"]
            page, last = page + 1, body["meta"]["last_page"]

    def walk(self, path: str, **query: str) -> Iterator[Any]:
        """Yield every record of a list with cursors."""
        cursor: str | None = ""
        while cursor is not None:
            body = self._get(path, per_page=500, **query, **({"cursor": cursor} if cursor else {}))
            yield from body["data"]
            cursor = body["next_cursor"]

    def ids(self, path: str) -> dict[str, int]:
        """Return the ids of a list with pages, by code."""
        return {record["code"]: record["id"] for record in self.pages(path)}

    def _get(self, path: str, **query: object) -> Any:
        return json.loads(self.server.get(f"{path}?{urlencode(query)}", self.company.headers))
