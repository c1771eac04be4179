"""The examples of bodies and answers, generated from their schemas with the values of `example_values.py`."""

from collections.abc import Iterable, Mapping
from typing import Any

from wmsd.contract.route import Route
from wmsd.interfaces.openapi.example_values import FIELDS, MOMENT, OF_MODEL, SENT
from wmsd.interfaces.openapi.schemas import Schema


def add_examples(
    routes: Iterable[Route],
    paths: Mapping[str, Schema],
    webhooks: Mapping[str, Schema],
    schemas: Mapping[str, Schema],
) -> None:
    """Add an example to each body, and to each successful answer."""
    made = _Examples(schemas)
    for route in routes:
        operation = paths[route.path][route.method.lower()]
        if "requestBody" in operation:
            made.add(operation["requestBody"], is_sent=True)
        for status, response in operation["responses"].items():
            if status.startswith("2") and "content" in response:
                made.add(response)
    for webhook in webhooks.values():
        made.add(webhook["post"]["requestBody"])


class _Examples:
    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self._schemas = schemas

    def add(self, described: Schema, is_sent: bool = False) -> None:
        for content in described["content"].values():
            content["example"] = self._of(content["schema"], "", "", is_sent)

    def _of(self, schema: Schema, model: str, field: str, is_sent: bool) -> Any:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            target = self._schemas[name]
            if "properties" in target:
                return self._object(target, name, is_sent)
            return _first_known(_known(model, field), target["enum"])
        if "properties" in schema:
            return self._object(schema, model, is_sent)
        if schema.get("type") == "array" and "$ref" in schema["items"]:
            value = self._of(schema["items"], model, field, is_sent)
            return value if isinstance(value, list) else [value]
        if "const" in schema:
            return schema["const"]
        if "anyOf" in schema:
            return self._either(schema["anyOf"], model, field, is_sent)
        if schema.get("format") == "date-time" and field not in FIELDS:
            return MOMENT
        found = _known(model, field)
        return _plainest(schema) if found is _UNKNOWN else found

    def _either(self, options: list[Schema], model: str, field: str, is_sent: bool) -> Any:
        found = _known(model, field)
        if found is not _UNKNOWN and (found is None or not any("$ref" in option for option in options)):
            return found
        if found is _UNKNOWN and not any("$ref" in option for option in options):
            return None
        return self._of(options[0], model, field, is_sent)

    def _object(self, schema: Schema, model: str, is_sent: bool) -> dict[str, Any]:
        shown = {*schema.get("required", ()), *SENT.get(model, ())} if is_sent else schema["properties"].keys()
        return {
            name: self._of(inner, model, name, is_sent)
            for name, inner in schema["properties"].items()
            if name in shown
        }


_UNKNOWN: Any = object()


def _known(model: str, field: str) -> Any:
    """Return the example value of a field, or `_UNKNOWN`. A value for this model takes precedence over a value for
    all models.
    """
    for name in sorted((name for name in OF_MODEL if model.startswith(name)), key=len, reverse=True):
        if field in OF_MODEL[name]:
            return OF_MODEL[name][field]
    return FIELDS.get(field, _UNKNOWN)


def _first_known(found: Any, values: list[str]) -> Any:
    is_known = found in values if isinstance(found, str) else isinstance(found, list)
    return found if is_known else values[0]


def _plainest(schema: Schema) -> Any:
    kind = schema.get("type")
    return {"boolean": True, "integer": 1, "number": 1, "array": [], "object": {}}.get(str(kind), "text")
