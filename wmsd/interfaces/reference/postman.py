"""The operations as a Postman collection (format 2.1), a folder for each group and one for what ends the token."""

from typing import Any, Final

from wmsd.base.strict_json import dumps
from wmsd.interfaces.reference.operations import Described, Group, Place, Reference, pretty
from wmsd.interfaces.reference.schema_rows import Row

SCHEMA: Final = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
FILE: Final = "wmsd.postman_collection.json"
ADDRESS: Final = "http://127.0.0.1:8480"
COMPANY: Final = "X-Company-Id"
KEY: Final = "Idempotency-Key"
VARIABLES: Final = {"address": ADDRESS, "token": "", "company": "1"}
"""Those of the collection, which every request uses."""
SAYS: Final = (
    "Set the variables of the collection: address, token and company. To run the whole collection, leave out the "
    "last folder: it ends the token, and every request after it is refused."
)
ENDING: Final = "Ends the token"
ENDING_SAYS: Final = (
    "What is here ends the token of the collection. Send it only when you no longer need the token, and leave "
    "this folder out when you run the whole collection."
)
VALUES: Final = {COMPANY: "{{company}}", KEY: "{{$guid}}"}
Json = dict[str, Any]


def collection(reference: Reference) -> Json:
    return {
        "info": {
            "name": "wmsd",
            "description": SAYS,
            "schema": SCHEMA,
        },
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}", "type": "string"}]},
        "variable": [{"key": name, "value": value, "type": "string"} for name, value in VARIABLES.items()],
        "item": [*(_folder(group) for group in reference.groups), _ending(reference)],
    }


def at_address(made: bytes, address: str) -> bytes:
    """The collection with the address that it was downloaded from. `address` is a scheme, a host and a port."""
    return made.replace(_variable(ADDRESS), _variable(address), 1)


def _variable(address: str) -> bytes:
    return dumps({"key": "address", "value": address}).encode()[:-1]


def _folder(group: Group) -> Json:
    items = [_item(each, place) for each in group.operations for place in each.places if not _ends_token(each)]
    return {"name": group.title, "description": group.description, "item": items}


def _ending(reference: Reference) -> Json:
    every = (each for group in reference.groups for each in group.operations if _ends_token(each))
    items = [_item(each, place) for each in every for place in each.places]
    return {"name": ENDING, "description": ENDING_SAYS, "item": items}


def _ends_token(described: Described) -> bool:
    """What changes something about the token of the request ends it."""
    return described.operation.about_token and described.operation.writes


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
