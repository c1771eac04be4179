"""`wmsd purchase-order`, `wmsd reception` and `wmsd return`."""

from typing import Any

import pytest

from tests.support.command import Tenant
from tests.support.forked import Done
from wmsd.contract.operation import Operation
from wmsd.contract.validation import validate_model
from wmsd.data_folder.folder import DataFolder
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine
from wmsd.interfaces.cli.kit.company_data import company_database
from wmsd.interfaces.cli.records.document_commands import document_command
from wmsd.settings.all_settings import Settings
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.receptions.actions import create_reception
from wmsd.warehouse.returns.actions import create_return

PURCHASES = (
    "code,external_ref,status,partner_code,warehouse_code,expected_date,article_code,quantity\n"
    "B-1,W1,CREAT,P1,MAIN,2026-12-24,A,3\n"
    "B-1,W1,CREAT,P1,MAIN,2026-12-24,B,0.000001\n"
    "B-2,,CREAT,P2,EAST,,A,8\n"
    "B-3,,ANULAT,P1,MAIN,,A,1\n"
)
SALES = "code,status,partner_code,warehouse_code,article_code,quantity\nS-1,LIVRAT,P1,MAIN,A,4\n"


def create(tenant: Tenant, operation: Operation, body: dict[str, Any]) -> None:
    """Run an operation of the API for which there is no command."""
    assert operation.body is not None
    sent = validate_model(operation.body, body)

    async def work(installation: Installation) -> None:
        database = await company_database(installation, tenant.code)
        await database.write(lambda tx: operation.action(tx, sent))

    CommandLine(Settings(), DataFolder(tenant.home.data), None).run(work)


def receive(tenant: Tenant, order: int, **fields: Any) -> None:
    """Create a draft reception of 2 of the order's first item."""
    items = [{"po_item_id": {1: 1, 2: 3}[order], "quantity_um3pl": 2}]
    body = {"purchase_order_id": order, "warehouse_id": 1, "selected_items": items, **fields}
    create(tenant, create_reception, body)


def bring_back(tenant: Tenant, *lines: dict[str, Any], **fields: Any) -> None:
    body = {"partner_id": 1, "warehouse_id": 1, "lines": list(lines), **fields}
    create(tenant, create_return, body)


@pytest.fixture
def dock(stocked: Tenant) -> Tenant:
    """Import the purchase orders B-1, B-2 and B-3, and the sales order S-1, which took 4 of the 10 A in MAIN."""
    stocked.take("purchase-orders", PURCHASES)
    stocked.take("sales-orders", SALES)
    return stocked


def run(tenant: Tenant, *arguments: str) -> Done:
    return tenant.home.ok(*arguments, "--company", tenant.code)


def read(tenant: Tenant, *arguments: str) -> Any:
    return run(tenant, *arguments, "--json").json


def refused(tenant: Tenant, *arguments: str) -> str:
    return tenant.home.refused(*arguments, "--company", tenant.code)


def codes(tenant: Tenant, *arguments: str) -> list[str]:
    return [row["code"] for row in read(tenant, *arguments)]


def stock(tenant: Tenant) -> str:
    return tenant.rows("stock")[0]["quantity"]


def test_purchase_orders_are_listed(dock: Tenant) -> None:
    listed = read(dock, "purchase-order", "list")
    assert [row.pop("updated_at") is not None for row in listed] == [True] * 3
    assert listed[0] == {
        "code": "B-1",
        "status": "CREAT",
        "partner": "P1",
        "items": 2,
        "external_ref": "W1",
        "expected_date": "2026-12-24",
    }
    assert codes(dock, "purchase-order", "list", "--partner", "P1", "--status", "CREAT") == ["B-1"]
    assert codes(dock, "purchase-order", "list", "--article", "B") == ["B-1"]
    paged = run(dock, "purchase-order", "list", "--per-page", "2", "--page", "2")
    assert ("B-3" in paged.out, "B-1" in paged.out, "1 of 3 rows, page 2" in paged.err) == (True, False, True)


def test_documents_are_listed_by_each_filter_of_their_operation(dock: Tenant) -> None:
    assert codes(dock, "purchase-order", "list", "--external-ref", "W1") == ["B-1"]
    assert codes(dock, "purchase-order", "list", "--code", "B-2", "--status", "CREAT") == ["B-2"]
    assert codes(dock, "purchase-order", "list", "--updated-since", "2099-01-01T00:00:00Z") == []
    assert (
        "No purchase orders match these filters."
        in run(dock, "purchase-order", "list", "--external-ref", "W9").err
    )
    assert "--updated-since" in refused(dock, "purchase-order", "list", "--updated-since", "yesterday")


@pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: kind.name)
def test_a_new_filter_of_a_kind_is_an_option_of_its_list(kind: DocumentKind) -> None:
    listing = document_command(kind).commands["list"]
    options = {option.removeprefix("--") for each in listing.params for option in each.opts}
    query: Any = kind.reading.page_query
    filters = {name.removesuffix("_id").replace("_", "-") for name in query.filter_names()}
    assert filters <= options


def test_a_purchase_order_is_shown_with_codes_for_people_and_whole_for_programs(dock: Tenant) -> None:
    record, items, history = run(dock, "purchase-order", "show", "B-1").out.split("\n\n")
    assert ["partner", "P1"] in [line.split() for line in record.splitlines()]
    assert [line.split() for line in items.splitlines()] == [
        ["id", "article_code", "quantity", "received_quantity"],
        ["1", "A", "3", "0"],
        ["2", "B", "0.000001", "0"],
    ]
    assert history.startswith("status  at\nCREAT   2")
    assert read(dock, "purchase-order", "show", "B-1")["partner_id"] == 1


def test_a_purchase_order_is_cancelled_or_closed_short(dock: Tenant) -> None:
    assert read(dock, "purchase-order", "status", "B-1", "ANULAT") == {
        "code": "B-1",
        "status": "ANULAT",
        "next": [],
    }
    sentence = "A purchase order with the status CREAT cannot become RECEPTIONAT, only ANULAT."
    assert refused(dock, "purchase-order", "status", "B-2", "RECEPTIONAT") == sentence
    receive(dock, 2, status="FINALIZAT")
    assert read(dock, "purchase-order", "status", "B-2", "RECEPTIONAT")["next"] == []


def test_receptions_are_listed_by_status_and_order(dock: Tenant) -> None:
    empty = run(dock, "reception", "list")
    assert (empty.out, empty.err.splitlines()[-1]) == ("", "No receptions yet.")
    receive(dock, 1, external_ref="DN-1")
    receive(dock, 2)
    receive(dock, 2, status="FINALIZAT")
    listed = read(dock, "reception", "list")
    assert listed[0].pop("updated_at")
    assert listed[0] == {
        "code": "RC-000001",
        "status": "CREAT",
        "purchase_order": "B-1",
        "warehouse": "MAIN",
        "selected_items": 1,
        "external_ref": "DN-1",
    }
    of_second = ("reception", "list", "--purchase-order", "B-2")
    assert codes(dock, *of_second) == ["RC-000002", "RC-000003"]
    assert codes(dock, *of_second, "--status", "FINALIZAT") == ["RC-000003"]
    assert run(dock, *of_second, "--status", "ANULAT").err.splitlines()[-1] == "No receptions match these filters."
    assert refused(dock, "reception", "list", "--purchase-order", "B-9") == (
        f"No purchase order has the code B-9. `wmsd purchase-order list --company {dock.code}` lists the codes."
    )


def test_a_reception_is_shown_with_the_code_of_its_order(dock: Tenant) -> None:
    receive(dock, 2)
    record, items, _ = run(dock, "reception", "show", "RC-000001").out.split("\n\n")
    shown = dict(line.split(maxsplit=1) for line in record.splitlines())
    assert (shown["purchase_order"], shown["warehouse"]) == ("B-2", "MAIN")
    assert items.splitlines()[1].split() == ["1", "3", "A", "2", "-", "-", "-"]


def test_a_reception_is_posted_with_its_packaging(dock: Tenant) -> None:
    dock.take("packaging-types", "code,name\nEUR,Pallet\n")
    receive(dock, 2)
    refusal = refused(dock, "reception", "status", "RC-000001", "IN_LUCRU", "--packaging", "EUR=4")
    assert refusal == "--packaging is allowed only together with the status FINALIZAT."
    assert read(dock, "reception", "status", "RC-000001", "IN_LUCRU")["next"] == ["FINALIZAT", "ANULAT"]
    assert stock(dock) == "6"
    assert read(dock, "reception", "status", "RC-000001", "FINALIZAT", "--packaging", "EUR=4")["next"] == []
    assert stock(dock) == "8"
    (owed,) = read(dock, "packaging", "balances")
    assert (owed["type"], owed["partner"], owed["quantity"]) == ("EUR", "P2", -4)
    assert codes(dock, "purchase-order", "list", "--status", "PARTIAL") == ["B-2"]
    assert (
        refused(dock, "reception", "status", "RC-000001", "ANULAT")
        == "A reception with the status FINALIZAT cannot change its status any more."
    )


def test_more_than_was_ordered_is_received_within_the_tolerance_of_the_company(dock: Tenant) -> None:
    receive(dock, 2, selected_items=[{"po_item_id": 3, "quantity_um3pl": 8}])
    receive(dock, 2, selected_items=[{"po_item_id": 3, "quantity_um3pl": 2}])
    run(dock, "reception", "status", "RC-000002", "FINALIZAT")
    post = ("reception", "status", "RC-000001", "FINALIZAT")
    tolerance = ("company", "change", dock.code, "--over-receipt-pct")
    dock.home.ok(*tolerance, "24.999999")
    assert refused(dock, *post) == (
        "selected_items.0.quantity_um3pl is more than the order still allows: you entered 8, and "
        "7.999999 of 9.999999 can still be received."
    )
    dock.home.ok(*tolerance, "25")
    run(dock, *post)
    assert stock(dock) == "16"


def test_returns_are_listed_by_partner_and_order(dock: Tenant) -> None:
    bring_back(dock, {"article_id": 1, "quantity": 1}, sales_order_id=1)
    bring_back(dock, {"article_id": 1, "quantity": 1}, {"article_id": 2, "quantity": 1}, partner_id=2)
    rows = [
        (row["code"], row["partner"], row["sales_order"], row["lines"]) for row in read(dock, "return", "list")
    ]
    assert rows == [("RT-000001", "P1", "S-1", 1), ("RT-000002", "P2", None, 2)]
    assert codes(dock, "return", "list", "--sales-order", "S-1") == ["RT-000001"]
    assert codes(dock, "return", "list", "--partner", "P2", "--status", "CREAT") == ["RT-000002"]
    shown = run(dock, "return", "show", "RT-000001").out
    assert ["sales_order", "S-1"] in [line.split() for line in shown.splitlines()]
    sentence = f"`wmsd sales-order list --company {dock.code}` lists the codes."
    assert (
        refused(dock, "return", "list", "--sales-order", "S-9") == f"No sales order has the code S-9. {sentence}"
    )


def test_a_disposition_is_given_to_the_lines_that_have_none(dock: Tenant) -> None:
    decided = {"article_id": 1, "quantity": 1, "disposition": "DISTRUS"}
    bring_back(dock, {"article_id": 1, "quantity": 2}, decided, {"article_id": 1, "quantity": 1})
    move = ("return", "status", "RT-000001")
    assert refused(dock, *move, "RECEPTIONAT", "--disposition", "RESTOC") == (
        "--disposition is only for the move to FINALIZAT."
    )
    assert refused(dock, *move, "FINALIZAT", "--disposition", "RESTOC") == (
        "A return with the status CREAT cannot become FINALIZAT, only RECEPTIONAT or ANULAT."
    )
    run(dock, *move, "RECEPTIONAT")
    assert refused(dock, *move, "FINALIZAT") == "--disposition is needed for 2 lines of this return."
    run(dock, *move, "FINALIZAT", "--disposition", "RESTOC")
    lines = read(dock, "return", "show", "RT-000001")["lines"]
    assert [line["disposition"] for line in lines] == ["RESTOC", "DISTRUS", "RESTOC"]
    assert stock(dock) == "9"


def test_a_return_that_is_decided_needs_no_disposition(dock: Tenant) -> None:
    bring_back(dock, {"article_id": 1, "quantity": 1, "disposition": "RESTOC"})
    move = ("return", "status", "RT-000001")
    run(dock, *move, "RECEPTIONAT")
    run(dock, *move, "FINALIZAT", "--disposition", "DISTRUS")
    again = run(dock, *move, "FINALIZAT")
    assert again.err.splitlines()[-1] == "RT-000001 already was FINALIZAT. Nothing was changed."
    assert stock(dock) == "7"


@pytest.mark.parametrize(("kind", "noun"), [("purchase-order", "purchase order"), ("reception", "reception")])
@pytest.mark.parametrize("command", [("show", "X-9"), ("status", "X-9", "ANULAT")], ids=lambda it: it[0])
def test_a_document_that_is_not_there(dock: Tenant, kind: str, noun: str, command: tuple[str, ...]) -> None:
    assert refused(dock, kind, *command) == (
        f"No {noun} has the code X-9. `wmsd {kind} list --company {dock.code}` lists the codes."
    )


def test_help_of_status_has_every_move(dock: Tenant) -> None:
    said = dock.home.run("reception", "status", "--help").out
    for move in ("CREAT to IN_LUCRU", "CREAT to FINALIZAT", "CREAT to ANULAT", "IN_LUCRU to ANULAT"):
        assert f"  {move}: " in said
