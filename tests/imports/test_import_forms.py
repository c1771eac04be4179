"""Tests of `wmsd import` with files as a European spreadsheet writes them, and of its preview."""

import json

from tests.support.command import Tenant, hashes

EXCEL = "\ufeffarticle_code;warehouse_code;quantity\r\nA;MAIN;1.000\r\nB;MAIN;2,5\r\n"


def places(tenant: Tenant) -> Tenant:
    tenant.take("articles", "code,name\nA,Apple\nB,Bolt\n")
    tenant.take("warehouses", "code,name\nMAIN,Main\n")
    return tenant


def test_a_list_of_a_european_spreadsheet(tenant: Tenant) -> None:
    done = places(tenant).home.ok("import", "stock", "-", "--company", tenant.code, stdin=EXCEL)
    assert "Read as UTF-8, with a semicolon between cells and a decimal comma (row 3, quantity: 2,5)." in done.err
    assert [row["quantity"] for row in tenant.rows("stock")] == ["1000", "2.5"]


def test_windows_1252(tenant: Tenant) -> None:
    content = "code;name\r\nC1;Café Müller\r\n".encode("windows-1252")
    assert tenant.take("clients", content) == (1, 0, 0)
    assert tenant.rows("clients")[0]["name"] == "Café Müller"


def test_a_wrong_encoding_is_told_with_the_right_option(tenant: Tenant) -> None:
    content = "code;name\r\nC1;Łąka\r\nC2;Źródło\r\n".encode("windows-1250")
    refused = tenant.home.refused(
        "import", "clients", "-", "--company", tenant.code, "--encoding", "windows-1252", stdin=content
    )
    assert refused == (
        "<stdin>: line 3 is not Windows-1252 text, but the file can be read as Windows-1250. Choose the "
        "encoding of the file, or save the file as CSV UTF-8. Use --encoding windows-1250."
    )
    assert tenant.take("clients", content) == (2, 0, 0)
    assert tenant.rows("clients")[1]["name"] == "Źródło"


def test_where_the_encoding_is_guessed_a_name_is_shown_as_it_was_read(tenant: Tenant) -> None:
    """When the encoding is guessed, a name is displayed as it was read.

    Each of the two encodings reads what the other writes, but with other letters.
    """
    command = ("import", "clients", "-", "--company", tenant.code)
    content = "code;name\r\nC1;Müller\r\nC2;Biała Śruba\r\n".encode("windows-1250")
    shown = 'Row 3 has "Biała Śruba". If this text is wrong, use --encoding windows-1252 ("Bia³a Œruba").'
    for flags in (("--preview",), ()):
        assert shown in tenant.home.ok(*command, *flags, stdin=content).err
    assert tenant.rows("clients")[1]["name"] == "Biała Śruba"
    german = "code;name\nC1;Müller\n".encode("windows-1252")
    for silent in (
        tenant.home.ok(*command, "--encoding", "windows-1250", stdin=content),
        tenant.home.ok(*command, stdin="code,name\nC1,Łąka\n"),
        tenant.home.ok(*command, stdin=german),
    ):
        assert "If this text is wrong" not in silent.err


def test_letters_of_dos_are_shown_as_they_were_read(tenant: Tenant) -> None:
    """Letters of DOS are displayed as they were read. No encoding that can be guessed reads them correctly."""
    content = "code;name\r\nC1;Żółty\r\n".encode("cp852")
    shown = 'Row 2 has "½¢\u02c6ty". If this text is wrong, save the file as CSV UTF-8.'
    command = ("import", "clients", "-", "--company", tenant.code, "--dry-run")
    assert shown in tenant.home.ok(*command, stdin=content).err


def test_a_preview_names_the_encodings_that_can_read_the_file(tenant: Tenant) -> None:
    command = ("import", "clients", "-", "--company", tenant.code, "--preview")
    content = "code;name\r\nC1;Łąka\r\nC2;Źródło\r\n".encode("windows-1250")
    assert tenant.home.refused(*command, "--encoding", "windows-1252", stdin=content).endswith(
        "or save the file as CSV UTF-8. Use --encoding windows-1250."
    )


def test_unknown_columns_are_named_once(tenant: Tenant) -> None:
    command = ("import", "clients", "-", "--company", tenant.code, "--preview")
    sentence = tenant.home.refused(*command, stdin="code,name,colour,zzz\nC1,A,B,C\n")
    assert sentence.startswith("the columns 'colour', 'zzz' are unknown; the known columns are code, name, ")
    assert sentence.count("colour") == sentence.count("tax_id") == 1


def test_a_thousand_or_one_is_asked(tenant: Tenant) -> None:
    places(tenant)
    content = EXCEL.replace("2,5", "2")
    (sentence,) = tenant.refuses("stock", content)
    assert sentence == (
        'Row 2, quantity: "1.000" means 1 with a decimal point, and 1000 with a decimal comma. Choose '
        "the decimal mark of the file. Use --decimal point or --decimal comma."
    )
    assert tenant.take("stock", content, "--decimal", "comma") == (0, 2, 0)
    assert [row["quantity"] for row in tenant.rows("stock")] == ["1000", "2"]
    tenant.take("stock", content, "--decimal", "point")
    assert [row["quantity"] for row in tenant.rows("stock")] == ["1", "2"]


def test_the_question_names_the_row_that_shows_a_mark(tenant: Tenant) -> None:
    content = "code;name;weight_kg\nA;Apple;1,250\nB;Bolt;2\nC;Coil;0,5\n"
    sentence = (
        'Row 2, weight_kg: "1,250" means 1250 with a decimal point, and 1.25 with a decimal comma. The '
        'file probably uses a decimal comma, because row 4, weight_kg has "0,5". Choose the decimal mark of '
        "the file. Use --decimal comma or --decimal point."
    )
    command = ("import", "articles", "-", "--company", tenant.code)
    assert tenant.home.refusals(*command, stdin=content) == [sentence, "Nothing was imported."]
    assert tenant.home.run(*command, "--preview", stdin=content).wrong == [sentence]


def test_a_question_comes_with_the_errors_that_do_not_depend_on_it(tenant: Tenant) -> None:
    rows = "".join(f"A{n};;1.000;no\n" for n in range(100))
    content = f"code;name;weight_kg;min_stock\n{rows}B;Bolt;1.000;1.5\nC;Coil;2;-1\n"
    path = tenant.home.folder / "asked.csv"
    command = ("import", "articles", "-", "--company", tenant.code, "--errors", path)
    for flags in ((), ("--preview",)):
        path.unlink(missing_ok=True)
        wrong = tenant.home.run(*command, *flags, stdin=content).wrong
        assert wrong[0].endswith("Use --decimal point or --decimal comma.")
        assert wrong[1:4] == [
            "These errors do not depend on the decimal mark:",
            'row 2, min_stock: must be a number. The cell has "no".',
            "row 2, name: is required.",
        ]
        assert f"… and 151 more: all of them are in {path}." in wrong
        assert f"{path} lists the first 5 cells in question and 201 errors." in wrong
        lines = path.read_text().splitlines()
        assert (len(lines), lines[-1]) == (207, "103,min_stock,-1,must not be below 0")
        assert not any(line.startswith("102,") for line in lines)
    assert tenant.rows("articles") == []


def test_a_question_says_what_is_in_the_file_of_errors(tenant: Tenant) -> None:
    path = tenant.home.folder / "asked.csv"
    command = ("import", "articles", "-", "--company", tenant.code, "--errors", path)
    wrong = tenant.home.refusals(*command, stdin="code;name;weight_kg\nA;Apple;1.000\n")
    assert wrong[1:] == [f"{path} lists the cell in question.", "Nothing was imported."]


def test_what_keeps_a_document_from_its_status_may_depend_on_the_decimal_mark(tenant: Tenant) -> None:
    places(tenant).take("partners", "code,name\nP1,Partner\n")
    tenant.take("stock", "article_code,warehouse_code,quantity\nA,MAIN,5\n")
    header = "code;status;partner_code;warehouse_code;article_code;quantity\n"
    command = ("import", "sales-orders", "-", "--company", tenant.code)
    content = f"{header}S1;IN_LUCRU;P1;MAIN;A;1.000\n"
    assert "1000 requested" in tenant.home.refusals(*command, "--decimal", "comma", stdin=content)[0]
    sentences = tenant.home.refusals(*command, stdin=f"{content}S2;;P2;MAIN;A;1\nS3;?;P1;MAIN;A;1.000\n")
    assert sentences[1:-1] == [
        "These errors do not depend on the decimal mark:",
        'row 3, partner_code: is not a partner of this company. The cell has "P2".',
        "row 4, status: must be 'CREAT', 'IN_LUCRU', 'INCARCAT', 'LIVRAT' or 'ANULAT'. The cell has \"?\".",
    ]


def test_serials_may_depend_on_the_decimal_mark(tenant: Tenant) -> None:
    tenant.take("articles", "code,name,track_serial\nA,Apple,true\n")
    tenant.take("warehouses", "code,name\nMAIN,Main\n")
    tenant.take("partners", "code,name\nP1,Partner\n")
    tenant.take("stock-count", "article_code,warehouse_code,serial,quantity\nA,MAIN,S1,1\nA,MAIN,S2,1\n")
    command = ("import", "sales-orders", "-", "--company", tenant.code)
    header = "code;partner_code;warehouse_code;article_code;quantity;serials\n"
    content = f'{header}O1;P1;MAIN;A;2,000;"S1;S2"\n'
    for flags in ((), ("--preview",)):
        done = tenant.home.run(*command, *flags, stdin=content)
        assert (done.code, "do not depend" in done.err) == (1, False)
        assert "Use --decimal point or --decimal comma." in done.err
        both = tenant.home.run(*command, *flags, stdin=f'{content}O2;P1;MAIN;A;1;"S3;S4"\n').err
        assert "row 3, serials: must have one serial for each unit (units ordered: 1" in both
    assert "2 ordered" not in tenant.home.ok(*command, "--decimal", "comma", stdin=content).err


def test_a_file_without_rows_is_told_and_leaves_no_trace(tenant: Tenant) -> None:
    command = ("import", "articles", "-", "--company", tenant.code)
    told = "The file has only the line that names the columns, so there are no rows to import."
    for flags in ((), ("--dry-run",), ("--preview",), ("--json",)):
        for content in ("code,name\n", "code;name\n;\n\n"):
            assert told in tenant.home.ok(*command, *flags, stdin=content).err
    assert tenant.home.ok("import", "list", "--company", tenant.code, "--json").json == []
    assert told not in tenant.home.ok(*command, stdin="code,name\nA,Apple\n").err
    assert told not in tenant.home.ok(*command, stdin="code,name\nA,Apple\n").err


def test_an_import_for_a_module_that_is_off_says_so(tenant: Tenant) -> None:
    tenant.home.ok("module", "disable", tenant.code, "articles")
    warning = (
        f"Warning: the module articles is off for {tenant.code}, so the pages and the API do not show the "
        f"imported records. To switch the module on: wmsd module enable {tenant.code} articles\n"
    )
    command = ("import", "articles", "-", "--company", tenant.code)
    assert warning in tenant.home.ok(*command, stdin="code,name\nA,Apple\n").err
    assert "Warning" not in tenant.home.ok("import", "clients", *command[2:], stdin="code,name\nA,Apple\n").err
    tenant.home.ok("module", "enable", tenant.code, "articles")
    assert "Warning" not in tenant.home.ok(*command, stdin="code,name\nA,Apple\n").err


def test_columns_in_other_capitals_are_the_same(tenant: Tenant) -> None:
    content = "Code; NAME ;Weight_KG\nA;Apple;2,5\n"
    assert tenant.take("articles", content) == (1, 0, 0)
    assert [(row["name"], row["weight_kg"]) for row in tenant.rows("articles")] == [("Apple", "2.5")]
    (sentence,) = tenant.refuses("articles", "CODE;Name;Weight_kg\nB;Bolt;x\n")
    assert sentence.startswith("row 2, weight_kg: must be a number")


def test_the_faulty_cell_is_quoted(tenant: Tenant) -> None:
    sentences = tenant.home.refusals(
        "import", "clients", "-", "--company", tenant.code, stdin="code,name,email\nC1,Client,nobody\n"
    )
    assert sentences[0].endswith('The cell has "nobody".')


def test_all_errors_go_to_a_file(tenant: Tenant) -> None:
    rows = "".join(f"C{n},Client,nobody {n}\n" for n in range(300))
    path = tenant.home.folder / "errors.csv"
    tenant.home.refusals(
        *("import", "clients", "-", "--company", tenant.code, "--errors", path),
        stdin=f"code,name,email\n{rows}",
    )
    lines = path.read_text(encoding="utf-8").splitlines()
    assert (lines[0], len(lines)) == ("row,column,cell,message", 301)
    assert lines[300].startswith("301,email,nobody 299,")


def test_a_preview_changes_nothing(tenant: Tenant) -> None:
    tenant.take("partners", "code,name,type\nP1,Partner,CLIENT\n")
    before = hashes(tenant.home.data)
    content = "code;name\nP1;Renamed\nP2;New\n"
    done = tenant.home.ok(
        "import", "partners", "-", "--company", tenant.code, "--preview", "--json", stdin=content
    )
    found = done.json
    assert hashes(tenant.home.data) == before
    assert found["counts"] == {"created": 1, "updated": 1, "unchanged": 0}
    assert found["form"] == {"encoding": "UTF-8", "delimiter": "semicolon", "decimal": "point"}
    assert [(row["row"], row["what"]) for row in found["rows"]] == [(2, "changed"), (3, "new")]
    assert {"column": "name", "before": "Partner", "after": "Renamed"} in found["rows"][0]["cells"]


def test_a_preview_for_people(tenant: Tenant) -> None:
    places(tenant).take("stock", "article_code,warehouse_code,quantity\nA,MAIN,5\n")
    done = tenant.home.ok("import", "stock", "-", "--company", tenant.code, "--preview", stdin=EXCEL)
    assert "quantity: 5 → 1000" in done.out
    assert "Nothing was changed: this was a preview." in done.err


def test_a_preview_tells_all_errors_and_the_question(tenant: Tenant) -> None:
    content = "code,nmae,weight_kg\nA,Apple,1.000\n"
    arguments = ("import", "articles", "-", "--company", tenant.code, "--preview", "--json")
    found = json.loads(tenant.home.run(*arguments, stdin=content).out)
    assert found["question"] is not None
    assert [each for each in found["columns"] if not each["is_known"]] == [
        {"name": "nmae", "is_known": False, "near": "name"}
    ]
    wrong = json.loads(tenant.home.run(*arguments, stdin="code,name,active\nA,Apple,maybe\nB,,2\n").out)
    assert wrong["errors_in_all"] == 3
    assert {each["cell"] for each in wrong["errors"]} == {"maybe", "2", ""}
    assert wrong["counts"] is None


def test_columns_and_rows_without_anything_are_left_out(tenant: Tenant) -> None:
    content = (
        "code;name;active;;;\r\nA;Apple;WAHR;;;\r\n;;;;;\r\n\r\n ;;;\r\nB;Bolt;falsch\r\nC;Cherry;ja;;;;;;\r\n"
    )
    assert tenant.take("clients", content) == (3, 0, 0)
    shown = [(row["code"], row["name"], row["active"]) for row in tenant.rows("clients")]
    assert shown == [("A", "Apple", "true"), ("B", "Bolt", "false"), ("C", "Cherry", "true")]
    preview = ("import", "clients", "-", "--company", tenant.code, "--preview", "--json")
    found = tenant.home.ok(*preview, stdin=content.replace("Bolt", "Brown")).json
    assert [each["name"] for each in found["columns"]] == ["code", "name", "active"]
    assert [(row["row"], row["what"]) for row in found["rows"]] == [(2, "same"), (6, "changed"), (7, "same")]


def test_dates_of_a_european_spreadsheet(tenant: Tenant) -> None:
    places(tenant).take("partners", "code,name\nP1,Partner\n")
    tenant.take("stock", "article_code,warehouse_code,quantity\nA,MAIN,10\n")
    header = "external_ref;partner_code;warehouse_code;requested_date;article_code;quantity\n"
    assert tenant.take("sales-orders", f"{header}E1;P1;MAIN;31.12.2026;A;2\n") == (1, 0, 0)
    assert [row["requested_date"] for row in tenant.rows("sales-orders")] == ["2026-12-31"]
    assert tenant.refuses("sales-orders", f"{header}E2;P1;MAIN;4/5/2026;A;2\nE3;P1;MAIN;30.2.2026;A;2\n") == [
        "row 2, requested_date: is not clear with slashes: write 31.12.2026 or 2026-12-31.",
        "row 3, requested_date: must be a date that exists, such as 31.12.2026.",
    ]


def test_moments_of_a_european_spreadsheet(tenant: Tenant) -> None:
    tenant.take("partners", "code,name\nP1,Partner\n")
    tenant.take("packaging-types", "code,name\nPAL,Pallet\n")
    header = "packaging_type_code;partner_code;direction;quantity;occurred_at\n"
    (sentence,) = tenant.refuses("packaging-movements", f"{header}PAL;P1;OUT;5;24.11.2025 10:00\n")
    assert sentence == (
        "row 2, occurred_at: must have an offset from UTC, such as 24.11.2026 10:00+02:00 or 2026-11-24T10:00:00Z."
    )
    tenant.take("packaging-movements", f"{header}PAL;P1;OUT;5;24.11.2025 10:00+02:00\n")
    assert [row["occurred_at"] for row in tenant.rows("packaging-movements")] == ["2025-11-24T08:00:00.000Z"]


def test_a_preview_decides_nothing_that_is_asked(tenant: Tenant) -> None:
    path = tenant.home.write("list.csv", "code,name,weight_kg\nA,Apple,1.000\n")
    errors = tenant.home.folder / "asked.csv"
    for flags in (("--preview",), ()):
        errors.unlink(missing_ok=True)
        arguments = ("import", "articles", path, "--company", tenant.code, "--errors", errors, *flags)
        done = tenant.home.run(*arguments)
        assert done.code == 1
        assert "Use --decimal point or --decimal comma." in done.wrong[0]
        assert "weight_kg: 1" not in done.out
        assert ("decimal    to be chosen" in done.out) == bool(flags)
        assert errors.read_text().splitlines() == [
            "row,column,cell,message",
            "2,weight_kg,1.000,is not clear: choose whether the file has decimal points or decimal commas",
        ]


def test_a_preview_shows_what_will_be_stored(tenant: Tenant) -> None:
    done = tenant.home.ok(
        "import", "articles", "-", "--company", tenant.code, "--preview", stdin="code,name\nA,'=1+1\n"
    )
    assert "name: =1+1" in done.out
