"""The types of the GraphQL schema as pages show them, and in short for the completion of names."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    Undefined,
    get_named_type,
)

from wmsd.base.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Typed:
    """An argument, or a field of an input. `of` is the name of its type without marks."""

    name: str
    type: str
    of: str
    description: str
    default: str


@dataclass(frozen=True, slots=True)
class FieldShown:
    name: str
    type: str
    of: str
    description: str
    arguments: tuple[Typed, ...]


@dataclass(frozen=True, slots=True)
class TypeShown:
    name: str
    kind: str
    """object, input, enum or scalar."""
    description: str
    fields: tuple[FieldShown, ...] = ()
    values: tuple[str, ...] = ()


def types_of(schema: GraphQLSchema) -> dict[str, TypeShown]:
    """All but those of introspection, by name."""
    names = sorted(name for name in schema.type_map if not name.startswith("__"))
    return {name: _type(schema.type_map[name]) for name in names}


def short(schema: GraphQLSchema) -> dict[str, Any]:
    """`types` has the fields of each type: the type of the field, then those of its arguments, if it has any.
    `inputs` has the fields of inputs, `enums` the values.
    """
    types, inputs, enums = {}, {}, {}
    for name, each in types_of(schema).items():
        if each.kind == "object":
            types[name] = {field.name: [field.of, *_types(field.arguments)] for field in each.fields}
        elif each.kind == "input":
            inputs[name] = {field.name: field.of for field in each.fields}
        elif each.kind == "enum":
            enums[name] = each.values
    return {"query": "Query", "mutation": "Mutation", "types": types, "inputs": inputs, "enums": enums}


def _types(arguments: Iterable[Typed]) -> Iterator[Mapping[str, str]]:
    found = {each.name: each.of for each in arguments}
    if found:
        yield found


def _type(found: GraphQLNamedType) -> TypeShown:
    said = found.description or ""
    match found:
        case GraphQLObjectType():
            return TypeShown(found.name, "object", said, tuple(map(_field, found.fields.items())))
        case GraphQLInputObjectType():
            return TypeShown(found.name, "input", said, tuple(map(_input, found.fields.items())))
        case GraphQLEnumType():
            return TypeShown(found.name, "enum", said, values=tuple(found.values))
    return TypeShown(found.name, "scalar", said)


def _field(named: tuple[str, GraphQLField]) -> FieldShown:
    name, field = named
    arguments = tuple(map(_argument, field.args.items()))
    return FieldShown(name, str(field.type), get_named_type(field.type).name, field.description or "", arguments)


def _input(named: tuple[str, GraphQLInputField]) -> FieldShown:
    name, field = named
    return FieldShown(name, str(field.type), get_named_type(field.type).name, field.description or "", ())


def _argument(named: tuple[str, GraphQLArgument]) -> Typed:
    name, found = named
    default = "" if found.default_value is Undefined else str(found.default_value)
    return Typed(name, str(found.type), get_named_type(found.type).name, found.description or "", default)
