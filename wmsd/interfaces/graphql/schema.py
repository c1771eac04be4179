"""The GraphQL schema, generated from the table of root fields. Each field carries the source of its values."""

from collections.abc import Callable
from functools import cache
from typing import Any, Final, get_args, get_origin

from graphql import (
    GraphQLArgument,
    GraphQLBoolean,
    GraphQLField,
    GraphQLID,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLString,
    assert_valid_schema,
    print_schema,
)
from pydantic import BaseModel

from wmsd.base.dataclass import dataclass
from wmsd.contract.access import SUFFICES
from wmsd.contract.operation import Operation
from wmsd.interfaces.graphql.root_fields import (
    COLLECTIONS,
    MUTATIONS,
    QUERIES,
    TYPE_NAMES,
    Collection,
    Field,
)
from wmsd.interfaces.graphql.types import Plain, Types, own_description, plain_type
from wmsd.warehouse.references_by_id import REFERENCES, Reference

SOURCE: Final = "wmsd"
"""The key in `GraphQLField.extensions` for the `Source` of a field."""
FIRST: Final = 50
MOST: Final = 500
PAGING: Final = frozenset({"cursor", "per_page", "detail"})
COMMAS: Final = ", separated by commas"


@dataclass(frozen=True, slots=True)
class Leaf:
    """The source of a field that is a single value of a record. Ids are sent as strings."""

    name: str
    is_id: bool
    is_asked_for: bool
    """True if records contain this value only on request, by the parameter `detail`."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The source of a field that is an object, or a list of objects, inside a record."""

    name: str
    is_list: bool
    is_asked_for: bool


@dataclass(frozen=True, slots=True)
class Root:
    """The source of a root field: the answer of an operation. `of` is the type of its records, or None if the
    answer has no records.
    """

    field: Field
    of: GraphQLObjectType | None


Source = Leaf | Embedded | Reference | Collection | Root


def source_of(field: GraphQLField) -> Source:
    found: Source = field.extensions[SOURCE]
    return found


class Objects:
    """Creates the GraphQL type of each model. A type is created only once."""

    def __init__(self) -> None:
        self.types = Types(TYPE_NAMES)
        self._made: dict[str, GraphQLObjectType] = {}
        self._connections: dict[str, GraphQLObjectType] = {}
        self._page_info = GraphQLObjectType(
            "PageInfo",
            {
                "hasNextPage": GraphQLField(GraphQLNonNull(GraphQLBoolean)),
                "hasPreviousPage": GraphQLField(GraphQLNonNull(GraphQLBoolean)),
                "startCursor": GraphQLField(GraphQLString),
                "endCursor": GraphQLField(GraphQLString),
                "asOf": GraphQLField(
                    GraphQLString,
                    description="The time of this answer: later changes have a later `updated_at`. Only in "
                    "lists with `updated_since`.",
                ),
            },
            description="The position of a page in its list (Relay's cursor connections).",
        )

    def of(self, model: type[BaseModel]) -> GraphQLObjectType:
        name = self.types.name_of(model)
        if name not in self._made:
            self._made[name] = GraphQLObjectType(
                name, lambda: self._fields(model), description=own_description(model)
            )
        return self._made[name]

    def _fields(self, model: type[BaseModel]) -> dict[str, GraphQLField]:
        fields: dict[str, GraphQLField] = {}
        for name, declared in model.model_fields.items():
            found = plain_type(declared.annotation, tuple(declared.metadata))
            is_asked_for = name in getattr(model, "ONLY_WHEN_ASKED", ())
            fields[name] = self._field(model, name, found, declared.description, is_asked_for)
            for reference in REFERENCES:
                if reference.id_field == name and reference.name not in model.model_fields:
                    fields[reference.name] = self._reference(reference)
        for collection in COLLECTIONS:
            if self.types.name_of(collection.of) == self.types.name_of(model):
                fields[collection.name] = self._collection(collection)
        return fields

    def _field(
        self, model: type[BaseModel], name: str, found: Plain, description: str | None, is_asked_for: bool
    ) -> GraphQLField:
        is_list = get_origin(found.base) is list
        member = plain_type(get_args(found.base)[0]) if is_list else found
        source: Source
        if isinstance(member.base, type) and issubclass(member.base, BaseModel):
            kind: Any = self.of(member.base)
            source = Embedded(name, is_list, is_asked_for)
        else:
            kind = self.types.scalar(name, member, self.types.name_of(model))
            source = Leaf(name, kind is GraphQLID, is_asked_for)
        if is_list:
            kind = GraphQLList(kind if member.is_optional else GraphQLNonNull(kind))
        return GraphQLField(
            kind if found.is_optional else GraphQLNonNull(kind),
            description=description,
            extensions={SOURCE: source},
        )

    def _reference(self, reference: Reference) -> GraphQLField:
        assert reference.find.returns is not None
        return GraphQLField(self.of(reference.find.returns), extensions={SOURCE: reference})

    def _collection(self, collection: Collection) -> GraphQLField:
        assert collection.find.returns is not None
        kind = self.of(collection.find.returns)
        description = f"The first records of the list. Needs {collection.find.ability}."
        return GraphQLField(
            GraphQLList(GraphQLNonNull(kind)),
            {"first": _first(collection.first)},
            description=description,
            extensions={SOURCE: collection},
        )

    # --- root fields --------------------------------------------------------------------------------------------

    def root(self, field: Field) -> GraphQLField:
        operation = field.operation
        of = None if operation.returns is None else self.of(operation.returns)
        kind: Any = of
        if of is None:
            kind = GraphQLBoolean
        elif operation.answer == "cursor":
            kind = self._connection(of)
        return GraphQLField(
            kind,
            self._arguments(field, "" if of is None else of.name),
            description=_described(operation),
            extensions={SOURCE: Root(field, of)},
        )

    def _connection(self, of: GraphQLObjectType) -> GraphQLObjectType:
        if of.name not in self._connections:
            edge = GraphQLObjectType(
                f"{of.name}Edge",
                {
                    "cursor": GraphQLField(GraphQLNonNull(GraphQLString)),
                    "node": GraphQLField(GraphQLNonNull(of)),
                },
            )
            self._connections[of.name] = GraphQLObjectType(
                f"{of.name}Connection",
                {
                    "edges": GraphQLField(GraphQLNonNull(_list_of(edge))),
                    "nodes": GraphQLField(
                        GraphQLNonNull(_list_of(of)), description="The records of the edges, without cursors."
                    ),
                    "pageInfo": GraphQLField(GraphQLNonNull(self._page_info)),
                },
            )
        return self._connections[of.name]

    def _arguments(self, field: Field, owner: str) -> dict[str, GraphQLArgument]:
        operation = field.operation
        found = {
            name: GraphQLArgument(GraphQLNonNull(GraphQLID if kind is int else GraphQLString))
            for name, kind in operation.path_types.items()
        }
        if operation.answer == "cursor":
            found["first"] = _first(FIRST)
            found["after"] = GraphQLArgument(GraphQLString, description="Continue after this cursor.")
        if operation.query is not None:
            found |= self._filters(field, operation.query, owner)
        if operation.body is not None:
            found["input"] = GraphQLArgument(GraphQLNonNull(self.types.input_type(operation.body)))
        return found

    def _filters(self, field: Field, query: type[BaseModel], owner: str) -> dict[str, GraphQLArgument]:
        called = {parameter: argument for argument, parameter in field.renamed.items()}
        return {
            called.get(name, name): GraphQLArgument(
                self._filter(
                    field.operation, name, plain_type(declared.annotation, tuple(declared.metadata)), owner
                ),
                description=(declared.description or "").replace(COMMAS, "") or None,
            )
            for name, declared in query.model_fields.items()
            if name not in PAGING
        }

    def _filter(self, operation: Operation, name: str, found: Plain, owner: str) -> Any:
        """Return the GraphQL type of a filter. If REST has a text of names separated by commas, GraphQL has a
        list.
        """
        if get_origin(found.base) is not tuple:
            return self.types.scalar(name, found, owner)
        assert operation.returns is not None
        member = operation.returns.model_fields.get(name)
        if member is None:
            return GraphQLList(GraphQLNonNull(GraphQLString))
        kind = self.types.scalar(name, plain_type(member.annotation), owner)
        return GraphQLList(GraphQLNonNull(kind))


def _first(default: int) -> GraphQLArgument:
    return GraphQLArgument(
        GraphQLNonNull(GraphQLInt), default_value=default, description=f"The number of records, 1 to {MOST}."
    )


def _list_of(kind: GraphQLObjectType) -> GraphQLList[Any]:
    return GraphQLList(GraphQLNonNull(kind))


def _described(operation: Operation) -> str:
    needs = f" Needs {_needed(operation.ability)}." if operation.ability is not None else ""
    return f"{operation.summary}.{needs}"


def _needed(ability: str) -> str:
    """Return the ability that a token needs, as text.

    A setting can demand a stricter ability. In this case the text names both abilities, because the schema is the
    same in all installations.
    """
    if ability not in SUFFICES:
        return ability
    return f"{SUFFICES[ability]}, or {ability} if the setting returns.require_write_ability is on"


def _object(name: str, fields: tuple[Field, ...], root: Callable[[Field], GraphQLField]) -> GraphQLObjectType:
    return GraphQLObjectType(name, {field.name: root(field) for field in fields})


@cache
def schema() -> GraphQLSchema:
    objects = Objects()
    made = GraphQLSchema(
        query=_object("Query", QUERIES, objects.root), mutation=_object("Mutation", MUTATIONS, objects.root)
    )
    assert_valid_schema(made)
    return made


@cache
def schema_text() -> str:
    """Return the schema in the schema definition language."""
    return f"{print_schema(schema())}\n"
