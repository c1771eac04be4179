"""The data that the reference displays about operations, collected from the routes and their descriptions."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.access import needed_ability
from wmsd.contract.operation import Operation
from wmsd.contract.route import Route
from wmsd.contract.tags import TAGS
from wmsd.events.outbox.events import EVENTS
from wmsd.interfaces.openapi.schemas import Schema
from wmsd.interfaces.reference.schema_rows import Row, Rows

ADDRESS: Final = "/docs/api"
JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Version:
    """A version of the API: its name in addresses, its routes, and its OpenAPI document."""

    name: str
    routes: Sequence[Route]
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """A place where an operation is served: a version and a route."""

    version: str
    route: Route

    @property
    def until(self) -> str:
        """The day until which a deprecated operation works, or "" for other operations."""
        deprecation = self.route.deprecation
        return "" if deprecation is None else f"{deprecation.until:%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class Described:
    operation: Operation
    places: tuple[Place, ...]
    ability: str | None
    """The ability that callers need in this installation, or None if the operation needs no ability."""
    modules: tuple[str, ...]
    path: tuple[Row, ...]
    query: tuple[Row, ...]
    headers: tuple[Row, ...]
    body: tuple[Row, ...]
    answer: tuple[Row, ...]
    statuses: tuple[Mapping[str, Any], ...]
    """The possible answers. Each has `status`, `description` and `headers`. An error also has its `codes`."""
    sent: Any
    """The example of a request body, or None."""
    answered: Any
    """The example of an answer, or None."""

    @property
    def name(self) -> str:
        return self.operation.name

    @property
    def group(self) -> str:
        return slug(self.operation.tag)

    @property
    def address(self) -> str:
        return f"{ADDRESS}/{self.group}/{self.name}"

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(code for each in self.statuses for code in each["codes"]))

    @property
    def words(self) -> tuple[str, ...]:
        """The names of all fields and parameters."""
        rows = (*self.path, *self.query, *self.body, *self.answer)
        return tuple(sorted({row.key for row in rows} - {""}))

    def example_of(self, parameter: str) -> str:
        """Return an example value for the path parameter `parameter`.

        If the example answer has a field with the same name, return its value. Otherwise return "1".
        """
        known = self.answered if isinstance(self.answered, dict) else {}
        return str(known.get(parameter) or 1)


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    description: str
    operations: tuple[Described, ...]

    @property
    def name(self) -> str:
        return slug(self.title)

    @property
    def address(self) -> str:
        return f"{ADDRESS}/{self.name}"


@dataclass(frozen=True, slots=True)
class Reference:
    groups: tuple[Group, ...]
    events: tuple[Mapping[str, Any], ...]
    """The data that webhooks send. An item stands for all events with the same data.

    `names` and `meanings` of an item list these events. `rows` are the fields of the data.
    """
    headers: Mapping[str, str]
    """The meanings of the headers of answers, by name."""
    abilities: Mapping[str, str]
    by_name: Mapping[str, Described]

    @property
    def operations(self) -> Iterable[Described]:
        return self.by_name.values()

    def emitting(self, event: str) -> list[Described]:
        return [each for each in self.operations if event in each.operation.events]

    def answering(self, code: str) -> list[Described]:
        return [each for each in self.operations if code in each.codes]


def slug(title: str) -> str:
    return title.lower().replace(" ", "-")


def reference_of(versions: Sequence[Version], abilities: Mapping[str, str]) -> Reference:
    """Return the reference for these versions of the API.

    `abilities` are the abilities of the installation, with their meanings. The events are described by the OpenAPI
    document of the last version.
    """
    found: dict[str, Described] = {}
    for version in versions:
        rows = Rows(version.document["components"]["schemas"])
        for route in version.routes:
            known, place = found.get(route.operation.name), Place(version.name, route)
            if known is None:
                found[route.operation.name] = _described(place, version, rows, abilities)
            else:
                found[route.operation.name] = replace(known, places=(*known.places, place))
    tags = dict.fromkeys(each.operation.tag for each in found.values())
    groups = (
        Group(tag, TAGS[tag].description, tuple(each for each in found.values() if each.operation.tag == tag))
        for tag in sorted(tags)
    )
    headers = {
        name: header["description"]
        for version in versions
        for name, header in version.document["components"]["headers"].items()
    }
    return Reference(tuple(groups), _events(versions[-1].document), headers, abilities, found)


def _described(place: Place, version: Version, rows: Rows, abilities: Mapping[str, str]) -> Described:
    declared = place.route.operation
    described = version.document["paths"][place.route.path][place.route.method.lower()]
    parameters = [(each["in"], rows.of_parameter(each)) for each in described["parameters"]]
    body = described.get("requestBody", {}).get("content", {}).get(JSON, {})
    good: Schema = next((each for status, each in described["responses"].items() if status.startswith("2")), {})
    content = good.get("content", {}).get(JSON, {})
    is_of_company = declared.scope == "company"
    return Described(
        operation=declared,
        places=(place,),
        ability=needed_ability(declared.ability, abilities),
        modules=tuple(dict.fromkeys((declared.module or "api", "api"))) if is_of_company else (),
        path=tuple(row for where, row in parameters if where == "path"),
        query=tuple(row for where, row in parameters if where == "query"),
        headers=tuple(row for where, row in parameters if where == "header"),
        body=tuple(rows.of_object(body["schema"])) if body else (),
        answer=tuple(rows.of_object(content["schema"])) if content else (),
        statuses=tuple(
            _status(status, each) for status, each in described["responses"].items() if status.isdigit()
        ),
        sent=body.get("example"),
        answered=content.get("example"),
    )


def _status(status: str, response: Schema) -> Mapping[str, Any]:
    codes = tuple(response.get("content", {}).get(JSON, {}).get("examples", {}))
    return {"headers": (), **response, "status": status, "codes": codes}


def _events(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    schemas = document["components"]["schemas"]
    rows = Rows(schemas)
    by_data: dict[str, list[str]] = {}
    bodies = {}
    for event, item in document["components"]["pathItems"].items():
        content = item["post"]["requestBody"]["content"][JSON]
        bodies[event] = content
        envelope = rows.plain(content["schema"])
        by_data.setdefault(envelope["properties"]["data"]["$ref"], []).append(event)
    return tuple(
        {
            "names": names,
            "meanings": [EVENTS[name] for name in names],
            "rows": list(rows.of_object(schemas[data.rpartition("/")[2]], "data.")),
            "example": bodies[names[0]]["example"],
        }
        for data, names in by_data.items()
    )


def pretty(example: Any) -> str:
    return json.dumps(example, ensure_ascii=False, indent=2)
