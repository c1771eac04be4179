"""Tests of `wmsd import` with bad files: every error is reported by row and column in one answer, and nothing is
imported.
"""

import pytest

from tests.support.command import Tenant, files_up_to

PLACE = "article_code,warehouse_code,quantity\n"
ARTICLE_COLUMNS = (
    "code, name, unit, description, barcode, barcodes, unit_3pl, um3pl_factor, min_stock, track_lot, "
    "track_serial, weight_kg, length_mm, width_mm, height_mm, over_receipt_pct, active, external_ref, client_code"
)

UNREADABLE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the file is empty. Its first line must name the columns."),
    "blank": (b"\n\n", f"the first line must name the columns: {ARTICLE_COLUMNS}."),
    "only a BOM": (b"\xef\xbb\xbf", "the file is empty. Its first line must name the columns."),
    "column twice, in other capitals": (b"code,Name, NAME \nA,B,C\n", "the column 'name' appears twice."),
    "unknown column": (b"code,nmae\nA,Apple\n", "the column 'nmae' is unknown; did you mean name?"),
    "no near column": (b"code,q\nA,1\n", f"the column 'q' is unknown; the known columns are {ARTICLE_COLUMNS}."),
    "headings of another language": (
        b"Cod;Denumire;UM;Stoc minim\nA;Apple;pcs;1\n",
        "the column 'Cod' is unknown; did you mean code? The columns 'Denumire', 'UM', 'Stoc minim' "
        f"are unknown; the known columns are {ARTICLE_COLUMNS}. The column 'code' is missing.",
    ),
    "very many columns": (
        b"code," + b",".join(b"%d" % n for n in range(100)),
        f"the columns {', '.join(repr(str(n)) for n in range(20))} and 80 other columns of "
        f"the file are unknown; the known columns are {ARTICLE_COLUMNS}.",
    ),
    "more columns than any list has": (
        b"code," + b",".join(b"%d" % n for n in range(1000)),
        "the first line names 1001 columns, but at most 200 are allowed.",
    ),
    "missing column": (b"name,unit\nApple,pcs\n", "the column 'code' is missing."),
    "column twice": (b"code,name,name\nA,B,C\n", "the column 'name' appears twice."),
    "all at once": (
        b"name,name,desription\nA,B,C\n",
        "the column 'desription' is unknown; did you mean description? The column 'name' appears twice. "
        "The column 'code' is missing.",
    ),
    "mixed": (
        "code,name\nA,Apple\nB,Café, thé\n".encode() + "C,Café\n".encode("latin-1"),
        "line 4 is not UTF-8 text, but other lines are. Save the file as CSV UTF-8, then choose the new file.",
    ),
    "UTF-16 without a mark": (
        "code,name\n".encode("utf-16-le"),
        "line 1 has a byte of value 0, so the file is not text. Save the file as CSV UTF-8, then choose "
        "the new file.",
    ),
    "a workbook": (
        b"PK\x03\x04 and so on",
        "the file is an Excel workbook (.xlsx) or another zip file, not CSV. Save the file as CSV UTF-8, "
        "then choose the new file.",
    ),
    "after a quote": (b'code,name\nA,"Apple" pie\n', "line 2: this is not CSV: ',' expected after '\"'."),
    "open quote": (
        b'code,name\nA,"Apple\nB,Bolt\nC,Cherry\n',
        "line 2: a quotation mark opens here and is never closed.",
    ),
    "open quote after a closed one": (
        b'code,name\nA,5" pipe\n"B\nC",Bolt\nD,"Date\nE,Elder\n',
        "line 5: a quotation mark opens here and is never closed.",
    ),
    "open quote before much": (
        b'code,name\nA,"Apple\n' + b"B,Bolt\n" * 200_000,
        "line 2: a quotation mark opens here and is never closed.",
    ),
    "huge cell": (
        b"code,name\nA," + b"x" * 1_048_577,
        "line 2: this is not CSV: field larger than field limit (1048576).",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read(tenant: Tenant, name: str) -> None:
    content, sentence = UNREADABLE[name]
    assert tenant.refuses("articles", content) == [sentence]


SHORTENED = (
    "is a number that a spreadsheet has shortened, and its last digits are lost. Format the column as text, enter "
    "the value again, and save the file again."
)
REFUSED: dict[str, tuple[str, list[str]]] = {
    "ragged": (
        "code,name\nA,Apple\nB\nC,Cherry,red\n",
        ["row 3: has 1 cell, but the header has 2.", "row 4: has 3 cells, but the header has 2."],
    ),
    "required": ("code,name,unit\n,Apple,\nB,,\n,,kg\n", [
        "row 2, code: is required.",
        "row 3, name: is required.",
        "row 4, code: is required.",
        "row 4, name: is required.",
    ]),
    "without a name column": ("code,unit\nNEW,pcs\n", ["row 2, name: is required."]),
    "numbers": ("code,name,weight_kg,min_stock,um3pl_factor\nA,Apple,\"1,5\",-1,0\nB,Bolt,heavy,NaN,1_000\n", [
        "row 2, um3pl_factor: must be greater than 0.",
        "row 2, min_stock: must not be below 0.",
        "row 3, weight_kg: must be a number with a decimal comma, such as 12,5.",
        "row 3, min_stock: must be a number with a decimal comma, such as 12,5.",
        "row 3, um3pl_factor: must be a number with a decimal comma, such as 12,5.",
    ]),
    "bounds": ("code,name,weight_kg\nA,Apple,1000000000\nB,Bolt,0.0000001\nC,Cherry,1e999\n", [
        "row 2, weight_kg: must be at most 999999999.999999.",
        "row 3, weight_kg: must have at most 6 decimal places.",
        "row 4, weight_kg: must be at most 999999999.999999.",
    ]),
    "flags": ("code,name,active,track_lot\nA,Apple,maybe,2\n", [
        "row 2, active: must be true or false.",
        "row 2, track_lot: must be true or false.",
    ]),
    "lists": ('code,name,barcodes\nA,Apple,"[1"\nB,Bolt,[1]\nC,Cherry,7;7\nD,Date,a; b\n', [
        "row 2, barcodes: must be a list with ; between the values, or a JSON array.",
        "row 3, barcodes.0: must be a string.",
        "row 4, barcodes: must not contain the same barcode twice.",
        "row 5, barcodes.1: must not begin or end with a space.",
    ]),
    "without a heading": ("code;;name;\nA;;Apple;\nB;x;Bolt;\nC;y;Cherry;z\n;;;\nD;;Date;;;;\nE;;Elder;;q\n", [
        "row 3: has a value in column 2, but this column has no heading.",
        "row 4: has a value in column 2, but this column has no heading.",
        "row 7: has 3 cells, but the header has 2.",
    ]),
    "shortened by a spreadsheet": (
        'code,name,barcode,barcodes\n"4,00638E+12",A,1E-03,\nB,B,4.00638e+12,"7;2,5E+05"\n1E5,E,4E12,7E3\n',
        [f"row {where}: {SHORTENED}" for where in ("2, code", "2, barcode", "3, barcode", "3, barcodes")],
    ),
    "texts": (f"code,name,unit\n A,Apple \x07,{'x' * 65}\n{'y' * 65},Bolt,pcs\n", [
        "row 2, code: must not begin or end with a space.",
        "row 2, name: must not contain control characters.",
        "row 2, unit: must have at most 64 characters.",
        "row 3, code: must have at most 64 characters.",
    ]),
    "rows twice": ("code,name,external_ref\nA,Apple,R1\nB,Bolt,R2\nA,Again,R1\nC,Cherry,\nD,Date,\n", [
        "row 4, code: is given twice; first in row 2.",
        "row 4, external_ref: is given twice; first in row 2.",
    ]),
    "unknown client": ("code,name,client_code\nA,Apple,NOBODY\n", [
        "row 2, client_code: is not a client of this company.",
    ]),
    "everything in a row": ("code,name,weight_kg,client_code,active\nA,,heavy,NOBODY,maybe\n", [
        "row 2, weight_kg: must be a number with a decimal point, such as 12.5.",
        "row 2, active: must be true or false.",
        "row 2, name: is required.",
        "row 2, client_code: is not a client of this company.",
    ]),
    "after a cell with line breaks, and an empty row": ('code,name,description\nA,Apple,"1\n2\n3"\n\nB,,\n', [
        "row 4, name: is required.",
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_articles_that_are_refused(tenant: Tenant, name: str) -> None:
    tenant.take("articles", "code,name\nKNOWN,Known\n")
    content, sentences = REFUSED[name]
    assert tenant.refuses("articles", content) == sentences
    assert len(tenant.rows("articles")) == 1


def test_an_external_ref_that_is_taken(tenant: Tenant) -> None:
    tenant.take("articles", "code,name,external_ref\nA,Apple,R1\nB,Bolt,R2\n")
    assert tenant.refuses("articles", "code,name,external_ref\nNEW,New,R1\nB,Bolt,R1\n") == [
        "row 2, external_ref: is taken by another article.",
        "row 3, external_ref: is given twice; first in row 2.",
    ]
    assert tenant.refuses("articles", "code,external_ref\nB,R1\n") == [
        "row 2, external_ref: is taken by another article."
    ]
    assert tenant.take("articles", "code,external_ref\nA,R3\nB,R1\n") == (0, 2, 0)


def test_partners_that_are_refused(tenant: Tenant) -> None:
    content = (
        "code,name,type,email,address.city,active\n"
        f"A,,VENDOR,nobody,{'x' * 65},maybe\n"
        ",Bolt,,,,\n"
        ",Cherry,,,,\n"
        "D,Date,,,,\n"
        "D,Date,,,,\n"
    )
    assert tenant.refuses("partners", content) == [
        "row 2, active: must be true or false.",
        "row 2, name: is required.",
        "row 2, email: must be an e-mail address.",
        "row 2, address.city: must have at most 64 characters.",
        "row 2, type: must be 'CLIENT', 'FURNIZOR' or 'TRANSPORTATOR'.",
        "row 3, code: is required.",
        "row 4, code: is required.",
        "row 6, code: is given twice; first in row 5.",
    ]
    assert tenant.refuses("warehouses", "code,name,type\nA,B,CLIENT\n")[0].startswith(
        "the column 'type' is unknown"
    )
    assert tenant.refuses("clients", "code\nA\n") == ["the column 'name' is missing."]


def test_stock_that_is_refused(tenant: Tenant) -> None:
    tenant.take("articles", "code,name\nA,Apple\nB,Bolt\n")
    tenant.take("warehouses", "code,name\nMAIN,Main\n")
    tenant.take("stock", PLACE + "A,MAIN,7\n")
    content = PLACE + "A,MAIN,8\na,MAIN,1\nA,main,x\nB,MAIN,-1\nA,MAIN,9\n , ,\nB,MAIN,1000000000\nC,SIDE,1e\n"
    assert tenant.refuses("stock", content) == [
        "row 3, article_code: is not an article of this company; A is the nearest code.",
        "row 4, quantity: must be a number with a decimal point, such as 12.5.",
        "row 4, warehouse_code: is not a warehouse of this company; MAIN is the nearest code.",
        "row 5, quantity: must not be below 0.",
        "row 6, article_code: is counted twice in this warehouse; first in row 2.",
        "row 8, article_code: is counted twice in this warehouse; first in row 5.",
        "row 8, quantity: must be at most 999999999.999999.",
        "row 9, quantity: must be a number with a decimal point, such as 12.5.",
        "row 9, article_code: is not an article of this company.",
        "row 9, warehouse_code: is not a warehouse of this company.",
    ]
    assert tenant.refuses("stock", "article_code,quantity\nA,1\n") == ["the column 'warehouse_code' is missing."]


def test_a_column_is_suggested_where_it_is_like_what_was_typed(tenant: Tenant) -> None:
    header = "article_code,warehous_code,unit\n"
    sentences = " ".join(tenant.refuses("stock", header))
    assert "the column 'warehous_code' is unknown; did you mean warehouse_code?" in sentences
    assert "The column 'unit' is unknown; the known columns are" in sentences


def test_for_programs_there_is_json(tenant: Tenant) -> None:
    arguments = ("import", "articles", "-", "--company", tenant.code, "--json")
    done = tenant.home.run(*arguments, stdin="code,name,weight_kg\nA,,x\n")
    assert done.code == 1
    assert done.json == {
        "errors": [
            {
                "row": 2,
                "column": "weight_kg",
                "cell": "x",
                "message": "must be a number with a decimal point, such as 12.5",
            },
            {"row": 2, "column": "name", "cell": "", "message": "is required"},
        ],
        "errors_in_all": 2,
    }
    assert done.wrong[-1] == "Nothing was imported. Fix the rows above and import the whole file again."


def test_of_very_many_errors_people_see_fifty_and_programs_a_thousand(tenant: Tenant) -> None:
    content = "code,name\n" + "".join(f"A{number},\n" for number in range(2500))
    sentences = tenant.refuses("articles", content)
    assert len(sentences) == 51
    assert sentences[49:] == [
        "row 51, name: is required.",
        "… and 2450 more: --errors FILE.csv writes the first 1000.",
    ]
    arguments = ("import", "articles", "-", "--company", tenant.code)
    assert len(tenant.home.run(*arguments, "--json", stdin=content).json["errors"]) == 1000
    file = tenant.home.folder / "all.csv"
    for flags in ((), ("--preview",)):
        wrong = tenant.home.run(*arguments, "--errors", file, *flags, stdin=content).wrong
        assert wrong[50] == f"… and 2450 more: the first 1000 are in {file}."
        lines = file.read_text().splitlines()
        assert (len(lines), "1500 more errors" in lines[-1]) == (1002, True)


@pytest.mark.parametrize("last", ["B,\n", 'B,"x', "B\n"])
def test_the_last_of_many_rows_undoes_all(tenant: Tenant, last: str) -> None:
    good = "".join(f"A{number},Article\n" for number in range(3000))
    tenant.take("articles", "code,name\nKNOWN,Known\n")
    arguments = ("import", "articles", "-", "--company", tenant.code)
    assert tenant.home.refusals(*arguments, stdin=f"code,name\nKNOWN,Changed\n{good}{last}")
    assert [(row["code"], row["name"]) for row in tenant.rows("articles")] == [("KNOWN", "Known")]


def test_a_disk_that_fills_up(tenant: Tenant) -> None:
    content = "code,name\n" + "".join(f"A{number},Article {number}\n" for number in range(5000))
    path = tenant.home.write("large.csv", content)
    arguments = ("import", "articles", path, "--company", tenant.code)
    done = tenant.home.run_fresh(*arguments, preexec_fn=files_up_to(400_000))
    assert (done.code, done.out) == (1, "")
    assert "Traceback" not in done.err
    (sentence,) = done.wrong
    assert sentence.startswith("The data cannot be used: ")
    assert tenant.rows("articles") == []


LOOKED_UP = {
    "articles": ("code,name,client_code\nZ,Z,own 1\n", "client_code: is not a client", "OWN-1"),
    "stock": ("article_code,warehouse_code,quantity\nA,main,1\n", "warehouse_code: is not a warehouse", "MAIN"),
    "stock-count": ("article_code,warehouse_code,quantity\na,MAIN,1\n", "article_code: is not an article", "A"),
    "sales-orders": (
        "code,partner_code,warehouse_code,article_code,quantity\nS1,p1,MAIN,A,1\n",
        "partner_code: is not a partner",
        "P1",
    ),
    "packaging-movements": (
        "packaging_type_code,partner_code,direction,quantity\npal,P1,OUT,1\n",
        "packaging_type_code: is not a packaging type",
        "PAL",
    ),
}


@pytest.mark.parametrize("kind", LOOKED_UP)
def test_the_code_that_was_meant_is_named(tenant: Tenant, kind: str) -> None:
    """The error names the code that was meant, for every kind of record.

    The code may differ only in capitals, blanks and signs.
    """
    records = {
        "articles": "A",
        "clients": "OWN-1",
        "partners": "P1",
        "warehouses": "MAIN",
        "packaging-types": "PAL",
    }
    for name, code in records.items():
        tenant.take(name, f"code,name\n{code},{code}\n")
    content, sentence, meant = LOOKED_UP[kind]
    assert tenant.refuses(kind, content) == [f"row 2, {sentence} of this company; {meant} is the nearest code."]


@pytest.mark.parametrize(
    ("cell", "meant"),
    [
        ("11-5", None),
        ("10.5", None),
        ("1.05", None),
        ("bolt 8", "BOLT-8"),
        ("nut-8", "NUT 8"),
        ("NUT8", "NUT 8"),
        ("m.a", None),
        ("tee", None),
        ("t.e.e.", None),
        ("pin1", "PIN1"),
        ("--", None),
    ],
)
def test_a_code_is_named_only_where_it_is_surely_meant(tenant: Tenant, cell: str, meant: str | None) -> None:
    """A code is suggested only if it is surely meant.

    Signs between digits count. Of several similar codes none is suggested, unless one has the same signs.
    """
    codes = ("1-15", "105", "BOLT-8", "NUT 8", "M-A", "M/A", "Tee", "TEE", "PIN1", "PIN-1")
    tenant.take("articles", "code,name\n" + "".join(f"{code},A\n" for code in codes))
    tenant.take("warehouses", "code,name\nMAIN,Main\n")
    [told] = tenant.refuses("stock", f"{PLACE}{cell},MAIN,1\n")
    nearest = "" if meant is None else f"; {meant} is the nearest code"
    assert told == f"row 2, article_code: is not an article of this company{nearest}."


def test_codes_that_are_not_alike_are_not_named(tenant: Tenant) -> None:
    tenant.take("warehouses", "code,name\nMAIN,Main\n")
    tenant.take("articles", "code,name\nA,Apple\n")
    content = PLACE + "A,SIDE,1\nA,--,1\n"
    assert tenant.refuses("stock", content) == [
        f"row {row}, warehouse_code: is not a warehouse of this company." for row in (2, 3)
    ]
