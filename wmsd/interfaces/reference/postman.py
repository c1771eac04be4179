"""The operations as a Postman collection (format 2.1), with a folder for each group."""

from typing import Any, Final

from wmsd.interfaces.reference.described import Described, Group, Place, Reference, pretty
from wmsd.interfaces.reference.rows import Row

SCHEMA: Final = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
FILE: Final = "wmsd.postman_collection.json"
ADDRESS: Final = "http://127.0.0.1:8480"
COMPANY: Final = "X-Company-Id"
KEY: Final = "Idempotency-Key"
VARIABLES: Final = {"address": ADDRESS, "token": "", "company": "1"}
"""Those of the collection, which every request uses."""
VALUES: Final = {COMPANY: "{{company}}", KEY: "{{$guid}}"}
Json = dict[str, Any]


def collection(reference: Reference) -> Json:
    return {
        "info": {
            "name": "wmsd",
            "description": "Set the variables of the collection: address, token and company.",
            "schema": SCHEMA,
        },
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}", "type": "string"}]},
        "variable": [{"key": name, "value": value, "type": "string"} for name, value in VARIABLES.items()],
        "item": [_folder(group) for group in reference.groups],
    }


def _folder(group: Group) -> Json:
    items = [_item(each, place) for each in group.operations for place in each.places]
    return {"name": group.title, "description": group.description, "item": items}


def _item(described: Described, place: Place) -> Json:
    declared = described.operation
    also = f" ({place.version})" if len(described.places) > 1 else ""
    request = _request(described, place)
    return {"name": f"{declared.summary}{also}", "request": request, "response": _responses(described, request)}


def _request(described: Described, place: Place) -> Json:
    declared = described.operation
    headers = [_header(row) for row in described.headers]
    request: Json = {
        "method": place.method,
        "header": headers,
        "url": _url(described, place),
        "description": f"{declared.summary}. {declared.description}".strip(),
    }
    if not declared.signed_in:
        request["auth"] = {"type": "noauth"}
    if described.sent is not None:
        headers.append({"key": "Content-Type", "value": "application/json"})
        raw = {"language": "json"}
        request["body"] = {"mode": "raw", "raw": pretty(described.sent), "options": {"raw": raw}}
    return request


def _header(row: Row) -> Json:
    """Those that have no value of themselves are switched off."""
    value = VALUES.get(row.name, "")
    is_sent = row.is_required or row.name == KEY
    return {"key": row.name, "value": value, "description": row.description, "disabled": not is_sent}


def _url(described: Described, place: Place) -> Json:
    path = [f":{part[1:-1]}" if part.startswith("{") else part for part in place.path.strip("/").split("/")]
    return {
        "raw": "/".join(["{{address}}", *path]),
        "host": ["{{address}}"],
        "path": path,
        "variable": [{"key": row.name, "value": described.example_of(row.name)} for row in described.path],
        "query": [
            {"key": row.name, "value": "", "description": row.description, "disabled": True}
            for row in described.query
        ],
    }


def _responses(described: Described, request: Json) -> list[Json]:
    if described.answered is None:
        return []
    status = next(each for each in described.statuses if each.status.startswith("2"))
    return [
        {
            "name": "Example",
            "originalRequest": request,
            "status": "Created" if status.status == "201" else "OK",
            "code": int(status.status),
            "header": [{"key": "Content-Type", "value": "application/json"}],
            "body": pretty(described.answered),
        }
    ]
