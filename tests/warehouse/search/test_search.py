"""Search in a company: the result is the same before and after a record is indexed. Exact hits come first, then
the newest.
"""

from typing import Any

import pytest

from tests.support.goods import LOTTED, SERIAL, Store
from tests.support.world import World
from wmsd.contract.access import ABILITIES, MODULES
from wmsd.contract.permissions import Permissions
from wmsd.db.engine.transaction import Transaction
from wmsd.warehouse.search import hits
from wmsd.warehouse.search.hits import find_records
from wmsd.warehouse.search.search_kinds import BY_NAME, KINDS
from wmsd.warehouse.search.search_store import index_changes, progress

EVERYTHING_ALLOWED = Permissions("platform-admin", frozenset(ABILITIES), ABILITIES, MODULES)


async def _index(world: World) -> int:
    """Index everything, and return the number of transactions."""
    turns = 1
    while await (await world.database()).write(index_changes, is_quiet=True):
        turns += 1
    return turns


async def _found(world: World, text: str, *kinds: str) -> list[tuple[str, str]]:
    """Return kind and code of each hit."""
    some = [BY_NAME[name] for name in kinds] or KINDS
    found = await (await world.database()).read(lambda tx: find_records(tx, EVERYTHING_ALLOWED, text, some))
    return [(hit.kind, hit.code) for hit in found.hits]


@pytest.fixture(params=["pending", "indexed"])
def looked_up(request: pytest.FixtureRequest, world: World) -> Any:
    """Return a function that searches records, before or after they are indexed."""

    async def look_up(text: str, *kinds: str) -> list[tuple[str, str]]:
        if request.param == "indexed":
            await _index(world)
        return await _found(world, text, *kinds)

    return look_up


async def _article(world: World, code: str, name: str, **fields: Any) -> int:
    body = {"code": code, "name": name, **fields}
    return (await world.call("POST", "/api/articles", body, status=201, events=["article.created"])).id


async def test_a_code_a_part_of_it_and_a_name_find_a_record(world: World, looked_up: Any) -> None:
    await _article(world, "84406-B", "Cream cupid hearts coat hanger", external_ref="web/17")
    await _article(world, "84029E", "Crème glass star", barcode="0614141000036", barcodes=["10614141000033"])
    hanger, star = [("articles", "84406-B")], [("articles", "84029E")]
    for text in ("84406-B", "84406b", "406b", "HANGER", "hearts coat", "hanger cream", "Web 17", "web17"):
        assert await looked_up(text) == hanger, text
    for text in (
        "creme",
        "614141000036",
        "0614141000036",
        "00614141000036",
        "10614141000033",
        "glass-star",
        "star e",
    ):
        assert await looked_up(text) == star, text
    for text in ("84406-C", "crem brulee", "x", "c", "?", "hanger star"):
        assert await looked_up(text) == [], text
    assert await looked_up("84") == [*star, *hanger], "the newest first"
    assert await looked_up("8") == [*star, *hanger], "the beginning of a code"


async def test_an_exact_match_comes_before_newer_ones(world: World, looked_up: Any) -> None:
    for code in ("A-1", "A-10", "XA-1"):
        await _article(world, code, "Bolt")
    assert [code for _, code in await looked_up("a1")] == ["A-1", "A-10"]
    assert [code for _, code in await looked_up("a-1b")] == []
    assert [code for _, code in await looked_up("bolt")] == ["XA-1", "A-10", "A-1"]


async def test_what_is_changed_is_found_by_its_new_name_only(world: World, looked_up: Any) -> None:
    await _index(world)
    article = await _article(world, "B-7", "Bolt")
    assert await looked_up("bolt") == [("articles", "B-7")]
    await world.call("PATCH", f"/api/articles/{article}", {"name": "Screw"}, events=["article.updated"])
    assert await looked_up("bolt") == []
    assert await looked_up("screw") == [("articles", "B-7")]


async def test_a_document_is_found_by_its_references_and_a_lot_and_a_serial_by_themselves(
    world: World, looked_up: Any, store: Store
) -> None:
    await store.adjust(LOTTED, by=3, lot_number="L-2211")
    await store.adjust(SERIAL, by=1, serials=["SN 0042"])
    order = {
        "partner_id": 1,
        "warehouse_id": 1,
        "external_ref": "web-100482",
        "customer_reference": "PO-7788-XY",
        "tracking_number": "1Z 999 AA1 01 2345 6784",
        "lines": [{"article_id": LOTTED, "quantity": 1}],
    }
    assert (await world.send("POST", "/api/sales-orders", order)).status == 201
    for text in ("SO-000001", "so1", "web 100482", "100482", "7788xy", "1Z999AA10123456784", "12345678"):
        assert await looked_up(text, "sales-orders") == ([] if text == "so1" else [("sales-orders", "SO-000001")])
    assert await looked_up("l2211") == [("lots", "L-2211")]
    assert await looked_up("SN0042") == [("serials", "SN 0042")]


async def test_only_the_asked_kinds_are_found(world: World, looked_up: Any, store: Store) -> None:
    await _article(world, "MAIN-1", "Main")
    assert sorted(await looked_up("main")) == [("articles", "MAIN-1"), ("warehouses", "MAIN")]
    assert await looked_up("main", "warehouses") == [("warehouses", "MAIN")]
    assert await looked_up("main", "clients", "lots") == []


async def test_a_deleted_document_is_found_no_more(world: World, looked_up: Any, store: Store) -> None:
    body = {"partner_id": 1, "warehouse_id": 1, "items": [{"article_id": 1, "quantity": 1}]}
    order = (await world.send("POST", "/api/purchase-orders", body)).id
    assert await looked_up("PO-000001") == [("purchase-orders", "PO-000001")]
    assert (await world.send("DELETE", f"/api/purchase-orders/{order}")).status == 204
    assert await looked_up("PO-000001") == []


async def test_a_record_is_indexed_again_only_when_its_text_differs(world: World, store: Store) -> None:
    await _index(world)
    before = await world.rows("SELECT * FROM search_entries")
    await store.adjust(1, by=5)
    order = await store.order(1, 1)
    await _index(world)
    made = await world.rows("SELECT number, digest FROM search_entries WHERE kind = 'sales-orders'")
    await store.load(order)
    await _index(world)
    assert await world.rows("SELECT number, digest FROM search_entries WHERE kind = 'sales-orders'") == made
    assert len(await world.rows("SELECT * FROM search_entries")) == len(before) + 1


async def test_the_index_follows_in_pieces_and_then_rests(world: World) -> None:
    rows = "".join(f"C-{number},Article {number}\n" for number in range(1200))
    await world.import_csv("articles", f"code,name\n{rows}")
    assert await _index(world) > 2
    assert await _index(world) == 1
    database = await world.database()
    last_change = await world.last_change()
    assert (await database.read(progress)).last_change == last_change
    assert [code for _, code in await _found(world, "C-1199")] == ["C-1199"]

    def hits(tx: Transaction) -> tuple[int, bool]:
        found = find_records(tx, EVERYTHING_ALLOWED, "article")
        return len(found.hits), found.has_more

    assert await database.read(hits) == (30, True)


async def test_a_long_number_is_found_by_its_end_as_without_it(
    world: World, looked_up: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exact hits come first, then codes that contain the number. A code with only the same end is not found,
    however many there are.
    """
    barcodes = ("4006381333931", "4006381333931-7", "X4006381333931", "9996381333931", "381333931")
    for number, barcode in enumerate(barcodes):
        await _article(world, f"A-{number}", f"Marker {number} 4006381333931"[:10], barcode=barcode)
    expected = ["A-0", "A-1", "A-2"]
    assert [code for _, code in await looked_up("4006381333931")] == expected
    assert [code for _, code in await looked_up("04006381333931")] == expected, "a GTIN-14 of the same"
    assert [code for _, code in await looked_up("81333931")] == ["A-4", "A-3", "A-2", "A-1", "A-0"]
    for name, value in (("MOST_WITH_ENDING", 1), ("MOST_WITH_ENDING", 3)):
        monkeypatch.setattr(hits, name, value)
        assert [code for _, code in await looked_up("4006381333931")] == expected
