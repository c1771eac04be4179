"""The Postman collection has the shape of format 2.1, and each operation once."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from tests.support.world import World
from wmsd.interfaces.reference.postman import ENDING, SCHEMA, VARIABLES
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2

FILE = "/docs/api/wmsd.postman_collection.json"
TEXT = {"type": "string"}
NAMED = {
    "type": "object",
    "required": ["key", "value"],
    "properties": {"key": TEXT, "value": TEXT, "disabled": {"type": "boolean"}, "description": TEXT, "type": TEXT},
    "additionalProperties": False,
}
AUTH = {
    "type": "object",
    "required": ["type"],
    "properties": {"type": {"enum": ["bearer", "noauth"]}, "bearer": {"type": "array", "items": NAMED}},
    "additionalProperties": False,
}
REQUEST = {
    "type": "object",
    "required": ["method", "header", "url"],
    "properties": {
        "method": {"enum": ["GET", "PUT", "POST", "PATCH", "DELETE"]},
        "description": TEXT,
        "auth": AUTH,
        "header": {"type": "array", "items": NAMED},
        "url": {
            "type": "object",
            "required": ["raw", "host", "path"],
            "properties": {
                "raw": TEXT,
                "host": {"type": "array", "items": TEXT},
                "path": {"type": "array", "items": TEXT},
                "query": {"type": "array", "items": NAMED},
                "variable": {"type": "array", "items": NAMED},
            },
            "additionalProperties": False,
        },
        "body": {
            "type": "object",
            "required": ["mode", "raw"],
            "properties": {"mode": {"const": "raw"}, "raw": TEXT, "options": {"type": "object"}},
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
ITEM = {
    "type": "object",
    "required": ["name", "request", "response"],
    "properties": {
        "name": TEXT,
        "request": REQUEST,
        "response": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "originalRequest", "status", "code", "header", "body"],
                "properties": {
                    "name": TEXT,
                    "originalRequest": REQUEST,
                    "status": TEXT,
                    "code": {"type": "integer"},
                    "header": {"type": "array", "items": NAMED},
                    "body": TEXT,
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
COLLECTION = {
    "type": "object",
    "required": ["info", "item"],
    "properties": {
        "info": {
            "type": "object",
            "required": ["name", "schema"],
            "properties": {"name": TEXT, "description": TEXT, "schema": {"const": SCHEMA}},
            "additionalProperties": False,
        },
        "auth": AUTH,
        "variable": {"type": "array", "items": NAMED},
        "item": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "item"],
                "properties": {"name": TEXT, "description": TEXT, "item": {"type": "array", "items": ITEM}},
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
"""The parts of https://schema.getpostman.com/json/collection/v2.1.0/collection.json that the collection uses."""


async def collection_of(world: World) -> Any:
    answer = await world.send("GET", FILE, token="", company="")
    assert answer.status == 200
    assert answer.headers["Content-Disposition"] == 'attachment; filename="wmsd.postman_collection.json"'
    return answer.body


def requests_in(collection: Any) -> Iterator[dict[str, Any]]:
    for folder in collection["item"]:
        for item in folder["item"]:
            yield item["request"]


async def test_it_has_the_shape_of_the_format(world: World) -> None:
    Draft202012Validator(COLLECTION).validate(await collection_of(world))


async def test_every_operation_is_in_it_once(world: World) -> None:
    found = Counter(
        (each["method"], "/" + "/".join(each["url"]["path"])) for each in requests_in(await collection_of(world))
    )
    served = Counter((route.method, route.path.replace("{", ":").replace("}", "")) for route in (*V1, *V2))
    assert found == served
    assert set(found.values()) == {1}


async def test_folders_and_names_tell_requests_apart(world: World) -> None:
    collection = await collection_of(world)
    folders = [folder["name"] for folder in collection["item"]]
    assert folders == [*sorted({route.operation.tag for route in (*V1, *V2)}), ENDING]
    for folder in collection["item"]:
        names = [item["name"] for item in folder["item"]]
        assert len(names) == len(set(names)), folder["name"]


async def test_what_ends_the_token_stands_alone_and_last(world: World) -> None:
    """So a run of all other folders keeps its token."""
    collection = await collection_of(world)
    *others, last = collection["item"]
    paths = ["/" + "/".join(item["request"]["url"]["path"]) for item in last["item"]]
    assert (last["name"], paths) == (ENDING, ["/api/auth/revoke"])
    assert "leave out the last folder" in collection["info"]["description"]
    for folder in others:
        assert all("revoke" not in item["request"]["url"]["raw"] for item in folder["item"])


async def test_it_has_the_address_that_it_was_downloaded_from(world: World) -> None:
    async def downloaded(host: str) -> tuple[str, str]:
        answer = await world.send("GET", FILE, token="", company="", headers={"Host": host})
        return answer.body["variable"][0]["value"], answer.headers["ETag"]

    first, other = await downloaded("wms.local:9000"), await downloaded("wms.example.com")
    assert (first[0], other[0]) == ("http://wms.local:9000", "http://wms.example.com")
    assert first[1] != other[1]
    assert (await downloaded('x"}],"y'))[0] == VARIABLES["address"], "no host, so the usual one"


async def test_its_requests_are_answered_as_the_examples_say(world: World) -> None:
    """The variables of the collection are all that a request needs."""
    collection = await collection_of(world)
    variables = {each["key"]: each["value"] for each in collection["variable"]}
    assert variables == {**VARIABLES, "address": world.base_url}
    values = {"{{address}}": "", "{{company}}": str(world.company), "{{$guid}}": "key-1"}
    answered = {}
    for request in requests_in(collection):
        path = "/" + "/".join(request["url"]["path"])
        for variable in request["url"]["variable"]:
            path = path.replace(f":{variable['key']}", variable["value"])
        headers = {
            each["key"]: values.get(each["value"], each["value"])
            for each in request["header"]
            if not each.get("disabled")
        }
        token = "" if request.get("auth") == {"type": "noauth"} else world.token
        if request["method"] == "GET" or path == "/api/articles":
            raw = request["body"]["raw"].encode() if "body" in request else None
            answer = await world.send(request["method"], path, raw=raw, token=token, company="", headers=headers)
            answered[f"{request['method']} {path}"] = answer.status
    assert answered["POST /api/articles"] == 201
    assert answered["GET /api/articles"] == 200
    assert set(answered.values()) <= {200, 201, 404}, "nothing is malformed, refused or without a company"


async def test_examples_are_json(world: World) -> None:
    for request in requests_in(await collection_of(world)):
        if "body" in request:
            assert isinstance(json.loads(request["body"]["raw"]), dict)
