"""The fields of a schema as rows of a table. Fields inside other fields have rows too."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from wmsd.base.dataclass import dataclass
from wmsd.interfaces.openapi.schemas import SCHEMAS, Schema

DEEPEST: Final = 4
BETWEEN: Final = "."
EACH: Final = "[]"
ANY_INTEGER: Final = 2**53 - 1
"""The largest integer that all JSON readers keep exactly. If the maximum of a field is this number, the table
shows no maximum.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table. `name` is the path of the field, such as `lines[].quantity`."""

    name: str
    is_required: bool
    schema: Schema
    """The schema of the field, without `$ref` and `anyOf` (see `Rows.plain`). `type` is a text for people, such as
    `array of strings`. `description`, `nullable` and `enum` are always set for fields of an OpenAPI document.
    """

    @property
    def key(self) -> str:
        """The name of the field, without the path before it."""
        return self.name.rpartition(BETWEEN)[2].removesuffix(EACH)


@dataclass(frozen=True, slots=True)
class Rows:
    """Creates rows for the table. `schemas` has the named schemas of an OpenAPI document."""

    schemas: Mapping[str, Schema]

    def of_object(self, schema: Schema, prefix: str = "") -> Iterator[Row]:
        """Yield the rows for the fields of an object. After a field come the fields inside it."""
        found = self.plain(schema)
        required = found.get("required", ())
        for name, inner in found.get("properties", {}).items():
            yield from self._of_field(f"{prefix}{name}", inner, name in required)

    def of_parameter(self, parameter: Schema) -> Row:
        """Return the row of a parameter in the path, query or headers."""
        schema = {**self.plain(parameter["schema"]), "description": _said(parameter)}
        return self._row(parameter["name"], schema, parameter["required"])

    def _of_field(self, name: str, schema: Schema, is_required: bool) -> Iterator[Row]:
        plain = self.plain(schema)
        yield self._row(name, plain, is_required)
        if name.count(BETWEEN) >= DEEPEST:
            return
        members = self.plain(plain.get("items", {}))
        if "properties" in members:
            yield from self.of_object(members, f"{name}{EACH}{BETWEEN}")
        elif "properties" in plain:
            yield from self.of_object(plain, f"{name}{BETWEEN}")

    def _row(self, name: str, schema: Schema, is_required: bool) -> Row:
        kind, nullable = schema.get("type", "any"), schema.get("nullable", False)
        if isinstance(kind, list):
            nullable = nullable or "null" in kind
            kind = next(each for each in kind if each != "null")
        choices = schema.get("enum", ())
        if "const" in schema:
            kind, choices = "string", [schema["const"]]
        if kind == "array":
            members = self.plain(schema.get("items", {}))
            kind = f"array of {members.get('type', 'any')}s"
            choices = choices or members.get("enum", ())
        own = {"description": "", **schema, "type": kind, "nullable": nullable, "enum": choices}
        if schema.get("maximum") == ANY_INTEGER:
            del own["maximum"]
        return Row(name, is_required, own)

    def plain(self, schema: Schema) -> Schema:
        """Return the schema without `$ref` and `anyOf`.

        `$ref` is replaced by the schema that it names. If there is an `anyOf`, `nullable` says if it allows null.
        """
        if "$ref" in schema:
            own = {name: value for name, value in schema.items() if name != "$ref"}
            return {**self.plain(self.schemas[schema["$ref"].removeprefix(SCHEMAS)]), **own}
        options = schema.get("anyOf")
        if options is None:
            return schema
        own = {name: value for name, value in schema.items() if name != "anyOf"}
        real = [each for each in options if each.get("type") != "null"]
        found = self.plain(real[0]) if len(real) == 1 else {"type": _either(real)}
        return {**found, **own, "nullable": len(real) < len(options)}


def _either(options: list[Schema]) -> str:
    return " or ".join(dict.fromkeys(str(each.get("type", "any")) for each in options))


def _said(parameter: Schema) -> Any:
    return parameter.get("description") or parameter["schema"].get("description", "")
