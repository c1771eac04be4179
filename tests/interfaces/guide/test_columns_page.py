"""The guide's page of columns lists the columns of imports, kind by kind."""

import pytest

from tests.interfaces.pages.records.test_browse import signed_in
from tests.support.shop import Shop
from wmsd.imports.file_kinds import KINDS
from wmsd.interfaces.guide.columns_page import columns_page

TABLES = {
    part.partition("\n")[0]: [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in part.splitlines()
        if line.startswith("| `")
    ]
    for part in columns_page().split("\n## ")[1:]
}


def test_every_kind_has_its_table() -> None:
    assert list(TABLES) == list(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_the_columns_and_says_which_are_required(kind: str) -> None:
    assert [row[0].strip("`") for row in TABLES[kind]] == list(KINDS[kind].columns)
    assert {row[0].strip("`") for row in TABLES[kind] if row[2] == "yes"} == set(KINDS[kind].required)


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        ("articles", ["`code`", "text", "yes", "The code of the article (SKU), unique in the company."]),
        ("articles", ["`name`", "text", "for a new record", ""]),
        ("articles", ["`client_code`", "the code of the client", "", ""]),
        ("articles", ["`barcodes`", "a list, with `;` between its members", "", ""]),
        (
            "articles",
            ["`track_lot`", "`true` or `false`", "", "Each reception of the article must name its lots."],
        ),
        ("partners", ["`type`", "`CLIENT` `FURNIZOR` `TRANSPORTATOR`", "", ""]),
        ("partners", ["`address.postal_code`", "text", "", ""]),
        ("stock", ["`quantity`", "a number", "yes", ""]),
        ("purchase-orders", ["`expected_date`", "a date", "", ""]),
        ("sales-orders", ["`line_warehouse_code`", "the code of the warehouse of the line", "", ""]),
        ("receptions", ["`item`", "a whole number", "", ""]),
        (
            "packaging-movements",
            ["`occurred_at`", "a date and time", "", "Leave empty if the packaging moves now."],
        ),
    ],
)
def test_it_says_what_the_cells_hold(kind: str, row: list[str]) -> None:
    assert row in TABLES[kind]


async def test_the_form_of_an_import_leads_to_it(shop: Shop) -> None:
    visitor = await signed_in(shop.world)
    form = await visitor.get("/companies/1/imports/new")
    assert '<a href="/docs/columns">The guide</a> lists the columns for each kind of record.' in " ".join(
        form.text.split()
    )
    seen = await visitor.get("/docs/columns")
    assert (seen.status, "packaging_type_code" in seen.text) == (200, True)
