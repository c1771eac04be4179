"""Tests of similar codes: `wmsd import` reports codes that look like others, but accepts them because they may be
meant.
"""

import pytest

from tests.support.command import Home, Tenant
from wmsd.imports.similar_codes import MOST_LISTED

LETTERS = "The codes differ in capital letters only."


def warnings(err: str) -> list[str]:
    return [line for line in err.splitlines() if line.startswith("Warning")]


@pytest.mark.parametrize("kind", ["articles", "clients", "partners", "warehouses", "packaging-types"])
def test_codes_that_differ_in_capital_letters_are_told_and_taken_in(tenant: Tenant, kind: str) -> None:
    columns, more = ("code,name,type", ",CLIENT") if kind == "partners" else ("code,name", "")
    command = ("import", kind, "-", "--company", tenant.code)
    content = f"{columns}\nP-2,Pin{more}\nQ,Quill{more}\np-2,Pin{more}\n"
    told = [f"Warning: row 4, code: p-2 is not the same record as P-2 in row 2. {LETTERS}"]
    assert warnings(tenant.home.ok(*command, "--dry-run", stdin=content).err) == told
    assert warnings(tenant.home.ok(*command, "--preview", stdin=content).err) == told
    assert warnings(tenant.home.ok(*command, stdin=content).err) == told
    assert [row["code"] for row in tenant.rows(kind)] == ["P-2", "Q", "p-2"]
    assert warnings(tenant.home.ok(*command, stdin=content).err) == []
    later = f"{columns}\nq,Quill{more}\nQ,Quill{more}\nR,Rod{more}\n"
    (only,) = warnings(tenant.home.ok(*command, stdin=later).err)
    assert only == f"Warning: row 2, code: q is not the same record as Q, which is there already. {LETTERS}"


@pytest.mark.parametrize(
    ("code", "other", "shown"),
    [
        ("E\u00a01", "E 1", "E⟨U+00A0⟩1"),
        ("\u05d0\u200f1", "\u05d01", "\u05d0⟨U+200F⟩1"),
        ("ș-1", "Ș-1", "ș-1"),
    ],
)
def test_codes_that_differ_in_what_cannot_be_seen_are_told(
    tenant: Tenant, code: str, other: str, shown: str
) -> None:
    sentence = "The codes differ in invisible characters." if "⟨" in shown else LETTERS
    command = ("import", "articles", "-", "--company", tenant.code)
    content = f"code,name\n{other},One\n{code},Two\n"
    told = f"Warning: row 3, code: {shown} is not the same record as {other} in row 2. {sentence}"
    assert warnings(tenant.home.ok(*command, "--dry-run", stdin=content).err) == [told]
    tenant.take("articles", f"code,name\n{other},One\n")
    there = f"Warning: row 3, code: {shown} is not the same record as {other}, which is there already. {sentence}"
    assert there in warnings(tenant.home.ok(*command, stdin=content).err)
    assert {row["code"] for row in tenant.rows("articles")} == {code, other}
    assert warnings(tenant.home.ok(*command, stdin=content).err) == []


def test_numbers_that_have_lost_their_zeros_are_told(tenant: Tenant) -> None:
    """Numbers that lost their leading zeros are reported.

    A spreadsheet drops them when it opens the file, and each such article would then exist twice.
    """
    tenant.take("articles", "code,name\n0123,Bolt\n0,Nut\n")
    command = ("import", "articles", "-", "--company", tenant.code)
    done = tenant.home.ok(*command, stdin="code,name\n123,Bolt\n00,Nut\n0123A,Pin\n123A,Pin\n")
    why = "which is there already. The codes differ in leading zeros, which spreadsheets drop."
    assert warnings(done.err) == [
        f"Warning: row 2, code: 123 is not the same record as 0123, {why}",
        f"Warning: row 3, code: 00 is not the same record as 0, {why}",
    ]


@pytest.mark.parametrize("codes", [("M²", "M2"), ("™-1", "TM-1"), ("E 1", "E1")])
def test_codes_that_look_different_are_not_told(tenant: Tenant, codes: tuple[str, str]) -> None:
    content = "code,name\n" + "".join(f"{code},Article\n" for code in codes)
    assert warnings(tenant.home.ok("import", "articles", "-", "--company", tenant.code, stdin=content).err) == []


def test_of_many_the_first_are_told(tenant: Tenant) -> None:
    numbers = range(MOST_LISTED + 7)
    tenant.take("articles", "code,name\n" + "".join(f"A-{number},A\n" for number in numbers))
    content = "code,name\n" + "".join(f"a-{number},A\n" for number in numbers)
    command = ("import", "articles", "-", "--company", tenant.code, "--preview")
    lines = warnings(tenant.home.ok(*command, stdin=content).err)
    assert len(lines) == MOST_LISTED + 1
    assert lines[-1] == "Warning: 7 more codes are similar to other codes."
    found = tenant.home.ok(*command, "--json", stdin=content).json
    assert found["alike_in_all"] == MOST_LISTED + 7
    assert found["alike"][0] == {"row": 2, "code": "a-0", "other": "A-0", "other_row": None}


def test_the_code_of_a_company_that_was_meant_is_named(shared: Home) -> None:
    assert shared.refused("module", "list", "acme") == "There is no such company as acme. Did you mean ACME?"
    assert shared.refused("company", "show", "ZZZZZZ") == "There is no such company as ZZZZZZ."
    create = ("token", "create", "--user", "admin@example.com", "--ability", "stock:read", "--company")
    assert shared.refused(*create, "ACM") == (
        "--company ACM is not a company of this installation; ACME is the nearest code."
    )
