"""Sales orders of goods with lots and serials: the oldest goods leave first, unless a line names a lot or
serials.
"""

import asyncio
from typing import Any

import pytest

from tests.support.dock import LOT, SERIAL, Dock

PATH = "/api/sales-orders"


def line(article: int, quantity: float, **fields: Any) -> dict[str, Any]:
    return {"article_id": article, "quantity": quantity, **fields}


def body(*lines: dict[str, Any]) -> dict[str, Any]:
    return {"partner_id": 1, "warehouse_id": 1, "lines": list(lines)}


@pytest.fixture
async def lots(dock: Dock) -> Dock:
    """Stock MAIN with 5 of lot OLD and 5 of lot NEW. Add the serials S1 and S2 in lot X, and S3 and S4 in lot
    Y.
    """
    await dock.bring(
        LOT,
        {"quantity_um3pl": 5, "lot_number": "OLD"},
        {"quantity_um3pl": 5, "lot_number": "NEW"},
    )
    await dock.bring(
        SERIAL,
        {"quantity_um3pl": 2, "serial_data": ["S1", "S2"], "lot_number": "X"},
        {"quantity_um3pl": 2, "serial_data": ["S3", "S4"], "lot_number": "Y"},
    )
    return dock


async def test_the_oldest_lot_leaves_first_and_comes_back_as_it_left(lots: Dock) -> None:
    order = await lots.order(line(LOT, 4), line(LOT, 3), status="INCARCAT")
    assert await lots.moved("loading") == [(-4, "OLD", None), (-1, "OLD", None), (-2, "NEW", None)]
    assert await lots.lots(LOT) == {"NEW": (3, 3)}
    await lots.world.send("PATCH", f"{PATH}/{order.id}", {"status": "IN_LUCRU"})
    assert await lots.moved("unloading") == [(4, "OLD", None), (1, "OLD", None), (2, "NEW", None)]
    assert await lots.lots(LOT) == {"OLD": (5, 5), "NEW": (5, 5)}
    assert await lots.stock(LOT) == (10, 7, 3)
    await lots.world.send("PATCH", f"{PATH}/{order.id}", {"status": "INCARCAT"})
    assert await lots.lots(LOT) == {"NEW": (3, 3)}


async def test_goods_without_a_lot_leave_after_those_that_have_one(lots: Dock) -> None:
    await lots.world.import_csv("stock", "article_code,warehouse_code,quantity\nLOT,MAIN,12\n")
    await lots.order(line(LOT, 11), status="INCARCAT")
    assert await lots.moved("loading") == [(-5, "OLD", None), (-5, "NEW", None), (-1, None, None)]


async def test_a_named_lot_is_held_by_its_name(lots: Dock) -> None:
    answer = await lots.order(line(LOT, 4, lot_number="OLD"))
    assert answer.body["lines"][0]["lot_number"] == "OLD"
    assert (await lots.lots(LOT), await lots.stock(LOT)) == ({"OLD": (5, 1), "NEW": (5, 5)}, (10, 4, 6))
    await lots.order(line(LOT, 5), status="INCARCAT")
    assert await lots.moved("loading") == [(-1, "OLD", None), (-4, "NEW", None)], "what is named stays"
    await lots.world.send("PATCH", f"{PATH}/{answer.id}", {"status": "IN_LUCRU"})
    await lots.world.send("PATCH", f"{PATH}/{answer.id}", {"status": "INCARCAT"})
    assert await lots.lots(LOT) == {"NEW": (1, 1)}


async def test_in_one_order_what_a_line_names_is_not_taken_by_another(lots: Dock) -> None:
    await lots.order(line(LOT, 5), line(LOT, 3, lot_number="OLD"), status="INCARCAT")
    assert sorted(await lots.moved("loading"), key=str) == [
        (-2, "OLD", None),
        (-3, "NEW", None),
        (-3, "OLD", None),
    ]


async def test_more_than_a_lot_has_is_short_though_there_is_enough_of_the_article(lots: Dock) -> None:
    held = await lots.order(line(LOT, 2, lot_number="OLD"))
    lines = [line(LOT, 2, lot_number="OLD"), line(LOT, 1), line(LOT, 2, lot_number="OLD")]
    answer = await lots.world.call("POST", PATH, body(*lines), status=422)
    assert answer.body["code"] == "INSUFFICIENT_STOCK"
    sentence = "is more than the available stock of lot OLD: 3 available, 4 requested"
    assert answer.errors == {"lines.0.quantity": [sentence], "lines.2.quantity": [sentence]}
    answer = await lots.world.call("POST", PATH, body(line(LOT, 1, lot_number="GONE")), status=422)
    assert answer.errors == {
        "lines.0.quantity": ["is more than the available stock of lot GONE: 0 available, 1 requested"]
    }
    events = ["sales_order.updated", "stock.updated"]
    changed = {"lines": [line(LOT, 5, lot_number="OLD")]}
    await lots.world.call("PATCH", f"{PATH}/{held.id}", changed, events=events)
    assert await lots.lots(LOT) == {"OLD": (5, 0), "NEW": (5, 5)}
    events = ["sales_order.status_changed", "stock.updated"]
    await lots.world.call("PATCH", f"{PATH}/{held.id}", {"status": "ANULAT"}, events=events)
    assert await lots.lots(LOT) == {"OLD": (5, 5), "NEW": (5, 5)}


async def test_the_oldest_serials_leave_first_and_come_back(lots: Dock) -> None:
    order = await lots.order(line(SERIAL, 3), status="INCARCAT")
    assert await lots.moved("loading") == [(-1, "X", "S1"), (-1, "X", "S2"), (-1, "Y", "S3")]
    assert (await lots.serials(), await lots.lots(SERIAL)) == (["S4"], {"Y": (1, 1)})
    await lots.world.send("PATCH", f"{PATH}/{order.id}", {"status": "IN_LUCRU"})
    assert sorted(await lots.serials()) == ["S1", "S2", "S3", "S4"]
    assert await lots.lots(SERIAL) == {"X": (2, 2), "Y": (2, 2)}


async def test_named_serials_are_held_and_leave(lots: Dock) -> None:
    order = await lots.order(line(SERIAL, 2, serials=["S4", "S1"]), status="IN_LUCRU")
    assert await lots.lots(SERIAL) == {"X": (2, 1), "Y": (2, 1)}
    await lots.order(line(SERIAL, 2), status="INCARCAT")
    assert await lots.moved("loading") == [(-1, "X", "S2"), (-1, "Y", "S3")]
    await lots.world.send("PATCH", f"{PATH}/{order.id}", {"status": "INCARCAT"})
    assert sorted(await lots.moved("loading"), key=str)[:2] == [(-1, "X", "S1"), (-1, "X", "S2")]
    assert await lots.serials() == []


@pytest.mark.parametrize(
    ("fields", "path", "sentence"),
    [
        ({"serials": ["S1", "S9"]}, "serials.1", "is not available in the warehouse of the line"),
        ({"serials": ["S1", "S3"], "lot_number": "X"}, "serials.1", "does not belong to lot X"),
        (
            {"serials": ["S1"]},
            "serials",
            "must have one serial for each unit (units ordered: 2, serials named: 1)",
        ),
        ({"serials": []}, "serials", "must have one serial for each unit (units ordered: 2, serials named: 0)"),
        ({"serials": ["S1", "S1"]}, "serials", "contains the same serial twice"),
        ({"serials": ["S1", "S4"]}, "serials.1", "is not available in the warehouse of the line"),
        ({"quantity": 1.5}, "quantity", "must be a whole number: the article is tracked by serials"),
        ({"serials": "S1"}, "serials", "must be an array"),
        ({"serials": ["S1", ""]}, "serials.1", "must have at least 1 character"),
        ({"lot_number": 5}, "lot_number", "must be a string"),
    ],
)
async def test_a_line_that_names_what_is_not_there_is_refused(
    lots: Dock, fields: dict[str, Any], path: str, sentence: str
) -> None:
    await lots.order(line(SERIAL, 1, serials=["S4"]))
    sent = body({**line(SERIAL, 2), **fields})
    answer = await lots.world.call("POST", PATH, sent, status=422)
    assert answer.errors[f"lines.0.{path}"][0] == sentence


async def test_a_serial_in_another_warehouse_is_not_there(lots: Dock) -> None:
    order = await lots.purchase((SERIAL, 1))
    item = {"po_item_id": order.body["items"][0]["id"], "quantity_um3pl": 1, "serial_data": ["EAST-1"]}
    await lots.receive(order, item, warehouse_id=2)
    sent = body(line(SERIAL, 1, serials=["EAST-1"]))
    answer = await lots.world.call("POST", PATH, sent, status=422)
    assert answer.errors == {"lines.0.serials.0": ["is not available in the warehouse of the line"]}
    await lots.order(line(SERIAL, 1, serials=["EAST-1"], warehouse_id=2))


async def test_two_lines_cannot_name_one_serial(lots: Dock) -> None:
    lines = [line(SERIAL, 1, serials=["S1"]), line(SERIAL, 1, serials=["S1"])]
    answer = await lots.world.call("POST", PATH, body(*lines), status=422)
    assert answer.errors == {"lines.1.serials.0": ["is also on another line"]}


async def test_a_serial_is_not_there_when_others_hold_all_of_its_lot(lots: Dock) -> None:
    await lots.order(line(SERIAL, 2, lot_number="X"))
    lines = [line(SERIAL, 1, serials=["S3"]), line(SERIAL, 1, serials=["S1"])]
    answer = await lots.world.call("POST", PATH, body(*lines), status=422)
    assert answer.body["code"] == "INSUFFICIENT_STOCK"
    assert answer.errors == {
        "lines.1.quantity": ["is more than the available stock of lot X: 0 available, 1 requested"]
    }


async def test_of_one_lot_lines_that_name_it_and_lines_that_name_its_serials_are_summed(lots: Dock) -> None:
    lines = [line(SERIAL, 1, lot_number="X"), line(SERIAL, 2, serials=["S1", "S2"])]
    answer = await lots.world.call("POST", PATH, body(*lines), status=422)
    short = ["is more than the available stock of lot X: 2 available, 3 requested"]
    assert answer.errors == {"lines.0.quantity": short, "lines.1.quantity": short}


async def test_a_serial_that_is_there_again_keeps_the_order_loaded(lots: Dock) -> None:
    order = await lots.order(line(SERIAL, 1, serials=["S1"]), status="INCARCAT")
    await lots.bring(SERIAL, {"quantity_um3pl": 1, "serial_data": ["S1"]})
    answer = await lots.world.call("PATCH", f"{PATH}/{order.id}", {"status": "IN_LUCRU"}, status=422)
    assert answer.errors == {"status": ["would bring the serial S1 into stock a second time"]}


async def test_of_two_orders_for_the_last_of_a_lot_or_a_serial_one_gets_it(lots: Dock) -> None:
    wanted = [line(LOT, 5, lot_number="NEW"), line(SERIAL, 1, serials=["S2"])]
    for each in wanted:
        answers = await asyncio.gather(*(lots.world.send("POST", PATH, body(each)) for _ in range(20)))
        assert sorted(answer.status for answer in answers) == [201] + 19 * [422]


async def test_a_change_of_the_lot_alone_is_a_change_of_the_lines(lots: Dock) -> None:
    order = await lots.order(line(LOT, 2, lot_number="OLD"))
    kept = order.body["lines"][0]
    changed = {"lines": [kept | {"lot_number": "NEW"}]}
    answer = await lots.world.call("PATCH", f"{PATH}/{order.id}", changed, events=["sales_order.updated"])
    assert (answer.body["lines"][0]["id"], await lots.lots(LOT)) == (kept["id"], {"OLD": (5, 5), "NEW": (5, 3)})
    await lots.world.send("PATCH", f"{PATH}/{order.id}", {"status": "IN_LUCRU"})
    await lots.world.call("PATCH", f"{PATH}/{order.id}", {"lines": [kept]}, status=409)


async def test_what_is_free_of_a_lot_is_met_by_updated_since(lots: Dock) -> None:
    order = await lots.order(line(LOT, 5, lot_number="OLD"))
    lots.world.clock.advance(60)
    changed = {"lines": [line(LOT, 5, lot_number="NEW")]}
    await lots.world.call("PATCH", f"{PATH}/{order.id}", changed, events=["sales_order.updated"])
    path = "/api/v2/stock?detail=lots&updated_since=2026-11-20T12:00:30Z"
    (record,) = (await lots.world.call("GET", path)).body["data"]
    assert [lot["available"] for lot in record["lots"]] == [5, 0]


async def test_a_count_that_names_no_lot_takes_no_lot_away(lots: Dock) -> None:
    await lots.world.import_csv("stock", "article_code,warehouse_code,quantity\nLOT,MAIN,11\n")
    with pytest.raises(Exception, match="1 errors"):
        await lots.world.import_csv("stock", "article_code,warehouse_code,quantity\nLOT,MAIN,9\n")
    await lots.world.import_csv("stock", "article_code,warehouse_code,quantity\nLOT,MAIN,10\n")
    assert await lots.lots(LOT) == {"OLD": (5, 5), "NEW": (5, 5)}


async def test_an_article_stays_tracked_by_serials_while_some_are_in_stock(lots: Dock) -> None:
    path = f"/api/articles/{SERIAL}"
    answer = await lots.world.call("PATCH", path, {"track_serial": False}, status=422)
    assert answer.errors == {"track_serial": ["cannot be switched off: serials of the article are in stock: 4"]}
    await lots.order(line(SERIAL, 4), status="LIVRAT")
    await lots.world.call("PATCH", path, {"track_serial": False}, events=["article.updated"])


async def test_an_article_in_fractions_is_not_tracked_by_serials(lots: Dock) -> None:
    answer = await lots.world.call("PATCH", "/api/articles/2", {"track_serial": True}, status=422)
    assert answer.errors == {
        "track_serial": ["cannot be switched on: the stock of the article has fractions of a unit"]
    }
    await lots.world.import_csv("stock", "article_code,warehouse_code,quantity\nB,MAIN,2\n")
    await lots.world.call("PATCH", "/api/articles/2", {"track_serial": True}, events=["article.updated"])


async def test_an_article_stays_tracked_by_serials_while_some_may_come_back(lots: Dock) -> None:
    """Serial tracking stays on while serials may come back. If not, half of a unit with a serial could be
    ordered.
    """
    path = f"/api/articles/{SERIAL}"
    order = await lots.order(line(SERIAL, 4), status="INCARCAT")
    answer = await lots.world.call("PATCH", path, {"track_serial": False}, status=422)
    assert answer.errors == {
        "track_serial": ["cannot be switched off: loaded sales orders have serials of the article"]
    }
    await lots.world.send("PATCH", f"{PATH}/{order.id}", {"status": "LIVRAT"})
    coming = {"partner_id": 1, "warehouse_id": 1, "lines": [{**line(SERIAL, 1), "serials": ["S9"]}]}
    await lots.world.send("POST", "/api/returns", coming)
    answer = await lots.world.call("PATCH", path, {"track_serial": False}, status=422)
    assert answer.errors == {"track_serial": ["cannot be switched off: open returns have serials of the article"]}
    await lots.world.send("PATCH", "/api/returns/1", {"status": "ANULAT"})
    await lots.world.call("PATCH", path, {"track_serial": False}, events=["article.updated"])


async def test_an_article_is_not_tracked_by_serials_while_halves_of_it_are_under_way(lots: Dock) -> None:
    path, on = "/api/articles/1", {"track_serial": True}
    sentence = "cannot be switched on: open {} have lines with fractions of a unit"
    orders = [await lots.order(line(1, 0.5), status=status) for status in ("CREAT", "IN_LUCRU")]
    answer = await lots.world.call("PATCH", path, on, status=422)
    assert answer.errors == {"track_serial": [sentence.format("sales orders")]}
    for order in orders:
        await lots.world.send("PATCH", f"{PATH}/{order.id}", {"status": "ANULAT"})
    coming = {"partner_id": 1, "warehouse_id": 1, "lines": [line(1, 0.5)]}
    await lots.world.send("POST", "/api/returns", coming)
    answer = await lots.world.call("PATCH", path, on, status=422)
    assert answer.errors == {"track_serial": [sentence.format("returns")]}
    await lots.world.send("PATCH", "/api/returns/1", {"status": "ANULAT"})
    halves = [{"quantity_um3pl": 0.5, "lot_number": lot} for lot in ("L1", "L2")]
    await lots.bring(1, *halves)
    answer = await lots.world.call("PATCH", path, on, status=422)
    assert answer.errors == {
        "track_serial": ["cannot be switched on: the stock of the article has fractions of a unit"]
    }
