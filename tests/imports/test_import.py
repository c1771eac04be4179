"""Tests of `wmsd import` with good files: every kind, in every way in which a spreadsheet may write it."""

import pytest

from tests.support.command import Home, Tenant, at_a_terminal, hashes

ARTICLE_DEFAULTS = {
    "unit": "pcs",
    "description": "",
    "barcode": "",
    "barcodes": "",
    "unit_3pl": "",
    "um3pl_factor": "1",
    "min_stock": "",
    "track_lot": "false",
    "track_serial": "false",
    "weight_kg": "",
    "length_mm": "",
    "width_mm": "",
    "height_mm": "",
    "over_receipt_pct": "",
    "active": "true",
    "external_ref": "",
    "client_code": "",
}
PLACE = "article_code,warehouse_code,quantity\n"


def stocked(tenant: Tenant) -> Tenant:
    tenant.take("articles", "code,name\nA,Apple\nB,Bolt\n")
    tenant.take("warehouses", "code,name\nMAIN,Main\nSIDE,Side\n")
    return tenant


def test_articles(tenant: Tenant) -> None:
    tenant.take("clients", "code,name\nC1,Client\n")
    assert tenant.take("articles", "code,name\nA,Apple\n") == (1, 0, 0)
    assert tenant.rows("articles") == [{"code": "A", "name": "Apple", **ARTICLE_DEFAULTS}]
    whole = (
        "code,name,unit,description,barcode,barcodes,unit_3pl,um3pl_factor,min_stock,track_lot,track_serial,"
        "weight_kg,length_mm,width_mm,height_mm,over_receipt_pct,active,external_ref,client_code\n"
        "B,Bolt,box,Steel,400,401;402,pallet,12.5,3,true,false,0.25,10,20,30.000001,5,false,ERP-1,C1\n"
    )
    assert tenant.take("articles", whole) == (1, 0, 0)
    assert tenant.take("articles", whole) == (0, 0, 1)
    names, values = (line.split(",") for line in whole.splitlines())
    assert tenant.rows("articles")[1] == dict(zip(names, values, strict=True))


def test_partners(tenant: Tenant) -> None:
    address = "address.street,address.city,address.postal_code,address.country"
    header = f"code,name,type,tax_id,email,phone,{address},active\n"
    row = "P,Partner,FURNIZOR,RO1,p@example.com,+40 1,1 Main St,Cluj,0400,RO,false\n"
    assert tenant.take("partners", header + row) == (1, 0, 0)
    assert tenant.take("partners", header + row) == (0, 0, 1)
    assert tenant.rows("partners") == [dict(zip(header.rstrip().split(","), row.rstrip().split(","), strict=True))]


def test_a_text_that_looks_like_a_formula_is_taken_as_it_is_meant(tenant: Tenant) -> None:
    """A text that looks like a formula is imported as meant: with the `'` that an export puts before it, or as
    people type it.
    """
    rows = "A,=1+1\nB,'=1+1\nC,''=1+1\nD,'Apple'\n"
    assert tenant.take("articles", "code,name\n" + rows) == (4, 0, 0)
    assert [row["name"] for row in tenant.rows("articles")] == ["=1+1", "=1+1", "'=1+1", "'Apple'"]


@pytest.mark.parametrize("kind", ["clients", "partners", "warehouses"])
def test_addresses_by_parts(tenant: Tenant, kind: str) -> None:
    assert tenant.take(kind, "code,name,address.city\nX,One,Cluj\nY,Two,\n") == (2, 0, 0)
    assert tenant.take(kind, "code,name,address.country\nX,One,RO\nY,Two,\n") == (0, 1, 1)
    rows = tenant.rows(kind)
    assert [(row["address.city"], row["address.country"]) for row in rows] == [("Cluj", "RO"), ("", "")]
    assert tenant.take(kind, "code,name,address.city,address.country\nX,One,,\n") == (0, 1, 0)
    assert {value for row in tenant.rows(kind) for name, value in row.items() if name.startswith("address.")} == {
        ""
    }


def test_known_codes_are_changed_and_the_rest_stays(tenant: Tenant) -> None:
    tenant.take("articles", "code,name,min_stock,barcodes,description\nA,Apple,5,1;2,Red\nB,Bolt,6,,\n")
    changed = "name,code,barcodes,unit\nApricot,A,,\nBolt,B,,\nCherry,C,3,kg\n"
    assert tenant.take("articles", changed) == (1, 1, 1)
    shown = [(row["name"], row["min_stock"], row["barcodes"], row["unit"]) for row in tenant.rows("articles")]
    assert shown == [("Apricot", "5", "", "pcs"), ("Bolt", "6", "", "pcs"), ("Cherry", "", "3", "kg")]
    assert tenant.take("articles", "code,description\nA,\nC,Sour\n") == (0, 2, 0)
    assert [row["description"] for row in tenant.rows("articles")] == ["", "", "Sour"]
    assert tenant.take("articles", "code,name\n") == (0, 0, 0)


def test_articles_can_exchange_their_external_refs(tenant: Tenant) -> None:
    header = "code,name,external_ref\n"
    tenant.take("articles", header + "A,Apple,R1\nB,Bolt,R2\nC,Cherry,R3\n")
    assert tenant.take("articles", header + "A,Apple,R2\nB,Bolt,R1\nC,Cherry,\nD,Date,R3\n") == (1, 3, 0)
    assert [row["external_ref"] for row in tenant.rows("articles")] == ["R2", "R1", "", "R3"]
    refused = tenant.refuses("articles", header + "C,Cherry,R1\nE,Elder,R2\n")
    assert refused == [f"row {row}, external_ref: is taken by another article." for row in (2, 3)]


def test_codes_are_compared_exactly(tenant: Tenant) -> None:
    assert tenant.take("articles", "code,name\na,Lower\nA,Upper\n0012,Zeros\n12,None\nÉ,Acute\nE,Plain\n") == (
        6,
        0,
        0,
    )
    assert [row["code"] for row in tenant.rows("articles")] == ["a", "A", "0012", "12", "É", "E"]


def test_stock_says_how_much_there_is_now(tenant: Tenant) -> None:
    stocked(tenant)
    assert tenant.take("stock", PLACE + "A,MAIN,5\nA,SIDE,0.000001\nB,MAIN,999999999.999999\n") == (0, 3, 0)
    assert tenant.take("stock", PLACE + "A,MAIN,5.0\nB,MAIN,1\n") == (0, 1, 1)
    assert tenant.take("stock", PLACE + "A,MAIN,0\n") == (0, 1, 0)
    assert tenant.export("stock") == PLACE + "A,MAIN,0\nA,SIDE,0.000001\nB,MAIN,1\n"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("7", "7"),
        ("7.50", "7.5"),
        (" 7 ", "7"),
        ("+7", "7"),
        ("007", "7"),
        ("1E3", "1000"),
        (".5", "0.5"),
        ("0", "0"),
    ],
)
def test_numbers_as_they_may_be_written(tenant: Tenant, cell: str, shown: str) -> None:
    tenant.take("articles", f"code,name,weight_kg\nA,Apple,{cell}\n")
    assert tenant.rows("articles")[0]["weight_kg"] == shown


def test_flags_as_they_may_be_written(tenant: Tenant) -> None:
    words = ["true", "TRUE", "1", "yes", "da", " True ", "false", "FALSE", "0", "no", "nu"]
    rows = "".join(f"A{place},Apple,{word}\n" for place, word in enumerate(words))
    tenant.take("articles", "code,name,track_lot\n" + rows)
    assert [row["track_lot"] for row in tenant.rows("articles")] == ["true"] * 6 + ["false"] * 5


GOOD = "code,name,description\nA,Apple,Red\nB,Bolt,\n"


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace(",", ";").encode(),
        b"\xef\xbb\xbf" + GOOD.replace(",", ";").replace("\n", "\r\n").encode(),
        GOOD.replace(",", "\t").encode(),
        GOOD.replace("\n", "\r\n").encode(),
        GOOD.rstrip("\n").encode(),
        GOOD.replace("\n", "\n\n").encode(),
        b'\xef\xbb\xbf"code","name","description"\n"A","Apple","Red"\n"B","Bolt",""\n',
        b" code , name ,description\nA,Apple,Red\nB,Bolt,\n",
        b"description,name,code\nRed,Apple,A\n,Bolt,B\n",
    ],
    ids=[
        "bom",
        "semicolon",
        "excel",
        "tab",
        "crlf",
        "no last line end",
        "blank lines",
        "quoted",
        "blanks",
        "order",
    ],
)
def test_a_file_as_programs_write_it(tenant: Tenant, content: bytes) -> None:
    assert tenant.take("articles", content) == (2, 0, 0)
    shown = [(row["code"], row["name"], row["description"]) for row in tenant.rows("articles")]
    assert shown == [("A", "Apple", "Red"), ("B", "Bolt", "")]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_line_break_inside_a_cell(tenant: Tenant, line_end: str) -> None:
    content = 'code,name,description\nA,Apple,"Red,\n""sweet"";\n\nround"\nB,Bolt,\n'.replace("\n", line_end)
    assert tenant.take("articles", content) == (2, 0, 0)
    assert tenant.rows("articles")[0]["description"] == 'Red,\n"sweet";\n\nround'


def test_lists_as_they_may_be_written(tenant: Tenant) -> None:
    cells = {"A": "1;2", "B": '"[""1;2"",""3""]"', "C": "1;", "D": "", "E": "[]", "F": "001"}
    rows = "".join(f"{code},Name,{cell}\n" for code, cell in cells.items())
    tenant.take("articles", "code,name,barcodes\n" + rows)
    assert [row["barcodes"] for row in tenant.rows("articles")] == ["1;2", '["1;2","3"]', "1", "", "", "001"]


def test_a_file_by_its_name(tenant: Tenant) -> None:
    path = tenant.home.write("articles of today.csv", GOOD)
    done = tenant.home.ok("import", "articles", path, "--company", tenant.code)
    assert done.out == "kind       articles\ncreated    2\nupdated    0\nunchanged  0\n"
    missing = tenant.home.misunderstood("import", "articles", "missing.csv", "--company", tenant.code)
    assert missing == "Error: Invalid value for 'FILE.csv': 'missing.csv': No such file or directory"


def test_a_dry_run_changes_nothing(tenant: Tenant) -> None:
    stocked(tenant)
    before = hashes(tenant.home.data)
    assert tenant.take("articles", "code,name\nA,Apricot\nC,Cherry\n", "--dry-run") == (1, 1, 0)
    assert tenant.take("stock", PLACE + "A,MAIN,5\n", "--dry-run") == (0, 1, 0)
    assert tenant.take("clients", "code,name\nC1,Client\n", "--dry-run") == (1, 0, 0)
    said = tenant.home.ok("import", "articles", "-", "--company", tenant.code, "--dry-run", stdin=GOOD).err
    assert said.splitlines()[-1] == "Nothing was changed: this was a dry run."
    assert hashes(tenant.home.data) == before


def test_many_rows_at_once(tenant: Tenant) -> None:
    rows = [f"A{number:05},Article {number},R{number}\n" for number in range(5000)]
    assert tenant.take("articles", "code,name,external_ref\n" + "".join(rows)) == (5000, 0, 0)
    changed = [row.replace("Article", "Changed") if number % 2 else row for number, row in enumerate(rows)]
    assert tenant.take("articles", "code,name,external_ref\n" + "".join(changed)) == (0, 2500, 2500)
    assert len(tenant.rows("articles")) == 5000


def test_a_terminal_shows_how_far_it_is(tenant: Tenant) -> None:
    rows = "".join(f"A{number},{'Article' * 20}\n" for number in range(1500))
    path = tenant.home.write("many.csv", "code,name\n" + rows)
    done = at_a_terminal(tenant.home, "import", "articles", path, "--company", tenant.code, "--json")
    assert (done.code, done.json["created"]) == (0, 1500)
    assert "Reading articles" in done.err
    assert "Importing articles" in done.err
    assert "100%" in done.err
    wrong = tenant.home.write("wrong.csv", "code,name\nX,\n")
    refused = at_a_terminal(tenant.home, "import", "articles", wrong, "--company", tenant.code)
    assert (refused.code, refused.out) == (1, "")
    assert "wmsd: row 2, name: is required." in refused.err


def test_a_company_that_is_not_there(shared: Home) -> None:
    refused = shared.refused("import", "articles", "-", "--company", "NOBODY", stdin=GOOD)
    assert refused == "There is no such company as NOBODY."
    assert shared.refused("export", "articles", "--company", "NOBODY") == "There is no such company as NOBODY."
    assert shared.misunderstood("import", "articles", "-") == "Error: Missing option '--company'."
