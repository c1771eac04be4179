"""A company with stock of the articles A and B, its server, and the checks of its file at the end."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.processes import WMSD, Failed, Server, environment, wmsd_server
from benchmarks.site import Company, Installation, installation
from soak_runs.verdict import progress
from tests.support.raw_http import Caller
from tests.support.wholeness import NOT_TOLD_ONCE

FILES: Final = {
    "partners": "code,name,type\nP,Customer,CLIENT\n",
    "warehouses": "code,name\nMAIN,Main\n",
    "articles": "code,name\nA,Alpha\nB,Beta\n",
}
PLENTY: Final = 100_000_000
AS_ROOT: Final = "wmsd runs as root"
LOGGED: Final = re.compile(r"^(\S+ \S+ (warning|error|critical) |Traceback).*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shop:
    site: Installation
    company: Company

    @contextmanager
    def serving(self) -> Iterator[tuple[Server, Caller]]:
        with wmsd_server(self.site.data) as server:
            yield server, Caller(server.port, self.company.token, self.company.id)

    def rows(self, sql: str) -> list[Any]:
        from wmsd.db.engine.sqlite import connect

        with self.site.borrowed(self.company) as file:
            connection = connect(file)
            try:
                return connection.execute(sql).fetchall()
            finally:
                connection.close()

    def flaws(self) -> Iterator[str]:
        """Yield a sentence for each broken promise of the file, and for each problem in the servers' logs."""
        yield from self._examined()
        for order, times in self.rows(NOT_TOLD_ONCE):
            yield f"{order} has {times} sales_order.created."
        for log in self.site.data.parent.glob("server-*.log"):
            for line in LOGGED.finditer(log.read_text(encoding="utf-8")):
                if AS_ROOT not in line[0]:
                    yield f"The server logged: {line[0]}"

    def _examined(self) -> Iterator[str]:
        command: list[str | Path] = [WMSD, "doctor", "--data", self.site.data, "--json"]
        done = subprocess.run(command, env=environment(), text=True, capture_output=True)
        if not done.stdout:
            raise Failed(f"wmsd doctor ended with {done.returncode}:\n{done.stderr[-2000:]}")
        for company in json.loads(done.stdout):
            if not company["ok"]:
                yield f"wmsd doctor finds {json.dumps(company)}."


@contextmanager
def open_shop(of_a: int = PLENTY, of_b: int = PLENTY) -> Iterator[Shop]:
    progress("creating a shop")
    with installation() as site:
        company = site.company("SOAK")
        for kind, text in FILES.items():
            site.import_csv(kind, company, text)
        site.import_csv("stock", company, f"article_code,warehouse_code,quantity\nA,MAIN,{of_a}\nB,MAIN,{of_b}\n")
        yield Shop(site, company)
