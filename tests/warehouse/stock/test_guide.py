"""The guide's page on stock names every kind of ledger entry."""

import re
from pathlib import Path
from typing import get_args

from wmsd import docs
from wmsd.warehouse.stock.stock_ledger import Kind


def test_the_guide_names_every_kind_of_movement() -> None:
    page = (Path(docs.__file__).parent / "stock.md").read_text(encoding="utf-8")
    table = page.partition("| kind | made by |\n|---|---|\n")[2].partition("\n\n")[0]
    named = [kind for row in table.splitlines() for kind in re.split(", ", row.split("|")[1].strip())]
    assert sorted(named) == sorted(get_args(Kind))
