"""The plan of a document: its calls and their cost. The plan is complete before the first call runs."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLObjectType,
    OperationDefinitionNode,
    OperationType,
)
from graphql.execution.values import get_variable_values
from graphql.language import DocumentNode

from wmsd.base.dataclass import dataclass
from wmsd.contract.operation import Operation
from wmsd.interfaces.graphql.limits import MOST_COST, SEARCH_COST, values_excess
from wmsd.interfaces.graphql.parser import Refused, check_excess
from wmsd.interfaces.graphql.root_fields import Field
from wmsd.interfaces.graphql.schema import Root, schema, source_of
from wmsd.interfaces.graphql.shapes import Json, Selecting, Shape, inner, object_of

PAGE: Mapping[str, str] = {"first": "per_page", "after": "cursor"}
"""Maps the arguments of a connection that select a page to the query parameters of REST."""
MOST_ERRORS = 10


@dataclass(frozen=True)
class Edges:
    """A field that the document selects in a connection. As in Relay, every list at the root is a connection.

    `key` is the key of the field in the answer, and `kind` is the name of the field.
    """

    key: str
    kind: Literal["edges", "nodes", "pageInfo", "__typename"]
    typename: str
    """The name of the GraphQL type of the field. If the field is `__typename`, this is the name of the
    connection's type.
    """
    members: Mapping[str, str] = field(default_factory=dict)
    """Only for edges and pageInfo: the fields that the document selects inside them. Maps each key in the answer
    to the name of the field.
    """
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    """The shape of the records, which says what the document selects from each record. Maps each key of the
    records in the answer to a shape.

    For `nodes`, there is one shape. For `edges`, there is a shape for each selected `node`, because a document may
    select `node` under several keys.
    """

    @property
    def cost(self) -> int:
        """The cost of one record in the list."""
        return sum(1 + shape.cost for shape in self.shapes.values())


@dataclass
class Plan:
    """The plan of a root field.

    `parts` is for a connection, and has the fields that the document selects from the connection. `shape` is for
    one record, and has the fields that the document selects from the record. If the operation returns no record,
    both are None.
    """

    key: str
    node: FieldNode
    field: Field
    arguments: Json
    shape: Shape | None = None
    parts: Sequence[Edges] | None = None
    cost: int = 1

    @property
    def operation(self) -> Operation:
        return self.field.operation

    @property
    def wants_cursors(self) -> bool:
        return any(
            part.kind in ("edges", "pageInfo") and not {"cursor", "startCursor"}.isdisjoint(part.members.values())
            for part in self.parts or ()
        )

    @property
    def needed_fields(self) -> frozenset[str] | None:
        """The fields that the document needs of each record in a connection. None if this is no connection."""
        if self.parts is None:
            return None
        shapes = (shape for part in self.parts for shape in part.shapes.values())
        return frozenset[str]().union(*(shape.needed_fields for shape in shapes))

    @property
    def wants_detail(self) -> bool:
        if self.shape is not None:
            return self.shape.wants_detail
        return any(shape.wants_detail for part in self.parts or () for shape in part.shapes.values())


@dataclass(frozen=True)
class Planned:
    """The plan of a GraphQL operation. `keys` are all keys of the answer, in order. `typenames` maps the key of
    each `__typename` field to its value. `introspection` has the fields about the schema.
    """

    operation: OperationDefinitionNode
    keys: Sequence[str]
    plans: Sequence[Plan]
    typenames: Mapping[str, str]
    introspection: Sequence[FieldNode]
    cost: int

    @property
    def is_mutation(self) -> bool:
        return self.operation.operation is OperationType.MUTATION


def operation_of(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    """Return the operation with this name, or the only operation if `name` is None.

    Raise Refused if there is no such operation.
    """
    operations = [each for each in document.definitions if isinstance(each, OperationDefinitionNode)]
    if name is None and len(operations) == 1:
        return operations[0]
    if name is None:
        raise Refused([GraphQLError("The document has several operations; send operationName.")])
    for operation in operations:
        if operation.name is not None and operation.name.value == name:
            return operation
    raise Refused([GraphQLError(f"The document has no operation {name!r}.")])


def plan_operation(document: DocumentNode, operation: OperationDefinitionNode, variables: Json) -> Planned:
    """Return the plan of an operation. Raise Refused if its variables are invalid or its cost is too high."""
    check_excess(values_excess(variables))
    found = get_variable_values(
        schema(), operation.variable_definitions or (), variables, max_errors=MOST_ERRORS, hide_suggestions=True
    )
    if isinstance(found, list):
        raise Refused(found)
    fragments = {
        each.name.value: each for each in document.definitions if isinstance(each, FragmentDefinitionNode)
    }
    selecting = Selecting(fragments, found)
    root = schema().get_root_type(operation.operation)
    assert root is not None
    typenames: dict[str, str] = {}
    introspection: list[FieldNode] = []
    plans: list[Plan] = []
    try:
        fields = selecting.fields([operation.selection_set])
        for key, nodes in fields.items():
            name = nodes[0].name.value
            if name == "__typename":
                typenames[key] = root.name
            elif name.startswith("__"):
                introspection += nodes
            else:
                plans.append(_plan(selecting, root, key, nodes))
    except GraphQLError as error:  # an argument has the wrong type, or is null although a value is required
        raise Refused([error]) from None
    cost = sum(each.cost for each in plans)
    if cost > MOST_COST:
        raise Refused(
            [GraphQLError(f"The query costs {cost}, but the limit is {MOST_COST}. Request shorter lists.")]
        )
    return Planned(operation, list(fields), plans, typenames, introspection, cost)


def _plan(selecting: Selecting, root: GraphQLObjectType, key: str, nodes: Sequence[FieldNode]) -> Plan:
    declared = root.fields[nodes[0].name.value]
    source = source_of(declared)
    assert isinstance(source, Root)
    made = Plan(key, nodes[0], source.field, selecting.arguments(declared, nodes[0]))
    if source.of is None:
        return made
    if source.field.operation.answer == "cursor":
        parts = _parts(selecting, object_of(declared), source.of, nodes)
        made.parts = parts
        size = sum(part.cost for part in parts)
        made.cost = made.arguments["first"] * max(size, 1)
        if made.arguments.get("search") is not None:
            made.cost += SEARCH_COST
    else:
        made.shape = selecting.shape(source.of, nodes)
        made.cost = 1 + made.shape.cost
    return made


def _parts(
    selecting: Selecting, connection: GraphQLObjectType, of: GraphQLObjectType, nodes: Sequence[FieldNode]
) -> list[Edges]:
    return [_part(selecting, connection, of, key, same) for key, same in selecting.fields(inner(nodes)).items()]


def _part(
    selecting: Selecting,
    connection: GraphQLObjectType,
    of: GraphQLObjectType,
    key: str,
    nodes: Sequence[FieldNode],
) -> Edges:
    match nodes[0].name.value:
        case "edges":
            members = selecting.fields(inner(nodes))
            shapes = {
                member: selecting.shape(of, same)
                for member, same in members.items()
                if same[0].name.value == "node"
            }
            return Edges(key, "edges", f"{of.name}Edge", _names(members), shapes)
        case "nodes":
            return Edges(key, "nodes", of.name, shapes={key: selecting.shape(of, nodes)})
        case "pageInfo":
            return Edges(key, "pageInfo", "PageInfo", _names(selecting.fields(inner(nodes))))
        case _:
            return Edges(key, "__typename", connection.name)


def _names(members: Mapping[str, Sequence[FieldNode]]) -> dict[str, str]:
    return {key: same[0].name.value for key, same in members.items()}
