"""Tests of what people do on the pages, in a real browser."""

import re
import time
import unicodedata
from datetime import datetime
from urllib.parse import quote
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import ADMIN, House, new_token
from tests.support.chromium import opened
from wmsd.contract.access import READ_ABILITIES

PASSWORD = "four words that differ"


def sign_in(page: Page, email: str, password: str) -> None:
    page.goto("/sign-in")
    page.fill("#email", email)
    page.fill("#password", password)
    page.click("button")


def test_from_nothing_to_the_first_answer_of_the_api(page: Page, house: House) -> None:
    page.goto("/start")
    page.fill("#name", "Hub Cluj")
    page.click("text=Save the name")
    expect(page.locator(".rail .name")).to_have_text("Hub Cluj")
    page.goto("/admin/companies/new")
    page.fill("#code", "NOVA")
    page.fill("#name", "Nova")
    page.click("main button")
    expect(page.locator(".note.good")).to_have_text("Company created.")
    number = int(page.url.partition("?")[0].rpartition("/")[2])
    page.goto(f"/companies/{number}/articles/new")
    page.fill("#code", "A1")
    page.fill("#name", "First")
    page.click("main button")
    expect(page.locator("h1")).to_have_text("A1")
    page.goto("/admin/tokens/new")
    page.fill("#name", "Shop")
    page.check("[name='abilities:articles:read']")
    page.fill("#company_codes", "NOVA")
    page.click("main button")
    token = page.inner_text("#token")
    status, answer = house.server.get("/api/articles", token=token, company=number)
    assert (status, [each["code"] for each in answer["data"]]) == (200, ["A1"])
    page.click("text=Open the token")
    page.click("text=Revoke")
    page.click("main button")
    expect(page.locator(".note.good")).to_have_text("The token is revoked.")
    assert house.server.get("/api/articles", token=token, company=number)[0] == 401


def test_the_copy_button_copies(browser: Browser, house: House) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    with opened(browser, house.address, storage_state=house.state, permissions=permissions) as page:
        page.goto("/admin/tokens/new")
        page.fill("#name", "Copied")
        page.check("[name='abilities:stock:read']")
        page.click("main button")
        page.click("[data-copy=token]")
        expect(page.locator("[data-copy=token]")).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == page.inner_text("#token")


def test_the_id_and_the_code_of_a_record_are_copied(browser: Browser, house: House) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    with opened(browser, house.address, storage_state=house.state, permissions=permissions) as page:
        page.goto("/companies/1/articles/1")
        code = page.inner_text("h1")
        for button, text in (("Copy the code", code), ("Copy the id", "1")):
            page.click(f"text={button}")
            expect(page.locator("[data-text]", has_text="Copied").last).to_be_visible()
            assert page.evaluate("navigator.clipboard.readText()") == text


def test_somebody_who_is_invited_may_read_and_not_change(page: Page, stranger: Page) -> None:
    page.goto("/admin/users/new")
    page.fill("#email", "ion@example.com")
    page.fill("#name", "Ion")
    page.fill("#company_codes", "DEMO")
    page.check("[name='abilities:articles:read']")
    page.click("main .button.main")
    stranger.goto(page.inner_text("#link"))
    stranger.fill("#password", PASSWORD)
    stranger.fill("#again", PASSWORD)
    stranger.click("text=Set the password")
    expect(stranger.locator(".note.good")).to_have_text("Your password is set. Sign in with it.")
    sign_in(stranger, "ion@example.com", PASSWORD)
    stranger.click("text=Demo Trading")
    expect(stranger.locator("h1")).to_have_text("Articles")
    assert stranger.locator("text=New article").count() == 0
    refused = stranger.goto("/companies/1/articles/new")
    assert refused is not None
    assert refused.status == 403
    expect(stranger.locator("main")).to_contain_text("lack the ability articles:write")


def test_an_address_and_a_password_beyond_ascii_sign_in(page: Page, stranger: Page) -> None:
    page.goto("/admin/users/new")
    page.fill("#email", "josé@müller.example")
    page.fill("#name", "José")
    page.fill("#company_codes", "DEMO")
    page.click("main .button.main")
    stranger.goto(page.inner_text("#link"))
    for field in ("#password", "#again"):
        stranger.fill(field, "crème brûlée à midi vingt")
    stranger.click("text=Set the password")
    expect(stranger.locator(".note.good")).to_have_text("Your password is set. Sign in with it.")
    sign_in(stranger, "josé@müller.example", unicodedata.normalize("NFD", "crème brûlée à midi vingt"))
    expect(stranger.locator("h1")).to_have_text("Today")


def test_a_set_ticks_its_abilities_at_once_and_enter_picks_none(page: Page) -> None:
    page.goto("/admin/users/new")
    page.fill("#email", "dock@example.com")
    page.click("button[value='warehouse']")
    page.click("button[value='reads-only']")
    ticked = page.locator("[name^='abilities:']:checked")
    assert {each.get_attribute("name") for each in ticked.all()} == {
        f"abilities:{each}" for each in READ_ABILITIES
    }
    assert page.input_value("#email") == "dock@example.com", "the page is the same"
    page.fill("#name", "Dock")
    page.press("#name", "Enter")
    expect(page.locator("#link")).to_be_visible()


def test_the_demo_opens_by_its_link(stranger: Page, house: House) -> None:
    stranger.goto(house.link("Open it"))
    stranger.click("text=Open the demo")
    expect(stranger.locator("h1")).to_have_text("Today")
    expect(stranger.locator("text=Demo Trading").first).to_be_visible()


def test_by_keyboard_alone(stranger: Page) -> None:
    stranger.goto("/sign-in?next=/companies/1/articles")
    expect(stranger.locator("#email")).to_be_focused()
    stranger.keyboard.type(ADMIN["email"])
    stranger.keyboard.press("Tab")
    stranger.keyboard.type(ADMIN["password"])
    stranger.keyboard.press("Enter")
    expect(stranger.locator("h1")).to_have_text("Articles")
    stranger.keyboard.press("Tab")
    assert stranger.evaluate("document.activeElement.textContent") == "To the content"
    stranger.keyboard.press("Enter")
    for _ in range(20):
        stranger.keyboard.press("Tab")
        if stranger.evaluate("document.activeElement.textContent") == "New article":
            break
    stranger.keyboard.press("Enter")
    expect(stranger.locator("#code")).to_be_focused()
    stranger.keyboard.type("KEYS")
    stranger.keyboard.press("Tab")
    stranger.keyboard.type("By keys")
    stranger.keyboard.press("Enter")
    expect(stranger.locator("h1")).to_have_text("KEYS")


@pytest.mark.parametrize("width", [390, 1440])
def test_without_javascript(browser: Browser, house: House, width: int) -> None:
    viewport = {"width": width, "height": 900}
    with opened(browser, house.address, java_script_enabled=False, viewport=viewport) as page:
        sign_in(page, ADMIN["email"], ADMIN["password"])
        page.goto("/companies/1/articles/new")
        page.fill("#code", f"PLAIN-{width}")
        page.fill("#name", "")
        page.fill("#name", "Without a script")
        page.click("main button")
        expect(page.locator("h1")).to_have_text(f"PLAIN-{width}")
        page.goto("/admin/tokens/new")
        page.fill("#name", "Plain")
        page.check("[name='abilities:stock:read']")
        page.click("main button")
        expect(page.locator("#token")).to_be_visible()
        expect(page.locator("[data-copy=token]")).to_be_hidden()


def test_a_wrong_form_keeps_what_was_typed_and_begins_at_the_first_mistake(page: Page) -> None:
    page.goto("/companies/1/articles/new")
    page.fill("#code", "WRONG")
    page.fill("#name", "Wrong")
    page.fill("#min_stock", "many")
    page.fill("#weight_kg", "heavy")
    page.click("main button")
    expect(page.locator("#min_stock")).to_be_focused()
    assert (page.input_value("#code"), page.input_value("#min_stock")) == ("WRONG", "many")
    assert page.locator("[aria-invalid=true]").count() == 2


def test_signing_out_ends_what_the_browser_could_see(browser: Browser, house: House) -> None:
    with opened(browser, house.address) as page:
        sign_in(page, ADMIN["email"], ADMIN["password"])
        expect(page.locator("h1")).to_have_text("Today")
        page.click("text=Sign out")
        expect(page.locator("h1")).to_have_text("Sign in to wmsd")
        page.go_back()
        page.reload()
        expect(page.locator("h1")).to_have_text("Sign in to wmsd")


def test_an_order_that_is_moved_elsewhere_moves_on_the_open_pages(page: Page, house: House) -> None:
    token = new_token(page, "sales-orders:read", "sales-orders:write")
    lines = [{"article_code": "22423", "quantity": 1}]
    body = {"partner_id": 1, "warehouse_id": 1, "lines": lines}
    status, order = house.server.send("POST", "/api/v2/sales-orders", body, token, 1)
    assert status == 201, order
    page.goto(f"/companies/1/sales-orders/{order['id']}")
    expect(page.locator("[aria-current=step]")).to_contain_text("Created")
    expect(page.locator("#live")).to_have_text("Live")
    other = page.context.new_page()
    other.goto("/companies/1/sales-orders")
    moved = {"status": "IN_LUCRU"}
    status, answer = house.server.send("PATCH", f"/api/v2/sales-orders/{order['id']}/status", moved, token, 1)
    assert status == 200, answer
    row = other.locator("tbody tr", has_text=order["code"])
    expect(row.locator(".chip")).to_have_text("In work")
    page.bring_to_front()
    expect(page.locator("[aria-current=step]")).to_contain_text("In work")


def come_late(route: Route) -> None:
    """Answer when the page has been open for some time, as on a busy machine."""
    frame = route.request.frame
    frame.page.wait_for_timeout(700)
    route.continue_()


def test_a_slider_leads_to_any_past_moment(page: Page) -> None:
    def make_older(route: Route) -> None:
        """Make the stock record older by a thousand minutes."""
        answer = route.fetch()
        older = re.sub(
            r'(data-moment.* min=")(\d+)', lambda found: f"{found[1]}{int(found[2]) - 1000}", answer.text()
        )
        route.fulfill(response=answer, body=older)

    page.route("**/companies/1/stock/7*", make_older)
    page.route("**/house-*.js", come_late)
    page.goto("/companies/1/stock/7")
    how_it_stands, slider, field = page.locator(".strip span").first, page.locator("#back"), page.locator("#at")
    slider.click()  # a click in the middle of the slider
    expect(how_it_stands).to_contain_text(", at that time")
    slider.press("Home")
    first = field.input_value()
    slider.press("ArrowRight")
    expect(field).not_to_have_value(first)
    second = field.input_value()
    slider.press("Enter")
    expect(page).to_have_url(re.compile(f"at={quote(second)}"))
    expect(page.locator("#at")).to_have_value(second)
    slider.press("End")
    slider.press("Enter")
    expect(how_it_stands).not_to_contain_text(", at that time")


def test_the_slider_writes_the_time_of_the_time_zone_of_the_page(page: Page) -> None:
    def choose(name: str) -> None:
        page.goto("/account")
        page.fill("#time_zone", name)
        page.click("form[action='/account/time-zone'] button")
        expect(page.locator("#time_zone")).to_have_value(name)

    def make_older(route: Route) -> None:
        """Make the stock record older by half a year: the clocks were put back since then."""
        answer = route.fetch()
        older = re.sub(
            r'(data-moment.* min=")(\d+)', lambda found: f"{found[1]}{int(found[2]) - 262_800}", answer.text()
        )
        route.fulfill(response=answer, body=older)

    choose("America/New_York")
    page.route("**/companies/1/stock/7*", make_older)
    page.goto("/companies/1/stock/7")
    slider, field = page.locator("#back"), page.locator("#at")
    for key in ("Home", "ArrowRight"):
        slider.press(key)
        then = datetime.fromtimestamp(int(slider.input_value()) * 60, ZoneInfo("America/New_York"))
        assert field.input_value() == then.strftime("%Y-%m-%dT%H:%M")
    choose("")


def test_two_tabs_share_one_stream(page: Page) -> None:
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url))
    for each in (page, page.context.new_page()):
        each.goto("/today")
        expect(each.locator("#live")).to_have_text("Live")
    assert sum(each.endswith("/live") for each in asked) == 1


def test_a_page_tells_when_it_is_not_live_and_goes_on_afterwards(page: Page) -> None:
    page.route("**/live", lambda route: route.abort())
    page.goto("/today")
    expect(page.locator("#live")).to_have_text("Not live: no connection")
    page.unroute("**/live")
    expect(page.locator("#live")).to_have_text("Live", timeout=60_000)


@pytest.mark.parametrize(
    ("path", "button", "part", "done"),
    [
        ("/admin/backups", "Back up now", "#backups", r"Verified \d"),
        ("/admin/health", "Examine now", "#doctor", r"files are undamaged\."),
    ],
)
def test_work_beside_the_server_is_followed(page: Page, path: str, button: str, part: str, done: str) -> None:
    page.goto(path)
    page.click(f"text={button}")
    page.evaluate("window.isTheSame = true")
    expect(page.locator(part)).to_contain_text(re.compile(done), timeout=30_000)
    expect(page.locator(f"text={button}")).to_be_visible()
    assert page.evaluate("window.isTheSame"), "without another page"


def test_work_beside_the_server_is_looked_at_without_javascript(browser: Browser, house: House) -> None:
    with opened(browser, house.address, java_script_enabled=False, storage_state=house.state) as page:
        page.goto("/admin/health")
        page.click("text=Examine now")
        expect(page).to_have_url(f"{house.address}/admin/health?done=begun")
        deadline = time.monotonic() + 30
        while page.locator("text=Examine now").count() == 0:
            assert time.monotonic() < deadline
            page.goto("/admin/health")
        expect(page.locator("#doctor")).to_contain_text("files are undamaged.")


def test_the_bearer_of_a_site_opens_its_orders(page: Page, house: House) -> None:
    page.goto("/admin/sites/new")
    page.fill("#company_code", "DEMO")
    page.fill("#warehouse_code", "NOWHERE")
    page.fill("#name", "Main hall")
    page.click("main button")
    expect(page.locator("#warehouse_code")).to_be_focused()
    assert page.input_value("#name") == "Main hall"
    page.fill("#warehouse_code", "MAIN")
    page.click("main button")
    bearer = page.inner_text("#token")
    assert house.server.get("/api/integrations/etsm/orders", token=bearer, company=None)[0] == 200
    page.click("text=Main hall")
    page.click("text=Revoke")
    page.click("main button")
    expect(page.locator(".note.good")).to_have_text("The site's bearer token is revoked.")
    assert house.server.get("/api/integrations/etsm/orders", token=bearer, company=None)[0] == 401
