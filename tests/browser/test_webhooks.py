"""Tests of a test receiver in a real browser: an integrator's first hour, and what a kill leaves."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import House
from tests.support.chromium import barriers


@pytest.fixture
def token(page: Page) -> str:
    """Return an API token that allows everything."""
    page.goto("/admin/tokens/new")
    page.fill("#name", "Webhooks")
    page.check("[name='abilities:*']")
    page.fill("#company_codes", "DEMO")
    page.click("main button")
    return page.inner_text("#token")


@pytest.fixture
def receiver(page: Page) -> str:
    """Create a test receiver and return its address."""
    page.goto("/companies/1/webhooks")
    page.click("text=New test receiver")
    page.fill("#name", "Integrator")
    page.click("main button")
    expect(page.locator(".note.good")).to_contain_text("Test receiver created.")
    return page.url.partition("?")[0]


def order(house: House, token: str) -> str:
    """Create a sales order by the API and return its code."""
    status, found = house.server.get("/api/stock?per_page=1", token=token)
    assert status == 200
    stock = found["data"][0]
    line = {"article_id": stock["article_id"], "quantity": 1}
    body = {"partner_id": 1, "warehouse_id": stock["warehouse_id"], "lines": [line]}
    status, made = house.server.send("POST", "/api/sales-orders", body, token=token)
    assert status == 201, made
    return str(made["code"])


def look_until(page: Page, address: str, text: str) -> None:
    """Reload the page, as a person would, until it contains the text."""
    for _ in range(40):
        page.goto(address)
        if page.locator(f"main :text('{text}')").count():
            return
        page.wait_for_timeout(250)
    raise AssertionError(page.inner_text("main"))


def test_an_order_arrives_fails_is_sent_again_and_is_delivered(
    page: Page, house: House, token: str, receiver: str
) -> None:
    order(house, token)
    look_until(page, receiver, "sales_order.created")
    first = page.locator("tbody tr", has_text="sales_order.created")
    expect(first).to_contain_text("valid")
    expect(first).to_contain_text("200")
    page.check("[value=failure]")
    page.click("text=Change the answer")
    expect(page.locator(".note.good")).to_contain_text("Answer changed. The receiver answers 500.")
    code = order(house, token)
    look_until(page, receiver, "500")
    page.click("text=All deliveries and their attempts")
    page.fill("#record", code)
    page.click("text=Show")
    expect(page.locator("tbody .chip")).to_have_text("pending")
    page.click("tbody td.num a")
    expect(page.locator("main")).to_contain_text("The test receiver is set to fail.")
    delivery = page.url
    page.goto(receiver)
    page.check("[value=success]")
    page.click("text=Change the answer")
    page.goto(delivery)
    page.click("text=Send now")
    look_until(page, delivery, "delivered")
    assert [each.inner_text() for each in page.locator("section h2", has_text="Attempt").all()] == [
        "Attempt 2",
        "Attempt 1",
    ]
    page.goto(receiver)
    newest = page.locator("tbody tr").filter(has_text=re.compile("Duplicate"))
    expect(newest.first).to_contain_text("valid")


def test_one_request_shows_how_to_check_it(page: Page, receiver: str) -> None:
    page.click("text=Send a test")
    page.click("main button")
    expect(page.locator(".note")).to_have_text("The test arrived. The receiver answered with 200.")
    page.goto(receiver)
    page.click("tbody td a")
    expect(page.locator(".title .chip")).to_have_text("signature valid")
    page.click("text=JavaScript (Node)")
    expect(page.locator("#js")).to_be_visible()
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert barriers(page) == []
    with page.expect_download() as saved:
        page.click("text=Save the body as body.json")
    assert saved.value.suggested_filename == "body.json"
    assert '"event":"webhook.test"' in saved.value.path().read_text(encoding="utf-8")


def test_the_form_asks_for_what_the_authentication_needs(page: Page) -> None:
    page.goto("/companies/1/webhooks/new")
    fields = ("secret", "token", "username", "password", "headers")
    for choice, names in {"bearer": ["token"], "basic": ["username", "password"], "hmac": ["secret"]}.items():
        page.select_option("#auth_type", choice)
        assert [name for name in fields if page.locator(f"#{name}").is_visible()] == names
        assert barriers(page) == []
    page.fill("#secret", "0123456789abcdef0123456789abcdef")
    page.select_option("#auth_type", "bearer")
    page.fill("#name", "Shop")
    page.fill("#url", "nowhere")
    page.check("[name='events:article.created']")
    page.fill("#token", "something")
    page.click("main form .acts button")
    expect(page.locator("#token-again")).to_contain_text("Type this again")
    assert page.locator(".error").count() == 1  # an error of the address: the secret was not sent
