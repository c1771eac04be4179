"""The schemas of models: plain names, no defaults, and one component for each enum."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from wmsd.contract.fields import CHOICE, Model

Schema = dict[str, Any]
Place = tuple[str, str]
"""The kind of a component, such as `schemas`, and its name."""
SCHEMAS: Final = "#/components/schemas/"
LEFT_OUT: Final = ("title", "default")
"""The keys that are left out of schemas. Code generators use titles as names, and send defaults in requests."""


def reference(name: str) -> Schema:
    return {"$ref": SCHEMAS + name}


class Schemas:
    """The schema components of a description.

    `answers` are the models of answers. A record in an answer has every field, including fields that are optional
    in a request.
    """

    def __init__(self, bodies: Iterable[type[BaseModel]], answers: Iterable[type[BaseModel]]) -> None:
        answered = dict.fromkeys(answers)
        shapes: list[tuple[type[BaseModel], JsonSchemaMode]] = [
            (model, "validation") for model in dict.fromkeys([*bodies, *answered])
        ]
        _, made = models_json_schema(shapes, ref_template=SCHEMAS + "{model}")
        found: dict[str, Schema] = made["$defs"]
        if ambiguous := [name for name in found if "__" in name]:
            raise TypeError(f"Two models have the same name: {', '.join(ambiguous)}")
        for model in answered:
            left_out = model.ONLY_WHEN_ASKED if issubclass(model, Model) else frozenset()
            found[model.__name__]["required"] = sorted(set(model.model_fields) - left_out)
        for _, name in _reachable({"schemas": found}, [("schemas", model.__name__) for model in answered]):
            if found[name].get("additionalProperties") is False:
                del found[name]["additionalProperties"]  # future versions may add fields to an answer
        self._records = sorted((model.__name__ for model in answered), key=len)
        self._choices: dict[str, Schema] = {}
        self._models = {name: self.plain(schema, name) for name, schema in found.items()}

    @property
    def components(self) -> dict[str, Schema]:
        return {**self._models, **self._choices}

    def plain(self, schema: Schema, owner: str, name: str = "") -> Schema:
        """Return the schema without the keys in `LEFT_OUT`. Turn each enum in the schema into a component.

        The component is named after the model `owner` and the field `name`. Raise TypeError if all possible names
        belong to other enums.
        """
        plain = {key: value for key, value in schema.items() if key not in LEFT_OUT}
        for key, value in plain.items():
            if key == "properties":
                plain[key] = {field: self.plain(each, owner, field) for field, each in value.items()}
            elif key in ("anyOf", "oneOf", "allOf"):
                plain[key] = [self.plain(each, owner, name) for each in value]
            elif key in ("items", "additionalProperties") and isinstance(value, dict):
                plain[key] = self.plain(value, owner, name)
        if len(plain.get("enum", ())) < 2:
            return plain
        choice = {"type": plain.pop("type"), "enum": plain.pop("enum")}
        names = [plain.pop(CHOICE)] if CHOICE in plain else self._names(owner, name.removeprefix("previous_"))
        for called in names:
            if self._choices.setdefault(called, choice) == choice:
                return {**reference(called), **plain}
        raise TypeError(f"Two choices have the same name: {', '.join(names)}")

    def _names(self, owner: str, field: str) -> list[str]:
        """Return the possible names for the component of an enum. The preferred name comes first.

        The preferred name begins with the record of the model (`SalesOrder` for `SalesOrderChanges`). The second
        name begins with the name of the model, `owner`.
        """
        record = next((record for record in self._records if owner.startswith(record)), owner)
        return [f"{each}{_capitalized(field)}" for each in dict.fromkeys([record, owner])]


def _capitalized(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def components_of(components: Mapping[str, dict[str, Schema]], *roots: object) -> dict[str, dict[str, Schema]]:
    """Return the components to which the parts `roots` of a description refer, sorted by name.

    Also return the components to which these components refer.
    """
    found = _reachable(components, (place for root in roots for place in _references(root)))
    return {
        kind: {name: members[name] for name in sorted(members) if (kind, name) in found}
        for kind, members in components.items()
    }


def _reachable(components: Mapping[str, Mapping[str, Schema]], roots: Iterable[Place]) -> set[Place]:
    """Return the kind and the name of each component in `roots`, and of each component to which these components
    refer directly or indirectly.
    """
    found: set[Place] = set()
    waiting = list(roots)
    while waiting:
        kind, name = place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting += _references(components[kind][name])
    return found


def _references(value: object) -> Iterator[Place]:
    if isinstance(value, dict):
        if isinstance(target := value.get("$ref"), str):
            _, kind, name = target.rsplit("/", 2)
            yield kind, name
        for each in value.values():
            yield from _references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)


def objects(properties: dict[str, Any], optional: Iterable[str] = ()) -> Schema:
    """Return the schema of an object with these properties."""
    required = [name for name in properties if name not in set(optional)]
    return {"type": "object", "required": required, "properties": properties}
