"""The time zone of a page: the user's, or otherwise the company's, or the installation's."""

import csv
import io
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.interfaces.pages.administering import errors, signed_in_as
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import rows, signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.shop import Shop, open_shop
from tests.support.world import open_world
from wmsd.base.time_zones import time_zone
from wmsd.interfaces.pages.kit.text import moments, words, zone
from wmsd.interfaces.pages.records.chart import chart_of

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
"""The time of the world."""
TWICE = ("2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z")
"""Two times that are both 03:30 in Bucharest."""
ORDER = "/companies/1/sales-orders/1"
DAY_ENDS = {"Europe/Bucharest": 22, "Pacific/Honolulu": 10}
"""The hour in UTC at which a day ends there, in winter."""


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    """Open a shop in an installation in Bucharest."""
    async with open_world(tmp_path / "data", {"server": {"time_zone": "Europe/Bucharest"}}) as world:
        yield await open_shop(world)


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    return await signed_in(shop.world)


def here(name: str) -> None:
    zone.begin(time_zone(name), NOW)


@pytest.fixture
def _in_bucharest() -> None:
    here("Europe/Bucharest")


async def choose(visitor: Visitor, name: str) -> Seen:
    token = (await visitor.get("/account")).form_token
    return await visitor.post("/account/time-zone", {"form_token": token, "time_zone": name})


async def of_company(visitor: Visitor, name: str) -> None:
    done = await sent(visitor, "/admin/companies/1/time-zone", time_zone=name)
    assert done.status == 303, done.text


def said_once(seen: Seen) -> str:
    found = re.findall(r'title="Times on this page.*?>(.*?)</span>', seen.text)
    assert len(found) == 1
    return str(found[0])


def times(seen: Seen) -> list[tuple[str, str]]:
    """Return each time on the page, in the form for programs and in the form for people."""
    return re.findall(r'<time datetime="(.*?)">(.*?)</time>', seen.text)


async def test_the_persons_goes_before_the_companys_and_that_before_the_installations(
    shop: Shop, visitor: Visitor
) -> None:
    await shop.order()
    seen = await visitor.get(ORDER)
    assert said_once(seen) == "Europe/Bucharest +02:00"
    assert {shown for _, shown in times(seen)} == {"20 Nov 2026, 14:00"}
    assert all(moment.startswith("2026-11-20T12:00:00.") for moment, _ in times(seen))
    await of_company(visitor, "Asia/Tokyo")
    assert {shown for _, shown in times(await visitor.get(ORDER))} == {"20 Nov 2026, 21:00"}
    assert said_once(await visitor.get("/today")) == "Europe/Bucharest +02:00"
    assert (await choose(visitor, "Pacific/Honolulu")).status == 303
    for path in (ORDER, "/companies/1/sales-orders", "/companies/1/events", "/admin/audit"):
        seen = await visitor.get(path)
        assert said_once(seen) == "Pacific/Honolulu -10:00"
        assert {shown for _, shown in times(seen)} <= {"20 Nov 2026, 02:00", "20 Nov 2026, 02:00:00"}
    await choose(visitor, "")
    await of_company(visitor, "")
    assert said_once(await visitor.get(ORDER)) == "Europe/Bucharest +02:00"


async def test_a_name_that_is_none_stays_in_the_form_beside_the_nearest(visitor: Visitor) -> None:
    await choose(visitor, "Asia/Tokyo")
    refused = await choose(visitor, "Europe/Bucarest")
    assert await errors(refused) == [
        "Time zone is not known; the nearest is Europe/Bucharest, Europe/Budapest, Europe/Paris."
    ]
    assert 'value="Europe/Bucarest"' in refused.text
    assert said_once(refused) == "Asia/Tokyo +09:00"
    for name in ("<script>", "x" * 65, "../../etc/passwd"):
        assert (await choose(visitor, name)).status == 422
    assert said_once(await visitor.get("/account")) == "Asia/Tokyo +09:00"
    wrong = await sent(visitor, "/admin/companies/1/time-zone", time_zone="Bucharest")
    assert await errors(wrong) == ["Time zone is not known; the nearest is Europe/Bucharest."]


async def test_a_company_admin_chooses_for_its_own_company_only(shop: Shop, visitor: Visitor) -> None:
    await shop.world.new_company("OTHER")
    await shop.world.new_user("lead@example.com", "company-admin", ["ACME"], [])
    lead = await signed_in_as(shop.world, "lead@example.com")
    assert (await sent(lead, "/admin/companies/1/time-zone", time_zone="Asia/Tokyo")).status == 303
    assert (await lead.get("/admin/companies/2/time-zone")).status == 404
    action, subject = rows(await visitor.get("/admin/audit"))[0][2:4]
    assert (action, subject) == ("company.change", "ACME")


async def test_a_choice_is_told_only_to_who_made_it(shop: Shop, visitor: Visitor) -> None:
    """Requests share connections, and no data of one request may remain for the next."""
    await choose(visitor, "Pacific/Honolulu")
    await visitor.get("/account")
    await shop.world.new_user("other@example.com", "platform-admin", [], [])
    other = await signed_in_as(shop.world, "other@example.com")
    assert said_once(await other.get("/account")) == "Europe/Bucharest +02:00"


async def test_what_is_typed_into_filters_is_the_time_there(shop: Shop, visitor: Visitor) -> None:
    await shop.order()
    shop.world.clock.set_forward(120)
    found = "/companies/1/sales-orders?updated_since="
    assert len(rows(await visitor.get(f"{found}2026-11-20T13:59"))) == 1
    await choose(visitor, "Pacific/Honolulu")
    assert len(rows(await visitor.get(f"{found}2026-11-20T01:59"))) == 1
    later = await visitor.get(f"{found}2026-11-20T02:01")
    assert (rows(later), 'value="2026-11-20T02:01"' in later.text) == ([], True)


@pytest.mark.parametrize(
    ("name", "late_on"), [("Europe/Bucharest", "2026-11-20"), ("Pacific/Honolulu", "2026-11-19")]
)
async def test_late_is_what_was_due_before_the_day_of_the_company_whoever_looks(
    shop: Shop, visitor: Visitor, name: str, late_on: str
) -> None:
    """At 23:30 UTC it is already tomorrow in Bucharest, and still today in Honolulu."""
    shop.world.clock.set_forward(11.5 * 3600)
    await of_company(visitor, name)
    await choose(visitor, "Pacific/Kiritimati")
    await shop.order(requested_date=late_on)
    await shop.order(requested_date="2026-11-20" if name == "Pacific/Honolulu" else "2026-11-21")
    assert "late: " in (await visitor.get(ORDER)).text
    second = (await visitor.get("/companies/1/sales-orders/2")).text
    assert "late: " not in second
    await shop.world.jobs.today.keep()
    today = await visitor.get("/today")
    (cells,) = rows(today)
    assert cells[1:3] == ["1", "1"]
    for address in re.findall(r'href="(/companies/1/sales-orders\?[^"]*requested[^"]*)"', today.text):
        assert len(rows(await visitor.get(address.replace("&amp;", "&")))) == 1


async def test_figures_turn_over_at_the_midnight_of_each_company(shop: Shop, visitor: Visitor) -> None:
    world = shop.world
    await shop.order(requested_date="2026-11-20")
    today = world.jobs.today

    async def late() -> int:
        await today.keep()
        return today.known[1].late["sales_orders"].number

    world.clock.set_forward((DAY_ENDS["Europe/Bucharest"] - 12) * 3600 - 1)
    assert await late() == 0
    world.clock.set_forward(1)
    assert await late() == 1
    await of_company(visitor, "Pacific/Honolulu")
    assert await late() == 0
    world.clock.set_forward((DAY_ENDS["Pacific/Honolulu"] + 24 - DAY_ENDS["Europe/Bucharest"]) * 3600 - 1)
    assert await late() == 0
    world.clock.set_forward(1)
    assert await late() == 1


async def test_figures_of_before_a_start_in_another_zone_are_read_again(tmp_path: Path) -> None:
    """Stored numbers of Today are recomputed after a start in another time zone, where it is already tomorrow."""
    folder = tmp_path / "data"
    async with open_world(folder, {"server": {"time_zone": "UTC"}}) as world:
        shop = await open_shop(world)
        await shop.order(requested_date="2026-11-20")
        await world.jobs.today.keep()
        await world.jobs.today.write()
    async with open_world(folder, {"server": {"time_zone": "Pacific/Kiritimati"}}) as world:
        await world.jobs.today.keep()
        assert world.jobs.today.known[1].late["sales_orders"].number == 1


async def test_prints_are_by_the_clocks_of_the_company_whoever_prints(shop: Shop, visitor: Visitor) -> None:
    await of_company(visitor, "Asia/Tokyo")
    await choose(visitor, "Pacific/Honolulu")
    await shop.order()
    seen = await visitor.get(f"{ORDER}/prints/delivery-note")
    assert "Created, 20 Nov 2026, 21:00 (Asia/Tokyo)" in text_of(seen.text)


async def test_a_list_taken_away_for_people_has_the_time_there(shop: Shop, visitor: Visitor) -> None:
    await shop.order()
    file = await visitor.get("/companies/1/sales-orders.csv")
    (found,) = csv.DictReader(io.StringIO(file.text))
    assert found["created_at (Europe/Bucharest)"] == "2026-11-20 14:00:00"
    assert "created_at" not in found
    of_stock = (await visitor.get("/companies/1/events.csv")).text.splitlines()
    assert "(Europe/Bucharest)" in of_stock[0]
    assert "2026-11-20 14:00:0" in of_stock[1]
    shop.world.clock.set_forward(11 * 3600)
    named = (await visitor.get("/companies/1/articles.csv")).headers["Content-Disposition"]
    assert 'filename="articles-ACME-2026-11-21.csv"' in named


async def test_a_list_taken_away_for_import_says_its_offset_and_is_imported_unchanged(
    shop: Shop, visitor: Visitor
) -> None:
    await of_company(visitor, "America/New_York")
    world = shop.world
    await world.import_csv("packaging-types", "code,name\nPAL,Pallet\n")
    header = "packaging_type_code,partner_code,direction,quantity,occurred_at\n"
    moved = ("2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z", "2026-03-29T01:30:00.000Z")
    await world.import_csv("packaging-movements", header + "".join(f"PAL,P1,OUT,1,{each}\n" for each in moved))
    file = (await visitor.get("/companies/1/packaging-movements.csv?format=import")).text
    assert {each["occurred_at"] for each in csv.DictReader(io.StringIO(file))} == set(moved)
    before = await world.rows("SELECT * FROM packaging_movements")
    await world.import_csv("packaging-movements", file)
    assert await world.rows("SELECT * FROM packaging_movements") == before


async def test_programs_see_utc_wherever_the_company_is(shop: Shop, visitor: Visitor) -> None:
    made = await shop.order(requested_date="2026-11-20")
    before = await shop.world.call("GET", "/api/sales-orders/1")
    await of_company(visitor, "Asia/Tokyo")
    after = await shop.world.call("GET", "/api/sales-orders/1")
    assert after.raw == before.raw
    assert after.headers["ETag"] == before.headers["ETag"]
    assert made.body["created_at"] == "2026-11-20T12:00:00.000Z"


@pytest.mark.usefixtures("_in_bucharest")
def test_a_time_that_clocks_show_twice_has_its_offset() -> None:
    assert [words.moment(each) for each in TWICE] == ["25 Oct 2026, 03:30 +03:00", "25 Oct 2026, 03:30 +02:00"]
    assert words.instant(TWICE[1]) == "25 Oct 2026, 03:30:00 +02:00"
    assert words.moment("2026-10-24T23:59:59.999Z") == "25 Oct 2026, 02:59"
    assert words.moment("2026-10-25T02:00:00.000Z") == "25 Oct 2026, 04:00"


@pytest.mark.usefixtures("_in_bucharest")
def test_a_typed_time_that_clocks_show_twice_is_the_first_and_one_that_they_leap_over_is_after_it() -> None:
    assert moments.of_browser("2026-10-25T03:30") == "2026-10-25T00:30:00+00:00"
    assert moments.of_browser("2026-10-25T03:30+02:00") == "2026-10-25T03:30+02:00"
    leapt_over = moments.of_browser("2026-03-29T03:30")
    assert leapt_over == "2026-03-29T01:30:00+00:00"
    assert words.moment("2026-03-29T01:30:00.000Z") == "29 Mar 2026, 04:30"
    assert moments.of_browser("26.11.2026") == "2026-11-25T22:00:00+00:00"


@pytest.mark.parametrize("typed", ["0001-01-01T00:00", "soon", "2026-13-01T00:00", ""])
@pytest.mark.usefixtures("_in_bucharest")
def test_what_is_no_moment_there_stays_as_it_is_typed(typed: str) -> None:
    assert moments.of_browser(typed) == typed


@pytest.mark.usefixtures("_in_bucharest")
def test_a_moment_in_a_field_is_read_back_as_the_same() -> None:
    for text in ("2026-11-20T12:00:00.000Z", "2026-07-01T21:59:00.000Z", TWICE[0]):
        assert datetime.fromisoformat(moments.of_browser(moments.for_browser(text))) == datetime.fromisoformat(
            text
        )


@pytest.mark.parametrize(
    ("name", "day", "span"),
    [
        ("Europe/Bucharest", "1 January", "on 1 January"),
        ("Pacific/Honolulu", "31 December 2026", "between 30 and 31 December 2026"),
    ],
)
def test_days_are_those_there(name: str, day: str, span: str) -> None:
    here(name)
    assert moments.day("2026-12-31T22:00:00.000Z", "2027") == day
    first = "2026-12-31T22:00:00.000Z" if name == "Europe/Bucharest" else "2026-12-31T08:00:00.000Z"
    assert moments.span(first, "2027-01-01T08:00:00.000Z", "2027") == span


def test_a_chart_of_a_day_says_the_times_there() -> None:
    here("Asia/Kolkata")
    levels = [{"at": "2026-11-20T10:00:00.000Z", "quantity": 1}]
    chart = chart_of(levels, "2026-11-20T12:00:00.000Z", None)
    assert (chart.begins, chart.ends) == ("15:30", "17:30")


def test_a_moment_at_the_end_of_all_dates_is_shown_as_utc() -> None:
    here("America/New_York")
    assert words.moment("0001-01-01T00:00:00.000Z") == "01 Jan 0001, 00:00 UTC"
    here("Asia/Tokyo")
    assert words.moment("9999-12-31T23:59:59.999Z") == "31 Dec 9999, 23:59 UTC"


def test_utc_is_said_beside_each_moment() -> None:
    for name in ("UTC", "Etc/UTC", "Zulu"):
        here(name)
        assert words.moment("2026-11-20T12:00:00.000Z") == "20 Nov 2026, 12:00 UTC"
