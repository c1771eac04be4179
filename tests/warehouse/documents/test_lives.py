"""A document of each kind follows its declaration, and so does everything derived from it: events, histories,
lists, totals, doctor.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import pytest

from tests.support.dock import Dock, arrival
from tests.support.world import Answer
from wmsd.interfaces.rest_v1.routes import ROUTES
from wmsd.maintenance.file_checks.company_checks import examine
from wmsd.warehouse.document_kinds import DOCUMENTS
from wmsd.warehouse.documents.kind import DocumentKind
from wmsd.warehouse.documents.schema import MOST_REACHED

Body = dict[str, Any]
LITTLE: Final = 0.1
"""A quantity that is small enough for all documents of a test."""
MOST: Final = 200


async def sales_order(_: Dock) -> Body:
    return {"partner_id": 1, "warehouse_id": 1, "lines": [{"article_id": 1, "quantity": LITTLE}]}


async def purchase_order(_: Dock) -> Body:
    return {"partner_id": 4, "warehouse_id": 1, "items": [{"article_id": 1, "quantity": LITTLE}]}


async def reception(dock: Dock) -> Body:
    return arrival(await dock.purchase((1, LITTLE)), status="CREAT")


async def customer_return(_: Dock) -> Body:
    line = {"article_id": 1, "quantity": LITTLE, "disposition": "RESTOC"}
    return {"partner_id": 1, "warehouse_id": 1, "lines": [line]}


BODIES: Final[Mapping[str, Callable[[Dock], Awaitable[Body]]]] = {
    "sales-orders": sales_order,
    "purchase-orders": purchase_order,
    "receptions": reception,
    "returns": customer_return,
}
"""For each kind, the body of a document that allows every move of a person."""
KINDS: Final = [kind for kind in DOCUMENTS if kind.name in BODIES]
"""The kinds of version 1. Counts have a separate operation for booking, and are tested in `counts`."""


def path_of(kind: DocumentKind) -> str:
    return f"/api/{kind.name}"


def reached_by_people(kind: DocumentKind) -> list[str]:
    """Return the statuses to which people can move a document; other documents cause the remaining statuses."""
    reached = [kind.table.initial]
    for status in reached:
        reached += [after for after in kind.transitions.allowed_from(status) if after not in reached]
    return reached


async def post(dock: Dock, kind: DocumentKind, **fields: Any) -> Answer:
    return await dock.world.send("POST", path_of(kind), {**await BODIES[kind.name](dock), **fields})


async def move(dock: Dock, kind: DocumentKind, document_id: int, status: str) -> Answer:
    return await dock.world.send("PATCH", f"{path_of(kind)}/{document_id}", {"status": status})


async def made(dock: Dock, kind: DocumentKind, status: str) -> int:
    """Create a document, move it to `status`, and return its id."""
    document = await post(dock, kind)
    assert document.status == 201, document.raw
    for step in kind.transitions.shortest_path(kind.table.initial, status):
        answer = await move(dock, kind, document.id, step)
        assert answer.status == 200, answer.raw
    return document.id


async def listed(dock: Dock, kind: DocumentKind, filters: str = "") -> tuple[list[str], int]:
    """Return the statuses of all documents in the list, and the total of the list."""
    body = (await dock.world.call("GET", f"{path_of(kind)}?per_page={MOST}{filters}")).body
    return [each["status"] for each in body["data"]], body["meta"]["total"]


async def is_right(dock: Dock) -> None:
    database = await dock.world.database()
    assert (await database.read_long(examine)).differences == []


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> DocumentKind:
    found: DocumentKind = request.param
    return found


async def test_it_begins_in_its_initial_status(dock: Dock, kind: DocumentKind) -> None:
    """A document created in another status has moved there by the table, or is refused."""
    initial = kind.table.initial
    for status in kind.table.statuses:
        answer = await post(dock, kind, status=status)
        if answer.status == 201:
            history = [each["status"] for each in answer.body["status_history"]]
            assert history == [initial, *kind.transitions.shortest_path(initial, status)]
            assert answer.body["status"] == status
        else:
            assert (status != initial, answer.status, list(answer.errors)) == (True, 422, ["status"])
    await is_right(dock)


async def test_it_tells_of_its_beginning_and_its_last_moves(dock: Dock) -> None:
    """A document that is moved back and forth does not grow without limit."""
    [kind] = [each for each in DOCUMENTS if each.name == "sales-orders"]
    document_id = await made(dock, kind, "CREAT")
    moves = [("CREAT", "IN_LUCRU")[number % 2] for number in range(1, 2 * MOST_REACHED)]
    reached = [(await move(dock, kind, document_id, status)).body["status_history"] for status in moves]
    assert [len(each) for each in reached] == [min(2 + number, MOST_REACHED) for number in range(len(moves))]
    assert [each["status"] for each in reached[-1]] == ["CREAT", *moves[1 - MOST_REACHED :]]
    assert reached[-1][0] == reached[0][0]
    assert reached[-1][1:-1] == reached[-2][2:]
    await is_right(dock)


async def test_it_makes_the_moves_of_its_table_and_no_others(dock: Dock, kind: DocumentKind) -> None:
    status_changed = f"{kind.table.entity}.status_changed"
    for current in reached_by_people(kind):
        for requested in kind.table.statuses:
            document_id = await made(dock, kind, current)
            before = await dock.world.last_event()
            answer = await move(dock, kind, document_id, requested)
            events = [data for name, data in await dock.world.events_after(before) if name == status_changed]
            if requested == current:
                assert (answer.status, answer.body["status"], events) == (200, current, [])
            elif (current, requested) in kind.transitions.table:
                assert (answer.status, answer.body["status"]) == (200, requested)
                assert [each["status"] for each in answer.body["status_history"][-2:]] == [current, requested]
                (event,) = events
                found = event["id"], event["code"], event["previous_status"], event["status"]
                assert found == (document_id, answer.body["code"], current, requested)
            else:
                allowed = kind.transitions.allowed_from(current)
                assert (answer.status, answer.body["code"], events) == (409, "INVALID_STATUS", [])
                assert answer.body["details"] == {"current": current, "requested": requested, "allowed": allowed}
    await is_right(dock)


async def test_lists_have_it_under_its_status(dock: Dock, kind: DocumentKind) -> None:
    for number, status in enumerate(reached_by_people(kind)):
        for _ in range(number + 1):
            await made(dock, kind, status)
    everything, total = await listed(dock, kind)
    counted = Counter(everything)
    assert total == counted.total()
    for status in kind.table.statuses:
        assert await listed(dock, kind, f"&status={status}") == ([status] * counted[status], counted[status])


async def test_it_can_be_deleted_in_its_initial_status_only(dock: Dock, kind: DocumentKind) -> None:
    path = f"{path_of(kind)}/{{id}}"
    if not any((route.method, route.path) == ("DELETE", path) for route in ROUTES):
        pytest.skip("this kind has no operation that deletes")
    for status in reached_by_people(kind):
        document_id = await made(dock, kind, status)
        expected = 204 if status == kind.table.initial else 409
        await dock.world.call("DELETE", path.format(id=document_id), status=expected)
        await dock.world.call("GET", path.format(id=document_id), status=404 if expected == 204 else 200)
    await is_right(dock)
