"""Each address that accepts a body, with a valid body."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.world import ETSM, PASSWORD


@dataclass(frozen=True)
class Writing:
    """A writing endpoint: an existing path, and a valid body."""

    path: str
    body: dict[str, Any]
    text: str
    """The name of a field that accepts text."""
    sentences: Mapping[str, str | None] = field(default_factory=dict)
    """The errors of the field that differ from `FIELD_VALUES`; None means that the field accepts the value."""


ARTICLE = {"code": "NEW", "name": "New"}
SIGN_IN = {"email": "admin@example.com", "password": PASSWORD, "abilities": ["articles:read"], "device_name": "x"}
REFERENCE: Mapping[str, str | None] = {
    "null": None,
    "nothing": None,
    "too long": "must have at most 64 characters",
}
STATUS: Mapping[str, str | None] = dict.fromkeys(
    [
        *("a number", "null", "a list", "an object", "true", "nothing"),
        *("too long", "a control character", "a line break", "blanks around"),
    ],
    "must be 'CREAT', 'IN_LUCRU', 'INCARCAT', 'LIVRAT' or 'ANULAT'",
)
HEAD = {"partner_id": 1, "warehouse_id": 1, "external_ref": "NEW"}
LINE = {"article_id": 1, "quantity": 1}
ORDER = {**HEAD, "lines": [LINE]}
PURCHASE = {**HEAD, "items": [LINE]}
RECEPTION = {
    "purchase_order_id": 1,
    "warehouse_id": 1,
    "external_ref": "NEW",
    "selected_items": [{"po_item_id": 1, "quantity_um3pl": 1}],
}
RETURN = {**HEAD, "lines": [LINE]}
COUNT = {"warehouse_id": 1, "external_ref": "NEW", "lines": [{"article_id": 1}]}
WEBHOOK = {
    "name": "New",
    "url": "https://hooks.example.com/",
    "events": ["*"],
    "secret": "s" * 32,
}
SECRET: Mapping[str, str | None] = {
    **dict.fromkeys(["nothing", "blanks around"], "must have at least 16 characters"),
    **dict.fromkeys(["a control character", "a line break"], "must have at least 16 characters"),
}
MOMENT: Mapping[str, str | None] = {
    **dict.fromkeys(STATUS, "must be an ISO 8601 date and time, such as 2026-11-20T13:25:00Z"),
    **dict.fromkeys(
        ["a number", "null", "a list", "an object", "true"], "must be an ISO 8601 date and time in a string"
    ),
}
TRANSPORT = {"transport_ecc": "NEW", "order_codes": [], "vehicle": "NEW"}
CALL: Mapping[str, str | None] = dict.fromkeys(STATUS, "must be 'INCARCAT' or 'LIVRAT'")
SWITCH: Mapping[str, str | None] = {
    **dict.fromkeys(
        [
            *("a number", "null", "a list", "an object", "nothing"),
            *("too long", "a control character", "a line break", "blanks around"),
        ],
        "must be true or false",
    ),
    "true": None,
}
DOCUMENTS = {
    "/api/sales-orders": ORDER,
    "/api/purchase-orders": PURCHASE,
    "/api/receptions": RECEPTION,
    "/api/returns": RETURN,
    "/api/v2/counts": COUNT,
}
"""The documents in an order in which each refers only to earlier ones."""
WRITING = {
    ("POST", "/api/auth/token"): Writing("/api/auth/token", SIGN_IN, "device_name"),
    ("POST", "/api/articles"): Writing("/api/articles", ARTICLE, "name"),
    ("PUT", "/api/articles/{id}"): Writing("/api/articles/1", ARTICLE, "name"),
    ("PATCH", "/api/articles/{id}"): Writing("/api/articles/1", {"name": "New"}, "name"),
    **{("POST", path): Writing(path, body, "external_ref", REFERENCE) for path, body in DOCUMENTS.items()},
    **{
        (method, f"{path}/{{id}}"): Writing(f"{path}/1", body, "external_ref", REFERENCE)
        for path, body in DOCUMENTS.items()
        for method in ("PUT", "PATCH")
    },
    ("POST", "/api/v2/sales-orders"): Writing("/api/v2/sales-orders", ORDER, "external_ref", REFERENCE),
    ("PATCH", "/api/v2/sales-orders/{id}/status"): Writing(
        "/api/v2/sales-orders/1/status", {"status": "IN_LUCRU"}, "status", STATUS
    ),
    ("POST", "/api/webhooks"): Writing("/api/webhooks", WEBHOOK, "name"),
    ("PUT", "/api/webhooks/{id}"): Writing("/api/webhooks/1", WEBHOOK, "name"),
    ("PATCH", "/api/webhooks/{id}"): Writing("/api/webhooks/1", WEBHOOK, "name"),
    ("POST", "/api/v2/webhooks"): Writing("/api/v2/webhooks", WEBHOOK, "name"),
    ("PATCH", "/api/v2/webhooks/{id}"): Writing("/api/v2/webhooks/1", WEBHOOK, "name"),
    ("POST", "/api/v2/webhooks/{id}/redeliver"): Writing(
        "/api/v2/webhooks/1/redeliver", {"since": "2026-11-20T08:00:00Z"}, "since", MOMENT
    ),
    ("POST", "/api/v2/webhooks/{id}/rotate-secret"): Writing(
        "/api/v2/webhooks/1/rotate-secret", {"secret": "n" * 32}, "secret", SECRET
    ),
    ("POST", f"{ETSM}/transports"): Writing(f"{ETSM}/transports", TRANSPORT, "vehicle", REFERENCE),
    ("POST", f"{ETSM}/transports/{{transport_ecc}}/status"): Writing(
        f"{ETSM}/transports/OLD/status", {"status": "INCARCAT"}, "status", CALL
    ),
    ("PUT", "/api/kernel/v1/companies/{id}/modules/{module}"): Writing(
        "/api/kernel/v1/companies/1/modules/returns", {"enabled": False}, "enabled", SWITCH
    ),
    ("PATCH", "/api/articles/by-code/{code}"): Writing("/api/articles/by-code/OLD", {"name": "New"}, "name"),
}
