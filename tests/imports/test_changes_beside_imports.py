"""Tests of changes by others after an import has checked its rows and before it writes them."""

import io
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from tests.support.goods import HEADER, SERIAL, open_store
from tests.support.world import World
from wmsd.contract.bulk_imports import CellError, ImportRefused, Outcome, Watch
from wmsd.db.engine.staging import Staging
from wmsd.db.engine.transaction import Transaction
from wmsd.imports.file_kinds import KINDS, import_beside
from wmsd.imports.store import Recording
from wmsd.imports.undo import CannotBeUndone, undo_last
from wmsd.maintenance.file_checks.company_checks import examine
from wmsd.warehouse.stock.stock_reservations import Holder, reservation_of, set_reservation

PLACE = "article_code,warehouse_code,quantity\n"


class Meanwhile(Watch):
    """A watch that runs another whole import between the check and the writing of this one."""

    def __init__(self, staging: Staging, kind: str, text: str) -> None:
        self.staging, self.kind, self.text = staging, kind, text

    def checked(self) -> None:
        take(self.staging, self.kind, self.text)


def take(staging: Staging, kind: str, text: str, watch: Watch | None = None, dry_run: bool = False) -> Outcome:
    try:
        return import_beside(staging, KINDS[kind], io.StringIO(text), dry_run, watch)
    finally:
        staging.close()


async def take_while(world: World, kind: str, text: str, other: str, others: str) -> Outcome:
    database = await world.database()
    return take(database.staging(), kind, text, Meanwhile(database.staging(), other, others))


async def refused_while(world: World, kind: str, text: str, other: str, others: str) -> list[CellError]:
    """Return the errors of an import that must change nothing."""
    with pytest.raises(ImportRefused) as refused:
        await take_while(world, kind, text, other, others)
    return refused.value.outcome.errors.first


def counts(outcome: Outcome) -> tuple[int, int, int]:
    return outcome.created, outcome.updated, outcome.unchanged


async def articles(world: World) -> list[tuple[str, str, str | None]]:
    return [tuple(row) for row in await world.rows("SELECT code, name, external_ref FROM articles ORDER BY id")]


async def events(world: World) -> list[tuple[str, int]]:
    return [tuple(row) for row in await world.rows("SELECT event, entity_id FROM events ORDER BY sequence")]


async def test_an_article_that_came_about_is_changed(world: World) -> None:
    outcome = await take_while(
        world, "articles", "code,name\nA,Mine\nB,Mine\n", "articles", "code,name\nB,Theirs\n"
    )
    assert counts(outcome) == (1, 1, 0)
    assert await articles(world) == [("B", "Mine", None), ("A", "Mine", None)]
    assert await events(world) == [("article.created", 1), ("article.created", 2), ("article.updated", 1)]


async def test_an_external_ref_that_was_taken_is_refused(world: World) -> None:
    errors = await refused_while(
        world,
        "articles",
        "code,name,external_ref\nA,Mine,\nB,Mine,R\n",
        "articles",
        "code,name,external_ref\nC,Theirs,R\n",
    )
    assert errors == [CellError(3, "external_ref", "is taken by another article")]
    assert await articles(world) == [("C", "Theirs", "R")]


async def test_stock_that_moved_is_counted_from_where_it_is(world: World) -> None:
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    await world.import_csv("articles", "code,name\nA,Apple\nB,Bolt\n")
    await world.import_csv("stock", PLACE + "A,MAIN,10\nB,MAIN,10\n")
    outcome = await take_while(world, "stock", PLACE + "A,MAIN,7\nB,MAIN,7\n", "stock", PLACE + "A,MAIN,4\n")
    assert counts(outcome) == (0, 2, 0)
    movements = "stock_movements AS moved JOIN stock ON stock.id = stock_id ORDER BY moved.id"
    posted = await world.rows(f"SELECT article_id, moved.quantity / 1000000 FROM {movements}")
    assert posted == [(1, 10), (2, 10), (1, -6), (1, 3), (2, -3)]
    assert await world.rows("SELECT quantity / 1000000 FROM stock ORDER BY id") == [(7,), (7,)]


async def test_stock_that_came_about_is_counted_from_where_it_is(world: World) -> None:
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    await world.import_csv("articles", "code,name\nA,Apple\n")
    outcome = await take_while(world, "stock", PLACE + "A,MAIN,7\n", "stock", PLACE + "A,MAIN,7\n")
    assert counts(outcome) == (0, 0, 1)
    assert await world.rows("SELECT quantity / 1000000 FROM stock_movements") == [(7,)]


async def test_stock_that_came_about_between_others_leaves_no_gap_in_the_ids(world: World) -> None:
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    await world.import_csv("articles", "code,name\nA,Apple\nB,Bolt\nC,Cable\nD,Drum\n")
    outcome = await take_while(
        world, "stock", PLACE + "A,MAIN,7\nB,MAIN,7\nC,MAIN,7\nD,MAIN,7\n", "stock", PLACE + "C,MAIN,4\nB,MAIN,7\n"
    )
    assert counts(outcome) == (0, 3, 1)
    assert await world.rows("SELECT id, article_id, quantity / 1000000 FROM stock ORDER BY id") == [
        (1, 3, 7),
        (2, 2, 7),
        (3, 1, 7),
        (4, 4, 7),
    ]
    posted = await world.rows("SELECT stock_id, quantity / 1000000 FROM stock_movements ORDER BY id")
    assert posted == [(1, 4), (2, 7), (3, 7), (1, 3), (4, 7)]
    told = await world.rows(
        "SELECT entity_id, data ->> 'quantity' FROM events WHERE entity = 'stock' ORDER BY sequence"
    )
    assert told == [(1, 4), (2, 7), (3, 7), (1, 7), (4, 7)]
    assert (await (await world.database()).read_long(examine)).differences == []


async def test_an_article_that_is_now_tracked_by_serials_is_refused_its_fractions(world: World) -> None:
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    await world.import_csv("articles", "code,name\nA,Apple\n")
    errors = await refused_while(world, "stock", PLACE + "A,MAIN,1.5\n", "articles", "code,track_serial\nA,true\n")
    assert errors == [CellError(2, "quantity", "must be a whole number: the article is tracked by serials")]
    assert await world.rows("SELECT * FROM stock") == []


class TakesBack(Watch):
    """A watch that undoes the import before this one, between the check and the writing."""

    def __init__(self, staging: Staging) -> None:
        self.staging = staging

    def checked(self) -> None:
        undo_last(self.staging)
        self.staging.close()


async def with_import(world: World, kind: str, text: str) -> None:
    """Run an import that can be undone."""
    with closing((await world.database()).staging()) as staging:
        import_beside(staging, KINDS[kind], io.StringIO(text), recording=Recording(kind, "file.csv"))


async def test_an_article_that_was_taken_back_is_created(world: World) -> None:
    await world.import_csv("articles", "code,name\nA,Apple\n")
    await with_import(world, "articles", "code,name\nB,Bolt\nC,Cable\n")
    database = await world.database()
    text = "code,name\nD,Drum\nB,Bolt\nA,Apple\n"
    outcome = take(database.staging(), "articles", text, TakesBack(database.staging()))
    assert counts(outcome) == (2, 0, 1)
    assert await world.rows("SELECT id, code FROM articles ORDER BY id") == [(1, "A"), (4, "D"), (5, "B")]
    assert (await (await world.database()).read_long(examine)).differences == []


async def test_a_client_that_was_taken_back_is_unknown(world: World) -> None:
    await with_import(world, "clients", "code,name\nC1,One\n")
    database = await world.database()
    with pytest.raises(ImportRefused) as refused:
        take(database.staging(), "articles", "code,name,client_code\nA,Apple,C1\n", TakesBack(database.staging()))
    assert refused.value.outcome.errors.first == [CellError(2, "client_code", "is not a client of this company")]
    assert await articles(world) == []


class OtherSerialIsHeld(Watch):
    """A watch after which the order reserves the second serial instead of the first.

    The stock record does not change.
    """

    def __init__(self, staging: Staging) -> None:
        self.staging = staging

    def checked(self) -> None:
        self.staging.write(hold_other_serial)
        self.staging.close()


def hold_other_serial(tx: Transaction) -> None:
    order, before = Holder("sales_order", 1), tx.value("SELECT change_seq FROM stock")
    reserved = reservation_of(tx, order)
    other = tx.value("SELECT id FROM stock_serials WHERE serial = 'S2'")
    set_reservation(tx, order, replace(reserved, serials=frozenset({other})))
    assert tx.value("SELECT change_seq FROM stock") == before


async def test_a_serial_that_an_order_has_taken_is_refused(world: World) -> None:
    store = await open_store(world)
    await store.count("S,MAIN,X,S1,1,\nS,MAIN,X,S2,1,\n")
    assert await store.order(SERIAL, 1, serials=["S1"]) == 1
    database = await world.database()
    text = HEADER + "S,MAIN,X,S1,1,\n"
    with pytest.raises(ImportRefused) as refused:
        take(database.staging(), "stock-count", text, OtherSerialIsHeld(database.staging()))
    assert refused.value.outcome.errors.first == [
        CellError(
            2,
            "serial",
            "S2 is reserved by an order: the serial must stay in stock, in the same lot, and must not enter or "
            "leave quarantine",
        )
    ]
    assert await store.parts(SERIAL) == {("X", "S1"): (1, 0), ("X", "S2"): (1, 0)}


async def undo_while(monkeypatch: pytest.MonkeyPatch, world: World, meanwhile: Callable[[Staging], object]) -> str:
    """Return the reason why the last import cannot be undone if something happens `meanwhile`."""
    database = await world.database()
    with closing(database.staging()) as staging, closing(database.staging()) as other:
        write = staging.write

        def write_then(*given: Any) -> Any:
            meanwhile(other)
            return write(*given)

        monkeypatch.setattr(staging, "write", write_then)
        with pytest.raises(CannotBeUndone) as refused:
            undo_last(staging)
    return str(refused.value)


async def test_a_count_is_not_taken_back_whose_serial_an_order_has_taken_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await open_store(world)
    await store.count("S,MAIN,X,S1,1,\n")
    assert await store.order(SERIAL, 1, serials=["S1"]) == 1
    await with_import(world, "stock-count", HEADER + "S,MAIN,X,S1,1,\nS,MAIN,X,S2,1,\n")
    text = await undo_while(monkeypatch, world, lambda other: other.write(hold_other_serial))
    assert text == "Orders have reserved or released serials of these articles in the meantime: try again."
    assert await store.parts(SERIAL) == {("X", "S1"): (1, 0), ("X", "S2"): (1, 0)}


async def test_an_import_that_is_made_meanwhile_is_not_taken_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await trading(world)
    await with_import(world, "stock", PLACE + "A,MAIN,12\n")
    database = await world.database()

    def take_clients(_: Staging) -> None:
        with closing(database.staging()) as staging:
            text = io.StringIO("code,name\nC1,One\n")
            import_beside(staging, KINDS["clients"], text, recording=Recording("clients", "file.csv"))

    text = await undo_while(monkeypatch, world, take_clients)
    assert text == "The newer import 2 ran in the meantime: to undo the newer import, try again."
    assert await world.rows("SELECT quantity FROM stock") == [(12_000_000,)]
    assert await world.rows("SELECT code FROM clients") == [("C1",)]


class NobodyWaits(Watch):
    def writing(self) -> None:
        raise AssertionError("others wait")


@pytest.mark.parametrize(("kind", "header"), [("articles", "code,name\n"), ("stock", PLACE)])
async def test_what_a_check_refuses_keeps_nobody_waiting(world: World, kind: str, header: str) -> None:
    staging = (await world.database()).staging()
    with pytest.raises(ImportRefused):
        take(staging, kind, f"{header}A,\n", NobodyWaits())


async def test_a_dry_run_keeps_nobody_waiting(world: World) -> None:
    staging = (await world.database()).staging()
    done = take(staging, "articles", "code,name\nA,Apple\n", NobodyWaits(), dry_run=True)
    assert counts(done) == (1, 0, 0)
    assert await articles(world) == []


async def test_change_sequences_follow_the_file(world: World) -> None:
    await world.import_csv("articles", "code,name\nB,Bolt\n")
    await take_while(world, "articles", "code,name\nC,Mine\nB,Mine\nA,Mine\n", "articles", "code,name\nX,Theirs\n")
    found = await world.rows("SELECT code FROM articles ORDER BY change_seq")
    assert found == [("X",), ("C",), ("B",), ("A",)]
    assert await world.rows("SELECT value = (SELECT max(change_seq) FROM articles) FROM change_sequence") == [(1,)]


async def test_words_of_renamed_articles_are_found_and_their_old_ones_are_not(world: World) -> None:
    await world.import_csv("articles", "code,name,barcode\nA,Apple,1\nB,Bolt,2\nC,Cable,3\n")
    await take_while(world, "articles", "code,name\nC,Cherry\nA,Apricot\n", "articles", "code,name\nB,Bracket\n")
    search = "SELECT group_concat(rowid) FROM article_search WHERE article_search MATCH ?"
    found = {word: (await world.rows(search, (word,)))[0][0] for word in ("apple", "cable", "bolt")}
    assert found == {"apple": None, "cable": None, "bolt": None}
    found = {word: (await world.rows(search, (word,)))[0][0] for word in ("apricot", "bracket", "cherry", "3")}
    assert found == {"apricot": "1", "bracket": "2", "cherry": "3", "3": "3"}


ORDER = "code,partner_code,warehouse_code,article_code,quantity\n"


async def trading(world: World) -> None:
    """Create a partner, a warehouse, and an article with a stock of ten."""
    await world.import_csv("warehouses", "code,name\nMAIN,Main\n")
    await world.import_csv("partners", "code,name,type\nP1,One,CLIENT\n")
    await world.import_csv("articles", "code,name\nA,Apple\n")
    await world.import_csv("stock", PLACE + "A,MAIN,10\n")


async def orders(world: World) -> list[tuple[str, str, str]]:
    """Return the code, the status and the partner's code of each order."""
    partner = "(SELECT code FROM partners WHERE id = partner_id)"
    found = await world.rows(f"SELECT code, status, {partner} FROM sales_orders ORDER BY id")
    return [tuple(row) for row in found]


async def test_a_code_that_came_about_is_known_to_documents(world: World) -> None:
    await trading(world)
    outcome = await take_while(
        world, "sales-orders", f"{ORDER}O1,P2,MAIN,A,1\n", "partners", "code,name,type\nP2,Two,CLIENT\n"
    )
    assert counts(outcome) == (1, 0, 0)
    assert await orders(world) == [("O1", "CREAT", "P2")]


async def test_a_document_that_came_about_is_changed(world: World) -> None:
    await trading(world)
    outcome = await take_while(
        world, "sales-orders", f"{ORDER}O1,P1,MAIN,A,3\n", "sales-orders", f"{ORDER}O1,P1,MAIN,A,2\n"
    )
    assert counts(outcome) == (0, 1, 0)
    assert await world.rows("SELECT quantity / 1000000, reserved / 1000000 FROM stock") == [(10, 3)]


async def test_stock_that_was_sold_is_not_sold_again(world: World) -> None:
    await trading(world)
    errors = await refused_while(
        world,
        "sales-orders",
        f"{ORDER}O1,P1,MAIN,A,1\nO2,P9,MAIN,A,1\nO3,P1,MAIN,A,9\n",
        "sales-orders",
        f"{ORDER}THEIRS,P1,MAIN,A,8\n",
    )
    assert errors == [
        CellError(3, "partner_code", "is not a partner of this company"),
        CellError(4, "quantity", "is more than the available stock: 1 available, 9 requested"),
    ]
    assert await orders(world) == [("THEIRS", "CREAT", "P1")]


async def test_events_have_the_order_in_which_they_came_about(world: World) -> None:
    await trading(world)
    text = "code,status,partner_code,warehouse_code,article_code,quantity\n"
    await take_while(
        world,
        "sales-orders",
        f"{text}O1,LIVRAT,P1,MAIN,A,1\nO2,IN_LUCRU,P1,MAIN,A,2\n",
        "articles",
        "code,name\nB,Bolt\n",
    )
    moved = ("sales_order.status_changed", 1)
    assert (await events(world))[-8:] == [
        ("article.created", 2),
        ("sales_order.created", 1),
        ("sales_order.created", 2),
        moved,
        moved,
        moved,
        ("sales_order.status_changed", 2),
        ("stock.updated", 1),
    ]
    said = "SELECT data ->> 'previous_status', data ->> 'status' FROM events WHERE event = ? ORDER BY sequence"
    assert await world.rows(said, ("sales_order.status_changed",)) == [
        ("CREAT", "IN_LUCRU"),
        ("IN_LUCRU", "INCARCAT"),
        ("INCARCAT", "LIVRAT"),
        ("CREAT", "IN_LUCRU"),
    ]
    assert await world.rows("SELECT event, count FROM event_counts ORDER BY event") == [
        ("article.created", 2),
        ("sales_order.created", 2),
        ("sales_order.status_changed", 4),
        ("stock.updated", 2),
    ]
