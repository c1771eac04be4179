"""Tests of text in forms: it is restored after its person had to sign in again, and for nobody else."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ADMIN, House
from tests.browser.test_flows import PASSWORD
from tests.support.chromium import opened
from wmsd.tenants.accounts.sessions import MOST_OF_A_USER

FORM = "/companies/1/webhooks/new"
SECRET = "a secret of at least thirty-two characters"
HOOK = "https://hooks.slack.com/services/T0/B0/x9y8z7"
OTHER = "kept@example.com"


def type_and_send_too_late(page: Page) -> None:
    """Fill the form of a new webhook, and send it after the session has ended."""
    page.goto(FORM)
    page.fill("#name", "Ten minutes of work")
    page.fill("#url", HOOK)
    page.check("[name='events:article.created']")
    page.select_option("#auth_type", "bearer")
    page.fill("#token", SECRET)
    page.context.clear_cookies()
    page.click("main button[type=submit]")
    expect(page.locator("h1")).to_have_text("Sign in to wmsd")
    expect(page.locator(".note.warn")).to_contain_text("Your session ended before you sent the form")


def sign_in_here(page: Page, email: str = ADMIN["email"], password: str = ADMIN["password"]) -> None:
    page.fill("#email", email)
    page.fill("#password", password)
    page.click("main button")


def stored(page: Page) -> str:
    return str(page.evaluate("JSON.stringify(Object.values(sessionStorage))"))


def test_what_was_typed_is_in_the_form_again_but_no_secret(browser: Browser, house: House) -> None:
    with opened(browser, house.address, storage_state=house.state) as page:
        type_and_send_too_late(page)
        expect(page.locator("[data-kept]")).to_contain_text("This tab keeps what you typed")
        assert SECRET not in stored(page)
        assert HOOK not in stored(page), "some services know their senders by the address alone"
        sign_in_here(page, password="a mistake")
        expect(page.locator("[data-kept]")).to_be_visible()
        sign_in_here(page)
        expect(page.locator("h1")).to_have_text("New webhook")
        expect(page.locator("[data-kept]")).to_contain_text("but it is not saved yet.")
        assert page.input_value("#name") == "Ten minutes of work"
        assert page.input_value("#url") == ""
        assert page.is_checked("[name='events:article.created']")
        assert not page.is_checked("[name='events:article.updated']")
        assert page.input_value("#auth_type") == "bearer"
        expect(page.locator("#token")).to_be_visible()
        assert page.input_value("#token") == ""
        page.reload()
        expect(page.locator("[data-kept]")).to_be_hidden()
        assert page.input_value("#name") == ""


def test_the_headers_of_a_receiver_are_secrets_too(browser: Browser, house: House) -> None:
    with opened(browser, house.address, storage_state=house.state) as page:
        page.goto(FORM)
        page.fill("#name", "Custom")
        page.fill("#url", "https://shop.example.com/hook")
        page.select_option("#auth_type", "custom")
        page.fill("#headers", f"X-Key: {SECRET}")
        page.context.clear_cookies()
        page.click("main button[type=submit]")
        expect(page.locator("h1")).to_have_text("Sign in to wmsd")
        assert "Custom" in stored(page)
        assert SECRET not in stored(page)


def test_what_was_saved_does_not_come_again(page: Page) -> None:
    page.goto("/companies/1/articles/new")
    page.fill("#code", "KEPT-1")
    page.fill("#name", "Saved")
    page.click("main button")
    expect(page.locator("h1")).to_have_text("KEPT-1")
    page.goto("/companies/1/articles/new")
    assert page.input_value("#code") == ""


def test_it_ends_with_signing_out(browser: Browser, house: House) -> None:
    with opened(browser, house.address, storage_state=house.state) as page:
        type_and_send_too_late(page)
        page.goto("/sign-in")
        sign_in_here(page)
        expect(page.locator("h1")).to_have_text("Today")
        assert "Ten minutes of work" in stored(page)
        page.click("text=Sign out")
        expect(page.locator(".note.good")).to_have_text("You are signed out.")
        assert "Ten minutes of work" not in stored(page)


def test_nobody_else_gets_it(browser: Browser, house: House, page: Page) -> None:
    link = invitation(page, OTHER)
    with opened(browser, house.address) as other:
        other.goto(link)
        other.fill("#password", PASSWORD)
        other.fill("#again", PASSWORD)
        other.click("main button")
        other.context.add_cookies(house.state["cookies"])
        type_and_send_too_late(other)
        sign_in_here(other, OTHER, PASSWORD)
        expect(other.locator("h1")).to_have_text("New webhook")
        assert other.input_value("#name") == ""
        assert "Ten minutes of work" not in stored(other)
        other.context.clear_cookies()
        other.context.add_cookies(house.state["cookies"])
        type_and_send_too_late(other)
        other.goto("/sign-in")
        assert "Ten minutes of work" in stored(other)
        sign_in_here(other, OTHER, PASSWORD)
        expect(other.locator("h1")).to_have_text("Today")
        assert "Ten minutes of work" not in stored(other), "it is gone with the first page of somebody else"


def test_what_is_tried_with_an_address_is_not_kept(browser: Browser, house: House) -> None:
    with opened(browser, house.address, storage_state=house.state) as page:
        page.goto("/try/v2/create_webhook?company=1")
        page.fill("#body", f'{{"name": "Hook", "url": "{HOOK}"}}')
        page.context.clear_cookies()
        page.click("main button.final")
        expect(page.locator("h1")).to_have_text("Sign in to wmsd")
        assert "/try" in stored(page)
        assert HOOK not in stored(page)


def test_without_javascript_the_page_of_the_form_opens_again(browser: Browser, house: House) -> None:
    with opened(browser, house.address, java_script_enabled=False, storage_state=house.state) as page:
        page.goto("/companies/1/articles/new")
        page.fill("#code", "LOST")
        page.fill("#name", "Lost")
        page.context.clear_cookies()
        page.click("main button")
        expect(page.locator(".note.warn")).to_contain_text(
            "so nothing was changed. Sign in to open the form again."
        )
        expect(page.locator("[data-kept]")).to_be_hidden()
        sign_in_here(page)
        expect(page.locator("h1")).to_have_text("New article")
        assert page.input_value("#code") == ""


@pytest.mark.parametrize("has_script", [True, False])
def test_a_session_that_wmsd_has_ended_loses_no_form(
    browser: Browser, house: House, page: Page, has_script: bool
) -> None:
    email = f"moved-{has_script}@example.com".lower()
    link = invitation(page, email)
    with opened(browser, house.address, java_script_enabled=has_script) as late:
        late.goto(link)
        late.fill("#password", PASSWORD)
        late.fill("#again", PASSWORD)
        late.click("main button")
        sign_in_here(late, email, PASSWORD)
        late.goto("/companies/1/sales-orders/new")
        late.fill("#partner", "NONE")
        late.fill("#warehouse", "MAIN")
        late.fill("[name='lines.0.article_code']", "22423")
        late.fill("[name='lines.0.quantity']", "2")
        sign_in_elsewhere(browser, house, email)
        late.click("main .acts button[type=submit]")
        expect(late.locator(".note.warn").first).to_contain_text(
            "You signed in on more than 20 devices or browsers"
        )
        expect(late.locator("[data-kept]")).to_be_visible()
        late.fill("#email", email)
        late.fill("#password", "a mistake")
        late.click("main button")
        sign_in_here(late, email, PASSWORD)
        if not has_script:
            expect(late.locator("h1")).to_have_text("You are signed in")
            late.click("main button")
        expect(late.locator("h1")).to_have_text("New sales order")
        expect(late.locator("[data-kept]")).to_be_visible()
        assert late.input_value("[name='lines.0.article_code']") == "22423"
        assert late.input_value("#partner") == "NONE"
        late.click("main .acts button[type=submit]")
        expect(late.locator(".note.bad")).to_contain_text("Correct the marked fields.")


def sign_in_elsewhere(browser: Browser, house: House, email: str) -> None:
    """Sign in on so many other browsers that the earlier session ends."""
    for _ in range(MOST_OF_A_USER):
        place = browser.new_context(base_url=house.address)
        fields: dict[str, str | float | bool] = {"email": email, "password": PASSWORD}
        answer = place.request.post("/sign-in", form=fields, headers={"Sec-Fetch-Site": "same-origin"})
        assert answer.ok
        place.close()


def invitation(page: Page, email: str) -> str:
    """Return the invitation link of a new admin of the company."""
    page.goto("/admin/users/new")
    page.fill("#email", email)
    page.fill("#name", "Other")
    page.select_option("#role", "company-admin")
    page.fill("#company_codes", "DEMO")
    page.click("main .button.main")
    return page.inner_text("#link")


def test_a_change_of_somebody_else_meanwhile_is_told(browser: Browser, house: House, page: Page) -> None:
    change = "/companies/1/articles/2/change"
    with opened(browser, house.address, storage_state=house.state) as late:
        late.goto(change)
        late.fill("#description", "Mine")
        late.context.clear_cookies()
        late.click("main button[type=submit]")
        expect(late.locator("h1")).to_have_text("Sign in to wmsd")
        page.goto(change)
        page.fill("#description", "Theirs")
        page.click("main button[type=submit]")
        expect(page.locator(".note.good")).to_have_text("The article is changed.")
        sign_in_here(late)
        expect(late.locator("#description")).to_have_value("Mine")
        late.click("main button[type=submit]")
        expect(late.locator("[aria-label='Differences'] tbody")).to_contain_text("Theirs")
        late.click("main button[type=submit]")
        expect(late.locator(".note.good")).to_have_text("The article is changed.")


def test_who_has_signed_in_again_in_another_tab_goes_back_to_what_was_typed(
    browser: Browser, house: House
) -> None:
    with opened(browser, house.address, storage_state=house.state) as page:
        page.goto("/companies/1/articles/new")
        page.fill("#code", "TWO-TABS")
        page.fill("#name", "In the first tab")
        page.context.clear_cookies()
        other = page.context.new_page()
        other.goto("/sign-in")
        sign_in_here(other)
        expect(other.locator("h1")).to_have_text("Today")
        page.click("main button[type=submit]")
        expect(page.locator("h1")).to_have_text("Not allowed")
        expect(page.locator("[data-kept]")).to_contain_text("This tab keeps what you typed")
        page.click("text=Back to the form")
        expect(page.locator("#name")).to_have_value("In the first tab")
        page.click("main button[type=submit]")
        expect(page.locator("h1")).to_have_text("TWO-TABS")
