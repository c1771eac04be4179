"""Tests of the cost of a file: it is bounded, whatever the file contains, because a company's admin may send any
file.
"""

import io
import json
from pathlib import Path

from tests.support.command import Tenant
from wmsd.base.spreadsheet_cells import LONGEST_TRUTH, TRUTH, read_flag
from wmsd.imports.csv_rows import MOST_COLUMNS, read_header
from wmsd.imports.errors import LONGEST_CELL, Wrong, write_errors
from wmsd.imports.file_kinds import KINDS
from wmsd.imports.similar_codes import LONGEST_CODE

LONG = 300_000


def preview(tenant: Tenant, content: str) -> dict[str, object]:
    command = ("import", "articles", "-", "--company", tenant.code, "--preview", "--json")
    found: dict[str, object] = json.loads(tenant.home.run(*command, stdin=content).out)
    return found


def test_a_line_with_very_many_names(tenant: Tenant) -> None:
    told = preview(tenant, ",".join(f"c{number}" for number in range(MOST_COLUMNS + 1)) + "\n")
    assert told["unreadable"] == "the first line names 201 columns, but at most 200 are allowed."
    assert told["columns"] == []


def test_columns_without_a_name_are_no_names(tenant: Tenant) -> None:
    """Columns without a name are not column names.

    A spreadsheet writes such columns if a cell far to the right was once used.
    """
    assert preview(tenant, f"code,name{',' * 2000}\nA,Apple{',' * 2000}\n")["unreadable"] is None


def test_names_that_stand_twice_are_found_in_one_pass() -> None:
    columns = KINDS["articles"].columns
    names = [f"c{number}" for number in range(100_000)]
    assert read_header(columns, (), [*names, "c7", "c5"]).twice == ("c5", "c7")


def test_a_long_code_of_letters_with_marks(tenant: Tenant) -> None:
    """A long code of letters with marks is handled quickly.

    The time to compose them grows by the square: half an hour for a megabyte.
    """
    code = "A" + "\u0301" * LONG + "\u0323" * LONG
    told = preview(tenant, f"code,name,active\n{code},Apple,{code}\n")
    errors = told["errors"]
    assert isinstance(errors, list)
    assert {each["column"]: len(each["cell"]) for each in errors} == {
        "code": LONGEST_CELL + 1,
        "active": LONGEST_CELL + 1,
    }


def test_what_is_shown_of_a_long_cell_is_short(tenant: Tenant) -> None:
    told = preview(tenant, f"code,name\nA,{'n' * 255}\n{'B' * LONG},Bolt\n")
    assert len(json.dumps(told)) < 10 * LONGEST_CELL


def test_the_list_of_errors_is_no_copy_of_the_file(tmp_path: Path) -> None:
    file = io.StringIO()
    write_errors([Wrong(2, "code", "x" * LONG, "is too long")], file)
    assert len(file.getvalue()) < 2 * LONGEST_CELL


def test_every_word_and_code_is_within_the_bounds() -> None:
    assert max(len(word) for words in TRUTH.values() for word in words) < LONGEST_TRUTH
    assert all(read_flag(f" {true.upper()} ") for true, _ in TRUTH.values())
    assert max(field.metadata[1].max_length for field in [KINDS["articles"].columns["code"]]) == LONGEST_CODE


def test_the_first_errors_are_told_and_all_are_counted(tenant: Tenant) -> None:
    rows = tenant.home.write("wrong.csv", "code,name\n" + "".join(f"A{n},\n" for n in range(1500)))
    errors = tenant.home.folder / "errors.csv"
    command = ("import", "articles", rows, "--company", tenant.code, "--errors", errors)
    done = tenant.home.run(*command)
    assert (done.code, done.wrong[-2]) == (1, f"… and 1450 more: the first 1000 are in {errors}.")
    lines = errors.read_text(encoding="utf-8").splitlines()
    assert (len(lines), lines[-1]) == (1002, ',,,"and 500 more errors, which are only counted"')
    told = json.loads(tenant.home.run(*command, "--json").out)
    assert (len(told["errors"]), told["errors_in_all"]) == (1000, 1500)
    assert "… and 1450 more: --errors FILE.csv writes the first 1000." in tenant.home.run(*command[:-2]).wrong


def test_errors_with_either_decimal_mark_are_counted_too(tenant: Tenant) -> None:
    tenant.take("warehouses", "code,name\nMAIN,Main\n")
    tenant.take("articles", "code,name\nA,Apple\n")
    wrong = "".join(f"X{n},MAIN,1\n" for n in range(1200))
    text = f"article_code,warehouse_code,quantity\nA,MAIN,1.000\n{wrong}"
    command = ("import", "stock", "-", "--company", tenant.code, "--preview", "--json")
    told = json.loads(tenant.home.run(*command, stdin=text).out)
    assert (told["question"] is not None, told["errors_kept"], told["errors_in_all"]) == (True, 1000, 1200)
