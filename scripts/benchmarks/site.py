"""An installation to measure, created by the real command line."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.processes import WMSD, folder, progress, run

ADMIN: Final = "bench@example.com"
PASSWORD: Final = "correct-horse-9"
KINDS: Final = ("Bearing", "Bracket", "Cable", "Filter", "Gasket", "Hinge", "Lamp", "Motor", "Pump", "Valve")
MATERIALS: Final = ("brass", "copper", "nylon", "oak", "rubber", "steel", "zinc")
UNITS: Final = ("pcs", "box", "kg", "m")


@dataclass(frozen=True, slots=True)
class Company:
    id: int
    code: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "X-Company-Id": str(self.id)}


@dataclass(frozen=True, slots=True)
class Installation:
    data: Path

    def wmsd(self, *words: str | Path, stdin: str = "") -> str:
        group, *rest = words
        command = [group, *rest[:1], "--data", self.data, *rest[1:]]
        return run([WMSD, *command], self.data.parent, stdin)

    def company(self, code: str) -> Company:
        """Create a company with every module on. With the first company, create the data folder and an admin."""
        is_first = not self.data.exists()
        made = json.loads(
            self.wmsd("company", "create", code, "--name", code, "--init", "--all-modules", "--json")
        )
        if is_first:
            self.user(ADMIN)
        token = self.wmsd("token", "create", "--user", ADMIN, "--ability", "*", "--company", code).strip()
        return Company(made["id"], code, token)

    def user(self, email: str) -> None:
        """Create another platform admin."""
        self.wmsd("user", "create", email, "--role", "platform-admin", "--password-stdin", stdin=f"{PASSWORD}\n")

    def file(self, company: Company) -> Path:
        return self.data / "companies" / f"{company.id}.db"

    @contextmanager
    def borrowed(self, company: Company) -> Iterator[Path]:
        """Yield the company's file, borrowed from a running server as commands do."""
        from wmsd.data_folder.folder import DataFolder
        from wmsd.data_folder.lending import beside_a_server

        with beside_a_server(DataFolder(self.data)) as loan:
            if loan is not None:
                loan.borrow(self.file(company))
            yield self.file(company)

    def copy(self, company: Company, copy: Path) -> None:
        from wmsd.db.engine.sqlite import connect

        with self.borrowed(company) as file:
            source = connect(file)
            source.execute("VACUUM INTO ?", (str(copy),))
            source.close()

    def import_csv(self, kind: str, company: Company, text: str) -> None:
        self.wmsd("import", kind, "-", "--company", company.code, stdin=text)

    def load_articles(self, company: Company, count: int) -> None:
        progress(f"importing {count} articles into {company.code}")
        self.import_csv("articles", company, articles_csv(count))

    def load_stock(self, company: Company, count: int, least: int = 0) -> None:
        """Import stock of each article in one warehouse. The quantities are from `least` + 1 to `least` + 500."""
        progress(f"importing {count} stock counts into {company.code}")
        self.import_csv("warehouses", company, "code,name\nMAIN,Main\n")
        rows = (f"{article_code(number)},MAIN,{least + number % 500 + 1}\n" for number in range(1, count + 1))
        self.import_csv("stock", company, "article_code,warehouse_code,quantity\n" + "".join(rows))


def article_code(number: int) -> str:
    return f"A{number:07}"


def articles_csv(count: int) -> str:
    return "code,name,unit,description,barcode\n" + "".join(_article_lines(count))


def _article_lines(count: int) -> Iterator[str]:
    for number in range(1, count + 1):
        kind, material = KINDS[number % len(KINDS)], MATERIALS[number % len(MATERIALS)]
        yield (
            f"{article_code(number)},{kind} {material} {number},{UNITS[number % len(UNITS)]},"
            f'"{kind} of {material}, size {number % 97}, for the assembly of series {number % 1009}",'
            f"{4_000_000_000_000 + number}\n"
        )


@contextmanager
def installation() -> Iterator[Installation]:
    """Yield an installation with a new data folder, which is deleted afterwards."""
    with folder() as path:
        yield Installation(path / "data")
