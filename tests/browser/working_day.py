"""A day's work in the demo, after which there is a page of everything."""

from collections.abc import Mapping
from typing import Any, Final

from playwright.sync_api import Page

from tests.browser.conftest import House, new_token

LATE: Final = "2026-01-15"
COMPANY: Final = "/companies/1"
NOBODY_ELSES_PARTNER: Final = 9
"""A partner that no other test uses. For a partner who owes pallets, the action Load asks for packaging first."""
SHOWN_ONCE: Final[tuple[tuple[str, Mapping[str, str | bool]], ...]] = (
    ("/admin/users/new", {"email": "mia@example.com", "name": "Mia", "company_codes": "DEMO"}),
    ("/admin/tokens/new", {"name": "A token of a shop with a long name", "abilities:*": True}),
    ("/admin/sites/new", {"company_code": "DEMO", "warehouse_code": "EAST", "name": "Eastern hall"}),
    ("/admin/kernel-tokens/new", {}),
)
"""Forms whose answer is displayed only once, with the values to fill in."""


def work(page: Page, house: House) -> tuple[str, ...]:
    """Do the work, and return the pages that exist afterwards."""
    token = new_token(page, "*")

    def send(method: str, path: str, body: Any) -> Any:
        answered, answer = house.server.send(method, f"/api/{path}", body, token)
        assert answered in (200, 201), answer
        return answer

    fill(page, f"{COMPANY}/warehouses/new", {"code": "EAST", "name": "Eastern hall"})
    fill(page, f"{COMPANY}/packaging-types/new", {"code": "EPAL", "name": "Euro pallet"})
    packaging_type = page.url.rpartition("?")[0]
    place = {"partner_id": NOBODY_ELSES_PARTNER, "warehouse_id": 1}
    lines = [{"article_code": "22423", "quantity": 3}, {"article_code": "20685", "quantity": 2.5}]
    late = send(
        "POST", "sales-orders", {**place, "lines": lines, "requested_date": LATE, "notes": "By the side door."}
    )
    sold = send("POST", "sales-orders", {**place, "lines": lines})
    send("PATCH", f"sales-orders/{late['id']}", {"lines": lines[:1], "notes": "By the front door, after all."})
    pallets = {"packaging": [{"packaging_type_code": "EPAL", "quantity": 2}]}
    for status, also in (("IN_LUCRU", {}), ("INCARCAT", pallets), ("LIVRAT", {})):
        send("PATCH", f"sales-orders/{sold['id']}", {"status": status, **also})
    items = [{"article_code": "20685", "quantity": 48}]
    bought = send("POST", "purchase-orders", {**place, "items": items, "expected_date": LATE})
    selected = [{"po_item_id": bought["items"][0]["id"], "quantity_um3pl": 12}]
    received = {"purchase_order_id": bought["id"], "warehouse_id": 1, "selected_items": selected}
    reception = send("POST", "receptions", {**received, "status": "FINALIZAT"})
    returned = send("POST", "returns", {**place, "sales_order_id": sold["id"], "lines": lines[:1]})
    answered, refused = house.server.send("POST", "/api/sales-orders", {"partner_id": 1}, token)
    assert answered == 422, refused
    page.goto(f"{COMPANY}/requests?status=refused")
    request = page.locator("tbody td a").first.get_attribute("href") or ""
    page.goto(f"{COMPANY}/events?event=sales_order.created")
    event = page.locator("tbody td a").first.get_attribute("href") or ""
    documents = {
        "sales-orders": late,
        "purchase-orders": bought,
        "receptions": reception,
        "returns": returned,
    }
    pages = (f"{COMPANY}/{kind}/{record['id']}" for kind, record in documents.items())
    return (*pages, packaging_type.removeprefix(house.address), request, event)


def fill(page: Page, path: str, fields: Mapping[str, str | bool]) -> None:
    page.goto(path)
    for name, value in fields.items():
        if value is True:
            page.check(f"[name='{name}']")
        else:
            page.fill(f"#{name}", str(value))
    page.click("main form .button.main")
