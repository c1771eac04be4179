"""For every kind of document, the creator, the mover and the changer are recorded in the transaction of the
change.
"""

import json
from typing import Any

import pytest

from tests.support.dock import Dock
from tests.warehouse.documents.test_lives import KINDS, LITTLE, made, move, path_of, post
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents import change_history
from wmsd.warehouse.documents.change_history import (
    LONGEST_LINES,
    LONGEST_VALUE,
    MORE,
    MOST_KEPT,
    MOST_PARTS,
    differences,
)
from wmsd.warehouse.documents.kind import DocumentKind

BY = "admin@example.com (test)"


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> DocumentKind:
    found: DocumentKind = request.param
    return found


async def told(dock: Dock, kind: DocumentKind, document_id: int) -> list[dict[str, Any]]:
    """Return the change history of a document, the oldest entry first."""
    database = await dock.world.database()
    found = await database.read(lambda tx: change_history.of_document(tx, kind.table, document_id))
    return list(reversed(found["data"]))


async def test_who_made_moved_and_changed_it_when(dock: Dock, kind: DocumentKind) -> None:
    document = await post(dock, kind)
    dock.world.clock.advance(60)
    patched = await dock.world.send("PATCH", f"{path_of(kind)}/{document.id}", {"notes": "late"})
    assert patched.status == 200, patched.raw
    dock.world.clock.advance(60)
    requested = next(iter(kind.transitions.allowed_from(kind.table.initial)))
    assert (await move(dock, kind, document.id, requested)).status == 200
    first, second, third = await told(dock, kind, document.id)
    initial = kind.table.initial
    assert (first["what"], first["status"], first["changes"]) == ("created", initial, None)
    assert (second["what"], second["changes"]) == ("changed", {"notes": {"before": None, "after": "late"}})
    assert (third["what"], third["status"], third["changes"]) == ("moved", requested, None)
    assert {each["actor"] for each in (first, second, third)} == {BY}
    assert first["at"] < second["at"] < third["at"]


async def test_what_changes_nothing_and_what_is_refused_is_not_there(dock: Dock, kind: DocumentKind) -> None:
    document = await post(dock, kind, notes="same")
    for body in ({"notes": "same"}, {"notes": 5}, {"partner_id": 999}):
        await dock.world.send("PATCH", f"{path_of(kind)}/{document.id}", body)
    assert [each["what"] for each in await told(dock, kind, document.id)] == ["created"]
    database = await dock.world.database()
    count = await database.read(
        lambda tx: tx.value("SELECT count(*) FROM document_changes WHERE what = 'changed'")
    )
    assert count == 0


async def test_lines_that_differ_are_there_before_and_after(dock: Dock) -> None:
    sales_orders = DOCUMENTS[0]
    document_id = await made(dock, sales_orders, "CREAT")
    lines = [{"article_id": 1, "quantity": LITTLE}, {"article_id": 2, "quantity": 1}]
    for sent in (lines, lines[::-1]):
        answer = await dock.world.send("PATCH", f"/api/sales-orders/{document_id}", {"lines": sent})
        assert answer.status == 200, answer.raw
    code = answer.body["lines"][0]["article_code"]
    added = {"article_code": code, "quantity": 1, "warehouse_id": 1}
    _, first, *_ = await told(dock, sales_orders, document_id)
    assert first["changes"] == {"lines": {"before": [], "after": [added]}}


async def test_a_purchase_order_is_moved_by_who_finishes_its_reception(dock: Dock) -> None:
    purchase_orders, receptions = DOCUMENTS[1], DOCUMENTS[2]
    reception = await post(dock, receptions)
    assert (await move(dock, receptions, reception.id, "FINALIZAT")).status == 200
    moved = (await told(dock, purchase_orders, reception.body["purchase_order_id"]))[-1]
    assert (moved["what"], moved["status"], moved["actor"]) == ("moved", "RECEPTIONAT", BY)


@pytest.mark.parametrize("number", [1, 2], ids=["purchase-orders", "receptions"])
async def test_another_document_with_the_id_of_a_deleted_one_begins_anew(dock: Dock, number: int) -> None:
    kind = DOCUMENTS[number]
    document = await post(dock, kind)
    assert (await dock.world.send("DELETE", f"{path_of(kind)}/{document.id}")).status == 204
    again = await post(dock, kind)
    if again.id == document.id:
        assert len(await told(dock, kind, again.id)) == 1
    rows = await dock.world.rows(
        f"SELECT count(*) FROM document_changes WHERE kind = '{kind.table.entity}' AND document_id NOT IN "
        f"(SELECT id FROM {kind.table.name})"
    )
    assert rows == [(0,)]


def test_what_is_kept_of_a_change_is_bounded() -> None:
    table = DOCUMENTS[0].table
    empty: dict[str, Any] = dict.fromkeys((*table.fields,))
    line = {**dict.fromkeys(table.line_table.fields), "article_code": "A", "quantity": 1}
    before = {**empty, "notes": "x" * 5000, "ship_to": {"street": "y" * 4000}, "lines": [line]}
    after = {**empty, "lines": [{**line, "quantity": each} for each in range(2, 100)]}
    found = differences(table, before, after)
    assert found["notes"] == {"before": f"{'x' * LONGEST_VALUE}…", "after": None}
    assert found["ship_to"] == {"before": {"street": f"{'y' * LONGEST_VALUE}…"}, "after": None}
    *kept, more = found["lines"]["after"]
    assert (kept, more) == ([{"article_code": "A", "quantity": each} for each in range(2, 2 + len(kept))], MORE)
    assert LONGEST_LINES // 2 < len(json.dumps(kept)) < LONGEST_LINES * 1.2


def test_of_ten_thousand_serials_the_first_are_kept() -> None:
    table = DOCUMENTS[0].table
    empty: dict[str, Any] = dict.fromkeys((*table.fields,))
    line = {**dict.fromkeys(table.line_table.fields), "article_code": "A", "quantity": 10_000}
    one, other = ([f"{each}{number}" for number in range(10_000)] for each in "AB")
    before, after = ({**empty, "lines": [{**line, "serials": each}]} for each in (one, other))
    found = differences(table, before, after)["lines"]
    assert found["before"][0]["serials"] == [*one[:MOST_PARTS], MORE]
    assert found["after"][0]["serials"] == [*other[:MOST_PARTS], MORE]


async def test_who_made_it_and_the_last_changes_are_kept(dock: Dock, kind: DocumentKind) -> None:
    document, another = await post(dock, kind), await post(dock, kind)
    for number in range(MOST_KEPT + 5):
        await dock.world.send("PATCH", f"{path_of(kind)}/{document.id}", {"notes": str(number)})
    first, *last = await told(dock, kind, document.id)
    assert first["what"] == "created"
    assert [each["changes"]["notes"]["after"] for each in last] == [str(each) for each in range(5, MOST_KEPT + 5)]
    rows = await dock.world.rows(
        f"SELECT count(*) FROM document_changes WHERE kind = '{kind.table.entity}' AND document_id = {document.id}"
    )
    assert rows == [(MOST_KEPT + 1,)]
    assert len(await told(dock, kind, another.id)) == 1


async def test_who_moves_it_to_and_fro_does_not_fill_the_file(dock: Dock) -> None:
    kind = DOCUMENTS[0]
    document_id = await made(dock, kind, "CREAT")
    for _ in range(MOST_KEPT // 2 + 2):
        for status in ("IN_LUCRU", "CREAT"):
            assert (await move(dock, kind, document_id, status)).status == 200
    found = await told(dock, kind, document_id)
    assert [each["what"] for each in found] == ["created", *["moved"] * MOST_KEPT]
