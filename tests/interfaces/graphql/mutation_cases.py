"""Every mutation, accepted and refused, with the equivalent REST request."""

from dataclasses import dataclass, field
from typing import Any

from tests.interfaces.graphql.catalogue import WEBHOOK, Json


@dataclass(frozen=True)
class Case:
    """A mutation, and the equivalent REST request."""

    name: str
    method: str
    path: str
    arguments: Json = field(default_factory=dict)
    body: Any = None


def creates(name: str, path: str, body: Json) -> Case:
    return Case(name, "POST", path, {"input": body}, body)


def changes(name: str, method: str, path: str, record_id: int, body: Json) -> Case:
    return Case(name, method, path.format(record_id), {"id": record_id, "input": body}, body)


ARTICLE = {"code": "NEW", "name": "New"}
LINE = {"article_id": 1, "quantity": 1}
ORDER = {"partner_id": 1, "warehouse_id": 1, "lines": [LINE]}
PURCHASE = {"partner_id": 4, "warehouse_id": 1, "items": [LINE]}
ARRIVED = {"po_item_id": 1, "quantity_um3pl": 1}
RECEPTION = {"purchase_order_id": 5, "warehouse_id": 1, "selected_items": [{"po_item_id": 6, "quantity_um3pl": 1}]}
RETURN = {"partner_id": 1, "warehouse_id": 1, "lines": [LINE]}
HOOK = {**WEBHOOK, "name": "New", "events": ["*"]}
ARTICLES, ORDERS, PURCHASES = "/api/articles/{}", "/api/sales-orders/{}", "/api/purchase-orders/{}"
RECEPTIONS, RETURNS, WEBHOOKS = "/api/receptions/{}", "/api/returns/{}", "/api/v2/webhooks/{}"
COUNTS = "/api/v2/counts/{}"
STATUS = "/api/v2/sales-orders/{}/status"

CASES = {
    # articles
    "an article": creates("create_article", "/api/articles", ARTICLE),
    "an article whose code is taken": creates("create_article", "/api/articles", ARTICLE),
    "an article with all that is wrong": creates(
        "create_article",
        "/api/articles",
        {
            "code": "x" * 65,
            "name": "",
            "min_stock": -1,
            "client_id": 99,
            "barcodes": ["1", "1"],
            "um3pl_factor": 0,
        },
    ),
    "an article with exact numbers": creates(
        "create_article",
        "/api/articles",
        {**ARTICLE, "code": "NUM", "weight_kg": 0.000001, "length_mm": 999999999.999999, "min_stock": 0},
    ),
    "an article beyond exact numbers": creates(
        "create_article", "/api/articles", {**ARTICLE, "weight_kg": 0.0000001, "length_mm": 1000000000}
    ),
    "an article replaced": changes("replace_article", "PUT", ARTICLES, 2, {"code": "B", "name": "Beta again"}),
    "an article changed": changes("update_article", "PATCH", ARTICLES, 1, {"name": "Changed", "barcode": None}),
    "an article changed in nothing": changes("update_article", "PATCH", ARTICLES, 1, {}),
    "an article that is not there": changes("update_article", "PATCH", ARTICLES, 99, {"name": "x"}),
    "an article by its code": Case(
        "update_article_by_code",
        "PATCH",
        "/api/articles/by-code/LOT",
        {"code": "LOT", "input": {"external_ref": "77"}},
        {"external_ref": "77"},
    ),
    "an article by a code that is not there": Case(
        "update_article_by_code",
        "PATCH",
        "/api/articles/by-code/none",
        {"code": "none", "input": {"name": "x"}},
        {"name": "x"},
    ),
    # sales orders
    "an order": creates(
        "create_sales_order", "/api/sales-orders", {**ORDER, "external_ref": "NEW", "client_id": 1}
    ),
    "an order by codes": creates(
        "create_sales_order",
        "/api/sales-orders",
        {**ORDER, "lines": [{"article_code": "B", "quantity": 0.000001}]},
    ),
    "an order of more than there is": creates(
        "create_sales_order", "/api/sales-orders", {**ORDER, "lines": [{**LINE, "quantity": 100000}]}
    ),
    "an order of a partner who is gone": creates(
        "create_sales_order", "/api/sales-orders", {**ORDER, "partner_id": 3}
    ),
    "an order to a warehouse that is shut": creates(
        "create_sales_order", "/api/sales-orders", {**ORDER, "warehouse_id": 3}
    ),
    "an order of an article that is not sold": creates(
        "create_sales_order", "/api/sales-orders", {**ORDER, "lines": [{"article_id": 3, "quantity": 1}]}
    ),
    "an order with all that is wrong": creates(
        "create_sales_order",
        "/api/sales-orders",
        {
            **ORDER,
            "notes": " x",
            "requested_date": "tomorrow",
            "lines": [{"quantity": 0}, {**LINE, "article_id": 98}],
        },
    ),
    "an order without lines": creates("create_sales_order", "/api/sales-orders", {**ORDER, "lines": []}),
    "an order replaced": changes("replace_sales_order", "PUT", ORDERS, 1, {**ORDER, "notes": "Replaced"}),
    "an order changed": changes(
        "update_sales_order", "PATCH", ORDERS, 1, {"notes": "Changed", "external_ref": None}
    ),
    "lines changed": changes("update_sales_order", "PATCH", ORDERS, 1, {"lines": [LINE, {**LINE, "quantity": 2}]}),
    "an order moved": changes("change_sales_order_status", "PATCH", STATUS, 1, {"status": "IN_LUCRU"}),
    "an order moved with packaging": changes(
        "change_sales_order_status",
        "PATCH",
        STATUS,
        1,
        {"status": "INCARCAT", "packaging": [{"packaging_type_code": "PAL", "quantity": 2}]},
    ),
    "an order moved to where it cannot go": changes(
        "change_sales_order_status", "PATCH", STATUS, 5, {"status": "LIVRAT"}
    ),
    "an order cancelled": changes("update_sales_order", "PATCH", ORDERS, 2, {"status": "ANULAT"}),
    # purchase orders
    "a purchase": creates(
        "create_purchase_order", "/api/purchase-orders", {**PURCHASE, "expected_date": "2027-01-31"}
    ),
    "a purchase of nothing": creates("create_purchase_order", "/api/purchase-orders", {**PURCHASE, "items": []}),
    "a purchase replaced": changes(
        "replace_purchase_order", "PUT", PURCHASES, 6, {**PURCHASE, "notes": "Replaced"}
    ),
    "a purchase changed": changes("update_purchase_order", "PATCH", PURCHASES, 6, {"notes": None, "code": "P-X"}),
    "a purchase deleted": Case("delete_purchase_order", "DELETE", "/api/purchase-orders/7", {"id": 7}),
    "a purchase deleted again": Case("delete_purchase_order", "DELETE", "/api/purchase-orders/7", {"id": 7}),
    "a purchase that came, deleted": Case("delete_purchase_order", "DELETE", "/api/purchase-orders/1", {"id": 1}),
    # receptions
    "a reception": creates("create_reception", "/api/receptions", {**RECEPTION, "transport_ecc": "T9"}),
    "a reception of too much": creates(
        "create_reception",
        "/api/receptions",
        {**RECEPTION, "status": "FINALIZAT", "selected_items": [{"po_item_id": 6, "quantity_um3pl": 1000}]},
    ),
    "a reception of another order's item": creates(
        "create_reception", "/api/receptions", {**RECEPTION, "selected_items": [ARRIVED]}
    ),
    "a reception replaced": changes("replace_reception", "PUT", RECEPTIONS, 6, {**RECEPTION, "notes": "Replaced"}),
    "a reception changed": changes("update_reception", "PATCH", RECEPTIONS, 6, {"notes": "Changed"}),
    "a reception posted": changes("update_reception", "PATCH", RECEPTIONS, 6, {"status": "FINALIZAT"}),
    "a reception deleted": Case("delete_reception", "DELETE", "/api/receptions/5", {"id": 5}),
    "a posted reception deleted": Case("delete_reception", "DELETE", "/api/receptions/6", {"id": 6}),
    # returns
    "a return": creates("create_return", "/api/returns", {**RETURN, "reason": "broken"}),
    "a return of more than was sent": creates(
        "create_return", "/api/returns", {**RETURN, "sales_order_id": 4, "lines": [{**LINE, "quantity": 500}]}
    ),
    "a return replaced": changes("replace_return", "PUT", RETURNS, 4, {**RETURN, "notes": "Replaced"}),
    "a return that arrived": changes("update_return", "PATCH", RETURNS, 4, {"status": "RECEPTIONAT"}),
    "a return without dispositions": changes("update_return", "PATCH", RETURNS, 4, {"status": "FINALIZAT"}),
    # counts
    "a count": creates("create_count", "/api/v2/counts", {"warehouse_id": 1, "lines": [{"article_code": "A"}]}),
    "a count of all that is there": creates("create_count", "/api/v2/counts", {"warehouse_id": 1}),
    "a count of what is not there": creates(
        "create_count",
        "/api/v2/counts",
        {"warehouse_id": 1, "lines": [{"article_id": 99, "counted_quantity": -1}]},
    ),
    "a quantity entered": changes(
        "update_count", "PATCH", COUNTS, 1, {"lines": [{"id": 2, "counted_quantity": 0.5}]}
    ),
    "a count replaced": changes(
        "replace_count", "PUT", COUNTS, 1, {"warehouse_id": 1, "notes": "Replaced", "lines": [{"id": 2}]}
    ),
    "a count booked": Case("book_count", "POST", "/api/v2/counts/1/book", {"id": 1}),
    "a count without quantities booked": Case("book_count", "POST", "/api/v2/counts/2/book", {"id": 2}),
    # webhooks
    "a subscription": creates("create_webhook", "/api/v2/webhooks", HOOK),
    "a subscription to nothing": creates("create_webhook", "/api/v2/webhooks", {**HOOK, "events": ["nothing"]}),
    "a subscription to itself": creates(
        "create_webhook", "/api/v2/webhooks", {**HOOK, "url": "https://127.0.0.1/"}
    ),
    "a subscription with headers": creates(
        "create_webhook",
        "/api/v2/webhooks",
        {"name": "H", "url": WEBHOOK["url"], "events": ["*"], "auth_type": "custom", "headers": {"X-Key": "a"}},
    ),
    "a subscription with headers that cannot be": creates(
        "create_webhook",
        "/api/v2/webhooks",
        {"name": "H", "url": WEBHOOK["url"], "events": ["*"], "auth_type": "custom", "headers": {"X-Key": [1]}},
    ),
    "a subscription replaced": changes(
        "replace_webhook", "PUT", "/api/webhooks/{}", 2, {**HOOK, "name": "Replaced"}
    ),
    "a subscription changed": changes("update_webhook", "PATCH", WEBHOOKS, 2, {"active": False}),
    "a secret": changes(
        "rotate_webhook_secret", "POST", "/api/v2/webhooks/{}/rotate-secret", 1, {"secret": "n" * 32}
    ),
    "a short secret": changes(
        "rotate_webhook_secret", "POST", "/api/v2/webhooks/{}/rotate-secret", 1, {"secret": "n"}
    ),
    "a delivery again": Case(
        "redeliver_webhook", "POST", "/api/v2/webhooks/1/deliveries/1/redeliver", {"id": 1, "delivery": 1}
    ),
    "a range of deliveries again": changes(
        "redeliver_webhook_range",
        "POST",
        "/api/v2/webhooks/{}/redeliver",
        1,
        {"since": "2000-01-01T00:00:00Z", "failed": True},
    ),
    "a range of deliveries that ends before it begins": changes(
        "redeliver_webhook_range",
        "POST",
        "/api/v2/webhooks/{}/redeliver",
        1,
        {"since": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"},
    ),
    "a delivery that is not there": Case(
        "redeliver_webhook", "POST", "/api/v2/webhooks/1/deliveries/9999/redeliver", {"id": 1, "delivery": 9999}
    ),
    "a subscription deleted": Case("delete_webhook", "DELETE", "/api/v2/webhooks/2", {"id": 2}),
    "a test of no subscription": Case("test_webhook", "POST", "/api/v2/webhooks/99/test", {"id": 99}),
}


REFUSED = {
    "a count of what is not there": 422,
    "a count without quantities booked": 409,
    "a range of deliveries that ends before it begins": 422,
    "an article whose code is taken": 422,
    "an article with all that is wrong": 422,
    "an article beyond exact numbers": 422,
    "an article that is not there": 404,
    "an article by a code that is not there": 404,
    "an order of more than there is": 422,
    "an order of a partner who is gone": 422,
    "an order to a warehouse that is shut": 422,
    "an order of an article that is not sold": 422,
    "an order with all that is wrong": 422,
    "an order without lines": 422,
    "an order moved to where it cannot go": 409,
    "a purchase of nothing": 422,
    "a purchase deleted again": 404,
    "a purchase that came, deleted": 409,
    "a reception of too much": 422,
    "a reception of another order's item": 422,
    "a posted reception deleted": 409,
    "a return of more than was sent": 422,
    "a return without dispositions": 422,
    "a subscription to nothing": 422,
    "a subscription to itself": 422,
    "a subscription with headers that cannot be": 422,
    "a short secret": 422,
    "a delivery that is not there": 404,
    "a test of no subscription": 404,
}
"""The REST status of each refused case; all other cases succeed."""
