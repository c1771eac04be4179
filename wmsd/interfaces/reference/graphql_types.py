"""The types of the GraphQL schema. The pages show them, and the editor suggests their names."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    get_named_type,
)

KINDS: Final[Mapping[type[GraphQLNamedType], str]] = {
    GraphQLObjectType: "object",
    GraphQLInputObjectType: "input",
    GraphQLEnumType: "enum",
    GraphQLScalarType: "scalar",
}
"""The word that the pages show for each kind of type. The schema has no other kinds."""


def types_of(schema: GraphQLSchema) -> dict[str, GraphQLNamedType]:
    """Return all types by name. Leave out the types that describe the schema itself."""
    return {name: each for name, each in sorted(schema.type_map.items()) if not name.startswith("__")}


def kind_of(found: GraphQLNamedType) -> str:
    return KINDS[type(found)]


def short(schema: GraphQLSchema) -> dict[str, Any]:
    """Return the names in the schema, so that the editor can suggest them.

    `types` has the fields of each object type. The value of a field is a list: the name of the field's type and,
    if the field has arguments, a dict that maps each argument to the name of its type. `inputs` has the fields of
    each input type, with the names of their types. `enums` has the values of each enum. `query` and `mutation` are
    the names of the root types.
    """
    types, inputs, enums = {}, {}, {}
    for name, each in types_of(schema).items():
        match each:
            case GraphQLObjectType():
                types[name] = {
                    field: [get_named_type(found.type).name, *_types(found.args)]
                    for field, found in each.fields.items()
                }
            case GraphQLInputObjectType():
                inputs[name] = {field: get_named_type(found.type).name for field, found in each.fields.items()}
            case GraphQLEnumType():
                enums[name] = tuple(each.values)
    return {"query": "Query", "mutation": "Mutation", "types": types, "inputs": inputs, "enums": enums}


def _types(arguments: Mapping[str, GraphQLArgument]) -> Iterator[Mapping[str, str]]:
    if arguments:
        yield {name: get_named_type(each.type).name for name, each in arguments.items()}
