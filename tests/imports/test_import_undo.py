"""Tests of `wmsd import undo`: the last import is undone as a whole or not at all, while nothing depends on it."""

import re
from collections.abc import Callable

import pytest

from tests.support.command import Tenant, at_a_terminal, hashes
from wmsd.imports.file_kinds import KINDS

PLACE = "article_code,warehouse_code,quantity\n"
COUNT = "article_code,warehouse_code,lot_number,serial,quantity\n"


def undo(tenant: Tenant) -> dict[str, object]:
    return dict(tenant.home.ok("import", "undo", "--company", tenant.code, "--yes", "--json").json)


def refused(tenant: Tenant) -> list[str]:
    before = hashes(tenant.home.data)
    sentences = tenant.home.refusals("import", "undo", "--company", tenant.code, "--yes")
    assert hashes(tenant.home.data) == before
    assert sentences[-1] == "Nothing was changed."
    return sentences[:-1]


def events(tenant: Tenant) -> dict[str, int]:
    counted = tenant.home.ok("billing", tenant.code, "--json").json
    return {event: count for month in counted["months"] for event, count in month["events"].items()}


def stocked(tenant: Tenant) -> Tenant:
    tenant.take("clients", "code,name\nC1,Client\n")
    tenant.take("partners", "code,name\nP1,Partner\n")
    tenant.take(
        "articles", "code,name,track_serial,external_ref\nA,Apple,false,RA\nB,Bolt,false,RB\nS,Serial,true,\n"
    )
    tenant.take("warehouses", "code,name\nMAIN,Main\nSIDE,Side\n")
    tenant.take("stock", f"{PLACE}A,MAIN,10\nB,SIDE,4\n")
    return tenant


UNDONE: dict[str, str] = {
    "clients": "code,name,address.city\nC1,Renamed,Cluj\nC2,New,\n",
    "partners": "code,name,type\nP1,Renamed,FURNIZOR\nP2,New,CLIENT\n",
    "warehouses": "code,name,active\nMAIN,Renamed,true\nNEW,New,false\n",
    "articles": "code,name,client_code,external_ref,barcodes\nA,Renamed,C1,RB,1;2\nB,Bolt,,RA,\nNEW,New,,,7\n",
    "stock": f"{PLACE}A,MAIN,2.5\nB,MAIN,7\nB,SIDE,0\n",
    "stock-count": f"{COUNT}A,MAIN,L1,,3\nA,MAIN,L2,,4\nS,SIDE,,X1,1\n",
    "packaging-types": "code,name\nPAL,Pallet\n",
}


@pytest.mark.parametrize("kind", UNDONE)
def test_an_import_is_taken_back(tenant: Tenant, kind: str) -> None:
    stocked(tenant)
    before = {name: tenant.export(name) for name in KINDS}
    created, updated, _ = tenant.take(kind, UNDONE[kind])
    assert created + updated
    assert {name: tenant.export(name) for name in KINDS} != before
    assert undo(tenant)["kind"] == kind
    after = {name: tenant.export(name) for name in KINDS}
    if kind.startswith("stock"):  # a stock record that was created stays, and is empty
        assert [each for each in tenant.rows("stock") if each["quantity"] != "0"] == [
            {"article_code": "A", "warehouse_code": "MAIN", "quantity": "10"},
            {"article_code": "B", "warehouse_code": "SIDE", "quantity": "4"},
        ]
        assert not any(each["lot_number"] or each["serial"] for each in tenant.rows("stock-count"))
    else:
        assert after == before
    tenant.home.ok("doctor")
    (sentence,) = refused(tenant)
    assert re.fullmatch(
        rf"The last import with changes, number \d+ \({kind}\), was already undone at 20\S+Z, and no earlier "
        r"import can be undone\.",
        sentence,
    )


def test_packaging_moves_back_by_opposite_movements(tenant: Tenant) -> None:
    stocked(tenant)
    tenant.take("packaging-types", "code,name\nPAL,Pallet\n")
    tenant.take("packaging-movements", "packaging_type_code,partner_code,direction,quantity\nPAL,P1,OUT,5\n")
    undo(tenant)
    moved = [(each["direction"], each["quantity"], each["notes"]) for each in tenant.rows("packaging-movements")]
    assert moved[0] == ("OUT", "5", "")
    assert moved[1][:2] == ("IN", "5")
    assert moved[1][2].endswith("undone")
    tenant.home.ok("doctor")


def test_events_tell_of_it(tenant: Tenant) -> None:
    tenant.take("articles", "code,name\nA,Apple\n")
    tenant.take("articles", "code,name\nA,Apricot\nN1,New\nN2,New\n")
    before = events(tenant)
    undo(tenant)
    told = {name: count - before.get(name, 0) for name, count in events(tenant).items()}
    assert {name: count for name, count in told.items() if count} == {"article.updated": 1, "article.deleted": 2}


def test_the_id_of_what_was_taken_back_is_never_given_again(tenant: Tenant) -> None:
    tenant.take("articles", "code,name\nA,Apple\n")
    for _ in range(2):
        tenant.take("articles", "code,name\nN1,New\nN2,New\n")
        undo(tenant)
    tenant.take("articles", "code,name\nN3,New\n")
    tenant.take("clients", "code,name\nC1,Client\n")
    undo(tenant)
    tenant.take("clients", "code,name\nC2,Client\n")
    listed = tenant.home.ok("import", "list", "--company", tenant.code, "--json").json
    assert [each["can_be_undone"] for each in listed].count(True) == 1
    ids = ids_of(tenant, "articles")
    assert ids == {"A": 1, "N3": 6}
    assert ids_of(tenant, "clients") == {"C2": 2}


def ids_of(tenant: Tenant, table: str) -> dict[str, int]:
    from wmsd.db.engine.sqlite import connect

    company = next(
        each for each in tenant.home.ok("company", "list", "--json").json if each["code"] == tenant.code
    )
    connection = connect(tenant.home.data / "companies" / f"{company['id']}.db")
    try:
        return dict(connection.execute(f"SELECT code, id FROM {table}"))
    finally:
        connection.close()


BUILT: dict[str, tuple[str, str, Callable[[Tenant], object], str]] = {
    "changed": (
        "partners",
        "code,name\nP2,New\n",
        lambda tenant: change(tenant, "partners", "P2"),
        "Partner P2 was changed after the import.",
    ),
    "an article changed": (
        "articles",
        "code,name\nA,Renamed\n",
        lambda tenant: change(tenant, "articles", "A"),
        "Article A was changed after the import.",
    ),
    "used": (
        "articles",
        "code,name\nNEW,New\n",
        lambda tenant: tenant.home.ok(
            *(
                "stock",
                "adjust",
                "--article",
                "NEW",
                "--warehouse",
                "MAIN",
                "--company",
                tenant.code,
                "--by",
                "3",
                "--reason",
                "found",
            )
        ),
        "Article NEW is already used in stock.",
    ),
    "moved": (
        "stock",
        f"{PLACE}A,MAIN,7\n",
        lambda tenant: tenant.home.ok(
            *(
                "stock",
                "adjust",
                "--article",
                "A",
                "--warehouse",
                "MAIN",
                "--company",
                tenant.code,
                "--by",
                "1",
                "--reason",
                "found",
            )
        ),
        "The stock of A in MAIN has moved or was reserved since the import.",
    ),
}


def change(tenant: Tenant, table: str, code: str) -> None:
    """Change a record as a user does on the pages, without an import."""
    from wmsd.db.engine.sqlite import connect

    company = next(
        each for each in tenant.home.ok("company", "list", "--json").json if each["code"] == tenant.code
    )
    connection = connect(tenant.home.data / "companies" / f"{company['id']}.db")
    later = "updated_at = '2099-01-01T00:00:00.000Z', change_seq = change_seq + 10000000"
    connection.execute(f"UPDATE {table} SET {later} WHERE code = ?", (code,))
    connection.close()


@pytest.mark.parametrize("name", BUILT)
def test_what_was_built_on_it_stands_in_the_way(tenant: Tenant, name: str) -> None:
    kind, content, build, sentence = BUILT[name]
    stocked(tenant)
    tenant.take(kind, content)
    build(tenant)
    assert refused(tenant) == [sentence]


def test_an_import_that_changed_nothing_is_not_the_last(tenant: Tenant) -> None:
    tenant.take("clients", "code,name\nC1,Client\n")
    assert tenant.take("clients", "code,name\nC1,Client\n") == (0, 0, 1)
    undo(tenant)
    assert tenant.rows("clients") == []


def test_an_import_of_documents_cannot_be_taken_back(tenant: Tenant) -> None:
    stocked(tenant)
    order = "external_ref,partner_code,warehouse_code,article_code,quantity\nE1,P1,MAIN,A,2\n"
    tenant.take("sales-orders", order)
    (sentence,) = refused(tenant)
    assert sentence.endswith(
        "(sales-orders), cannot be undone, because it imported documents: cancel the documents one by one, or "
        "import a file that cancels them in the column status."
    )


def test_a_company_without_imports_has_none_to_take_back(tenant: Tenant) -> None:
    assert refused(tenant) == ["No import has changed any records yet."]


def test_a_file_stands_before_undo_and_list_in_no_command(tenant: Tenant) -> None:
    assert "Got unexpected extra argument (-)" in tenant.home.misunderstood(
        "import", "undo", "-", "--company", tenant.code
    )
    assert "Missing argument 'FILE.csv'" in tenant.home.misunderstood(
        "import", "articles", "--company", tenant.code
    )


def test_undo_and_list_have_a_help_of_their_own(tenant: Tenant) -> None:
    for name, sentence in {"undo": "Undo the last import", "list": "List the latest imports"}.items():
        for arguments in (("import", name, "--help"), ("import", "--company", "X", name, "--help")):
            shown = tenant.home.run(*arguments)
            assert (shown.code, shown.err) == (0, "")
            assert shown.out.startswith(f"Usage: wmsd import {name} [OPTIONS]\n\n  {sentence}")
            assert "--delimiter" not in shown.out
    assert "--delimiter" in tenant.home.run("import", "--help").out


def test_it_says_which_import_and_how_many_records(tenant: Tenant) -> None:
    tenant.take("partners", "code,name\nP1,One\n")
    tenant.take("partners", "code,name\nP1,Renamed\nP2,Two\nP3,Three\n")
    done = tenant.home.ok("import", "--company", tenant.code, "undo", "--yes")
    shown = dict(re.split(r"  +", line, maxsplit=1) for line in done.out.splitlines())
    assert shown == {
        "import undone": "2",
        "kind": "partners",
        "file": "<stdin>",
        "created": "2",
        "updated": "1",
        "records undone": "3",
    }
    as_json = undo_again(tenant)
    assert as_json == {"undone": 3, "kind": "clients", "file": "<stdin>", "created": 1, "updated": 0}


def undo_again(tenant: Tenant) -> dict[str, object]:
    tenant.take("clients", "code,name\nC1,One\n")
    return undo(tenant)


def test_a_file_may_be_called_undo(tenant: Tenant) -> None:
    tenant.home.write("undo", "code,name\nC1,One\n")
    tenant.home.ok("import", "clients", "undo", "--company", tenant.code)
    assert [row["code"] for row in tenant.rows("clients")] == ["C1"]
    assert tenant.home.ok("export", "clients", "--company", tenant.code).err.endswith("\n1 row.\n")


def test_at_a_terminal_it_says_which_import_and_asks(tenant: Tenant) -> None:
    tenant.take("articles", "code,name\nA,Apple\n")
    tenant.take("articles", "code,name\nA,Apricot\nB,Bolt\n")
    before = tenant.export("articles")
    command = ("import", "undo", "--company", tenant.code)
    done = at_a_terminal(tenant.home, *command, answers=["n"])
    question = rf"Undo import 2 of {tenant.code}: articles from \S+, 1 record created and 1 changed\?"
    assert re.search(question, " ".join(done.err.split()))
    assert (done.code, "Nothing was changed." in done.err, tenant.export("articles")) == (1, True, before)
    assert at_a_terminal(tenant.home, *command, answers=["y"]).code == 0
    assert {row["code"]: row["name"] for row in tenant.rows("articles")} == {"A": "Apple"}
    refused = at_a_terminal(tenant.home, *command)
    assert (refused.code, "Nothing was changed." in refused.err) == (1, True)
    tenant.take("articles", "code,name\nC,Cork\n")
    assert at_a_terminal(tenant.home, *command, "--yes").code == 0
