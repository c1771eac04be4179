"""The shop before the month: its company, directory, articles and opening stock, through the command line."""

import csv
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from benchmarks.processes import ROOT, Server, run
from benchmarks.site import Company, Installation
from replay.invoices import WALK_IN

KINDS: Final = ("warehouses", "partners", "articles", "stock")
WALK_IN_CSV: Final = f"code,name,type\n{WALK_IN},Walk-in customer,CLIENT\n"


def set_up(folder: Path, source: Path) -> Company:
    """Makes the import files and takes them in; the data folder is `data`."""
    run([sys.executable, ROOT / "scripts" / "retail-files", source, folder], folder)
    site = Installation(folder / "data")
    company = site.company("SHOP")
    for kind in KINDS:
        site.import_csv(kind, company, (folder / f"{kind}.csv").read_text(encoding="utf-8"))
    site.import_csv("partners", company, WALK_IN_CSV)
    return company


def opening_stock(folder: Path) -> dict[str, int]:
    """Pieces by stock code, as they were imported."""
    with (folder / "stock.csv").open(encoding="utf-8", newline="") as file:
        return {row["article_code"]: int(row["quantity"]) for row in csv.DictReader(file)}


@dataclass(frozen=True, slots=True)
class Shop:
    """The company while its server runs."""

    server: Server
    company: Company

    def get(self, path: str) -> Any:
        return json.loads(self.server.get(path, self.company.headers))

    def ids(self, path: str) -> dict[str, int]:
        """The ids of a page list, by code."""
        found: dict[str, int] = {}
        page = last = 1
        while page <= last:
            body = self.get(f"{path}?per_page=200&page={page}")
            found |= {record["code"]: record["id"] for record in body["data"]}
            page, last = page + 1, body["meta"]["last_page"]
        return found

    def walk(self, path: str) -> Iterator[Any]:
        """Every record of a cursor list."""
        cursor: str | None = ""
        while cursor is not None:
            body = self.get(f"{path}?per_page=500" + (f"&cursor={quote(cursor)}" if cursor else ""))
            yield from body["data"]
            cursor = body["next_cursor"]
