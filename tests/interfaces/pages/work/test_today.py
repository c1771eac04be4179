"""Today: every company of a user with its open work, the oldest problem first."""

import html
import os
import re
from datetime import timedelta
from pathlib import Path

import pytest

from tests.interfaces.pages.records.test_browse import EMAIL, NOTHING, rows, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.open_files import open_files
from tests.support.shop import Shop, open_shop
from tests.support.world import PASSWORD, UNLIMITED, World, open_world
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.statements import update_row
from wmsd.dispatch.limits import growth_limits
from wmsd.interfaces.pages.kit.text import words
from wmsd.server.today.figures import DUE, MOST_LISTED, due_today_sql, late_sql, next_sql, oldest_sql
from wmsd.server.today.kept_figures import MOST_OPENED

A_LATE_ORDER = (
    """
    INSERT INTO partners (code, name, type, active, created_at, updated_at)
    VALUES ('P', 'P', 'CLIENT', 1, 'x', 'x')
    """,
    "INSERT INTO warehouses (code, name, active, created_at, updated_at) VALUES ('W', 'W', 1, 'x', 'x')",
    """
    INSERT INTO sales_orders (code, status, status_history, partner_id, warehouse_id, requested_date, change_seq,
        created_at, updated_at)
    VALUES ('O', 'CREAT', '[]', 1, 1, :due, 1, 'x', 'x')
    """,
)
RECEIVED = {"selected_items": [{"po_item_id": 2, "quantity_um3pl": 1}]}
DAY = 86_400
YESTERDAY, TOMORROW = -DAY, DAY


def date(world: World, seconds: int) -> str:
    """Return the date in `seconds` from now."""
    return (world.clock.now() + timedelta(seconds=seconds)).date().isoformat()


async def a_purchase_order(world: World, expected: str) -> None:
    items = [{"article_id": 1, "quantity": 5}]
    body = {"partner_id": 1, "warehouse_id": 1, "expected_date": expected, "items": items}
    answer = await world.send("POST", "/api/purchase-orders", body)
    assert answer.status == 201, answer.body


async def kept(world: World, visitor: Visitor) -> Seen:
    await world.jobs.today.keep()
    return await visitor.get("/today")


HEADINGS = (
    *("late orders", "to load", "not taken", "in work", "loaded", "late inbound", "expected", "returns"),
    *("counts", "given up", "low", "requests", "events"),
)


def figures(seen: Seen) -> dict[str, dict[str, str]]:
    """Return the cells of each company by their headings."""
    return {cells[0]: dict(zip(HEADINGS, cells[1:], strict=True)) for cells in rows(seen)}


def addresses(seen: Seen, company: int = 1) -> list[str]:
    """Return the addresses that the numbers of a company lead to, in order."""
    (row,) = re.findall(rf'<tr><td><a href="/companies/{company}">.*?</tr>', seen.text, re.DOTALL)
    return [html.unescape(each) for each in re.findall(r'href="(.*?)"', row)[1:]]


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


async def test_who_can_soon_add_nothing_more_is_told(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    world = visitor.world
    monkeypatch.setattr(growth_limits, "MEGABYTE", await (await world.database()).read(lambda tx: tx.bytes_used()))
    await world.installation.platform.write(lambda tx: update_row(tx, "companies", 1, {"quota_megabytes": 1}))
    await world.jobs.keep_today()
    await world.jobs.watch_the_disk()
    assert "100 % of its storage used" in (await visitor.get("/today")).text


async def test_what_is_late_and_what_is_under_way(shop: Shop, visitor: Visitor) -> None:
    world = shop.world
    await shop.order(requested_date=date(world, YESTERDAY), code="LATE-1")
    await shop.order(requested_date=date(world, TOMORROW))
    await shop.order(requested_date=date(world, YESTERDAY), status="LIVRAT")
    await shop.order(requested_date=date(world, 0), status="IN_LUCRU")
    await shop.order(status="INCARCAT")
    seen = await kept(world, visitor)
    of_acme = figures(seen)["Company ACME"]
    assert [of_acme[each] for each in ("late orders", "to load", "not taken", "in work", "loaded")] == [
        *("1", "1", "2", "1", "1")
    ]
    late = seen.text[seen.text.index("<h2>Late</h2>") :]
    assert [text_of(each) for each in re.findall(r"<td.*?>(.*?)</td>", late, re.DOTALL)] == [
        "LATE-1",
        "Company ACME",
        "First",
        "Created",
        words.date(date(world, YESTERDAY)),
        "Not started.",
    ]
    assert 'href="/companies/1/sales-orders/1">LATE-1' in late


async def test_every_figure_leads_to_the_list_that_it_counts(shop: Shop, visitor: Visitor) -> None:
    world = shop.world
    for days in (YESTERDAY, YESTERDAY, 0, TOMORROW):
        await shop.order(requested_date=date(world, days))
    await shop.order(requested_date=date(world, YESTERDAY), status="IN_LUCRU")
    await shop.order(requested_date=date(world, 0), status="INCARCAT")
    for days in (YESTERDAY, 0, 0):
        await a_purchase_order(world, date(world, days))
    seen = await kept(world, visitor)
    shown = [value for value in figures(seen)["Company ACME"].values() if value != "0"]
    assert shown[:7] == ["3", "1", "4", "1", "1", "1", "2"]
    for value, address in zip(shown[:7], addresses(seen), strict=False):
        assert len(rows(await visitor.get(address))) == int(value), address
    assert addresses(seen)[-2:] == ["/companies/1/requests", "/companies/1/events"]
    (strip,) = re.findall(r'data-live="strip".*?</section>', seen.text, re.DOTALL)
    for value, address in re.findall(r'<a href="(/companies.*?)">(\d+)<', strip):
        assert len(rows(await visitor.get(html.unescape(value)))) == int(address)


async def test_what_holds_a_late_document_up(shop: Shop, visitor: Visitor) -> None:
    world, late = shop.world, date(shop.world, YESTERDAY)
    await shop.order(requested_date=late)
    await shop.order(requested_date=late, status="IN_LUCRU")
    await a_purchase_order(world, late)
    await a_purchase_order(world, late)
    await world.send("POST", "/api/receptions", {"purchase_order_id": 2, "warehouse_id": 1, **RECEIVED})
    seen = await kept(world, visitor)
    late_ones = seen.text[seen.text.index("<h2>Late</h2>") :]
    assert [text_of(each) for each in re.findall(r'<td data-heading="Reason">(.*?)</td>', late_ones)] == [
        "Not started.",
        "In work, not loaded.",
        "No goods received yet.",
        "Reception RC-000001 is not finished.",
    ]


async def test_late_documents_that_are_not_shown_are_counted_with_a_link(shop: Shop, visitor: Visitor) -> None:
    late = date(shop.world, YESTERDAY)
    for _ in range(MOST_LISTED + 3):
        await shop.order({"article_id": 1, "quantity": 0.1}, requested_date=late)
    seen = await kept(shop.world, visitor)
    address = f"/companies/1/sales-orders?status=CREAT,IN_LUCRU&requested_to={late}&sort=requested_date"
    assert f'<a href="{html.escape(address)}">Late sales orders not shown here: 3</a>' in seen.text
    assert len(rows(await visitor.get(address))) == MOST_LISTED + 3


async def test_what_is_to_be_loaded_is_so_on_its_day_only(shop: Shop, visitor: Visitor) -> None:
    await shop.order(requested_date=date(shop.world, TOMORROW))
    assert figures(await kept(shop.world, visitor))["Company ACME"]["to load"] == "0"
    shop.world.clock.advance(DAY)
    await visitor.sign_in(EMAIL, PASSWORD)
    assert figures(await kept(shop.world, visitor))["Company ACME"]["to load"] == "1"


async def test_a_document_becomes_late_at_midnight_although_nobody_writes(shop: Shop, visitor: Visitor) -> None:
    await shop.order(requested_date=date(shop.world, 0))
    assert figures(await kept(shop.world, visitor))["Company ACME"]["late orders"] == "0"
    shop.world.clock.advance(DAY)
    await visitor.sign_in(EMAIL, PASSWORD)
    assert figures(await kept(shop.world, visitor))["Company ACME"]["late orders"] == "1"


async def test_it_is_late_no_more_when_it_is_loaded(shop: Shop, visitor: Visitor) -> None:
    order = await shop.order(requested_date=date(shop.world, YESTERDAY), status="IN_LUCRU")
    before = figures(await kept(shop.world, visitor))["Company ACME"]
    assert (before["late orders"], before["in work"], before["loaded"]) == ("1", "1", "0")
    path = f"/api/v2/sales-orders/{order.id}/status"
    await shop.world.send("PATCH", path, {"status": "INCARCAT"})
    after = figures(await kept(shop.world, visitor))["Company ACME"]
    assert (after["late orders"], after["in work"], after["loaded"]) == ("0", "0", "1")


async def test_what_is_under_its_minimum(shop: Shop, visitor: Visitor) -> None:
    async def low() -> str:
        return figures(await kept(shop.world, visitor))["Company ACME"]["low"]

    assert await low() == "1", "of A, 5 are in EAST, and 10 are the minimum"
    await shop.order({"article_id": 1, "quantity": 15})
    assert await low() == "1", "A is one article, although it is low in MAIN too"
    await shop.world.call("PATCH", "/api/articles/2", {"min_stock": 500}, events=["article.updated"])
    assert await low() == "2", "B has not moved, and its minimum has changed"
    await shop.world.call("PATCH", "/api/articles/1", {"min_stock": 0}, events=["article.updated"])
    assert await low() == "1"
    await shop.world.import_csv("articles", "code,name,min_stock\nNEVER,Never received,3\nNONE,No minimum,\n")
    assert await low() == "2", "what has never come is under its minimum too"
    listed = await visitor.get("/companies/1/articles?low=true")
    assert [cells[0] for cells in rows(listed)] == ["B", "NEVER"]


async def test_the_oldest_trouble_comes_first(world: World) -> None:
    visitor = await signed_in(world)
    for code in ("B", "C"):
        await world.new_company(code)
    for company, days in ((3, 5), (2, 2)):
        database = await world.database(company)
        due = date(world, -days * DAY)

        def write(tx: Transaction, due: str = due) -> None:
            for sql in A_LATE_ORDER:
                tx.execute(sql, {"due": due})

        await database.write(write)
    seen = await kept(world, visitor)
    assert list(figures(seen)) == ["Company C", "Company B", "Company ACME"]
    assert [cells[0] for cells in rows(await visitor.get("/today?search=b"))] == ["Company B"]
    assert "No company matches this name." in (await visitor.get("/today?search=nothing")).text


async def test_a_figure_needs_its_ability_and_its_module(shop: Shop) -> None:
    await shop.order({"article_id": 1, "quantity": 15}, requested_date=date(shop.world, YESTERDAY))
    member = await signed_in(shop.world, "ACME", abilities=["stock:read", "articles:read"])
    seen = await kept(shop.world, member)
    assert [name for name, value in figures(seen)["Company ACME"].items() if value != NOTHING] == [
        "counts",
        "low",
        "requests",
    ]
    assert "<h2>Late</h2>" not in seen.text
    (strip,) = re.findall(r'data-live="strip".*?</section>', seen.text, re.DOTALL)
    totals = [text_of(each) for each in re.findall(r"<b.*?</b>", strip, re.DOTALL)][2:]
    assert totals == [*[NOTHING] * 6, "1"], "no figure is not none"
    await shop.world.set_module("ACME", "stock", enabled=False)
    assert figures(await kept(shop.world, member))["Company ACME"]["low"] == NOTHING


async def test_the_requests_of_the_last_minute_beside_the_limit(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 60}}) as world:
        visitor = await signed_in(world)
        for _ in range(7):
            await world.send("GET", "/api/articles")
        assert figures(await kept(world, visitor))["Company ACME"]["requests"] == "7 of 60"


async def test_nobody_who_looks_opens_a_file(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        visitor = await signed_in(world)
        shop = await open_shop(world)
        await shop.order(requested_date=date(world, YESTERDAY))
        await world.jobs.today.keep()
        await (await world.database()).close()
        assert figures(await visitor.get("/today"))["Company ACME"]["late orders"] == "1"
        assert not [name for name in open_files(world.installation.folder.companies) if name.startswith("1.db")]


async def test_a_restart_knows_the_figures_and_reads_what_was_written_since(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        shop = await open_shop(world)
        await shop.order(requested_date=date(world, YESTERDAY))
        await world.jobs.today.keep()
        await world.jobs.today.write()
        await shop.order(requested_date=date(world, YESTERDAY))
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        visitor = await signed_in(world)
        assert figures(await kept(world, visitor))["Company ACME"]["late orders"] == "2"


async def test_a_company_whose_file_fails_keeps_its_figures(shop: Shop, visitor: Visitor) -> None:
    await shop.order(requested_date=date(shop.world, YESTERDAY))
    await kept(shop.world, visitor)
    shop.world.installation.files.suspect(1, OSError("gone"))
    (shop.world.installation.folder.companies / "1.db").rename(shop.world.installation.folder.companies / "away")
    assert figures(await kept(shop.world, visitor))["Company ACME"]["late orders"] == "1"


async def test_closed_files_are_opened_a_few_at_a_time(world: World) -> None:
    for number in range(MOST_OPENED + 5):
        await world.new_company(f"C{number}")
    visitor = await signed_in(world)
    seen = await kept(world, visitor)
    unread = [name for name, cells in figures(seen).items() if cells["late orders"] == NOTHING]
    assert 0 < len(unread) <= 6
    assert NOTHING not in [cells["late orders"] for cells in figures(await kept(world, visitor)).values()]


@pytest.mark.parametrize("query", ["page=0", "page=x", "search=" + "x" * 65, "page=99999999999"])
async def test_a_wrong_address_shows_the_first_page(visitor: Visitor, query: str) -> None:
    assert (await visitor.get(f"/today?{query}")).status == 200


async def test_what_is_due_is_found_by_its_index(world: World) -> None:
    def plans(tx: Transaction) -> list[str]:
        values = {"today": "2026-01-01", "most": 5}
        statements = [sql(table) for table in DUE for sql in (late_sql, due_today_sql, next_sql, oldest_sql)]
        return [row[3] for sql in statements for row in tx.rows(f"EXPLAIN QUERY PLAN {sql}", values)]

    found = await (await world.database()).read(plans)
    scanned = [plan for plan in found if plan.startswith("SCAN") and "INDEX" not in plan]
    assert scanned + [plan for plan in found if "TEMP B-TREE" in plan] == []


async def test_files_that_fail_keep_nobody_from_being_read(world: World) -> None:
    for number in range(MOST_OPENED + 2):
        await world.new_company(f"C{number}")
    for company in range(2, MOST_OPENED + 2):
        (world.installation.folder.companies / f"{company}.db").write_bytes(b"no database")
    visitor = await signed_in(world)
    for _ in range(4):
        seen = await kept(world, visitor)
    read = [name for name, cells in figures(seen).items() if cells["late orders"] != NOTHING]
    assert sorted(read) == ["Company ACME", f"Company C{MOST_OPENED}", f"Company C{MOST_OPENED + 1}"]


async def test_what_is_written_before_the_figures_are_written_down_is_read_after_a_restart(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        shop = await open_shop(world)
        await world.jobs.today.keep()
        world.clock.advance(5)
        await shop.order(requested_date=date(world, YESTERDAY))
        for path in world.installation.folder.companies.glob("1.db*"):
            os.utime(path, (world.clock.wall.timestamp(),) * 2)
        world.clock.advance(5)
        await world.jobs.today.write()
    async with open_world(tmp_path / "data", UNLIMITED) as world:
        visitor = await signed_in(world)
        assert figures(await kept(world, visitor))["Company ACME"]["late orders"] == "1"


async def test_figures_of_a_day_that_is_still_to_come_are_read_again(shop: Shop, visitor: Visitor) -> None:
    await shop.order(requested_date=date(shop.world, 0))
    shop.world.clock.set_forward(3 * DAY)
    await shop.world.jobs.today.keep()
    shop.world.clock.set_back(3 * DAY)
    assert figures(await kept(shop.world, visitor))["Company ACME"]["late orders"] == "0"
