"""Converts records to objects of a GraphQL answer. A `Shape` says which fields of a record the document selects.

wmsd computes each shape once, and uses it for every record.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLField,
    GraphQLIncludeDirective,
    GraphQLObjectType,
    GraphQLSkipDirective,
    get_named_type,
)
from graphql.execution.values import VariableValues, get_argument_values, get_directive_values
from graphql.language import FragmentSpreadNode, InlineFragmentNode, SelectionSetNode

from wmsd.base.dataclass import dataclass
from wmsd.interfaces.graphql.limits import MOST_OBJECTS
from wmsd.interfaces.graphql.root_fields import Collection
from wmsd.interfaces.graphql.schema import MOST, Embedded, Leaf, source_of
from wmsd.warehouse.references_by_id import Reference

Json = dict[str, Any]
TOO_MUCH: Final = f"The answer would have over {MOST_OBJECTS} objects, or be too large. Request shorter lists."


class Failed(Exception):
    """The error for a field that gets no value. Its call was refused, or the answer would be too large."""

    def __init__(self, message: str, code: str, more: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.more = more


def too_much() -> Failed:
    return Failed(TOO_MUCH, "VALIDATION_FAILED", {})


@dataclass(frozen=True)
class Link:
    """A selected field that contains one related record (a reference), or a list of them (a collection). The
    related records are loaded together, for all records that have the field.

    `first` is the largest number of related records that one record gets.
    """

    key: str
    source: Reference | Collection
    shape: "Shape"
    first: int = 1

    @property
    def id_field(self) -> str:
        """The name of the field that identifies the related records. It is a field of the record that has the
        link.

        For a reference, the field contains the id of the related record. For a collection, the field is the
        record's own id, to which the related records refer.
        """
        return self.source.id_field if isinstance(self.source, Reference) else "id"


@dataclass(frozen=True)
class Part:
    """A selected field that is an object, or a list of objects, inside a record.

    `key` is the key in the answer, and `name` the name of the field.
    """

    key: str
    name: str
    is_list: bool
    shape: "Shape"


@dataclass
class Shape:
    """The fields that a document selects from a record.

    `names` maps the keys of the answer to the record's fields, in the order of the answer. The value of most
    fields is copied. `constants`, `ids`, `parts` and `links` describe the fields for which a copy is not enough.
    """

    names: dict[str, str] = field(default_factory=dict)
    constants: Json = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    wants_detail: bool = False
    cost: int = 0
    """The cost of the embedded objects and of the related records, for one record."""

    @property
    def needed_fields(self) -> frozenset[str]:
        """The fields of the record that the answer needs."""
        return frozenset(self.names.values())


@dataclass(frozen=True)
class Selecting:
    """The fragments and variables of a document. They determine which fields a selection contains."""

    fragments: Mapping[str, FragmentDefinitionNode]
    variables: VariableValues

    def fields(self, selections: Sequence[SelectionSetNode]) -> dict[str, list[FieldNode]]:
        """Return the selected fields by their key in the answer (CollectFields in the GraphQL specification).

        Type conditions of fragments need no check: all types are object types, so valid conditions always fit.
        """
        found: dict[str, list[FieldNode]] = {}
        spread: set[str] = set()
        for selection_set in selections:
            for node in self._chosen(selection_set, spread):
                found.setdefault((node.alias or node.name).value, []).append(node)
        return found

    def _chosen(self, selection_set: SelectionSetNode, spread: set[str]) -> Iterator[FieldNode]:
        for each in selection_set.selections:
            if not self._is_included(each):
                continue
            if isinstance(each, FieldNode):
                yield each
            elif isinstance(each, FragmentSpreadNode):
                if each.name.value not in spread:
                    spread.add(each.name.value)
                    yield from self._chosen(self.fragments[each.name.value].selection_set, spread)
            elif isinstance(each, InlineFragmentNode):
                yield from self._chosen(each.selection_set, spread)

    def _is_included(self, node: Any) -> bool:
        if not node.directives:
            return True
        skip = get_directive_values(GraphQLSkipDirective, node, self.variables)
        include = get_directive_values(GraphQLIncludeDirective, node, self.variables)
        return not (skip and skip["if"]) and (include is None or bool(include["if"]))

    def arguments(self, declared: GraphQLField, node: FieldNode) -> Json:
        """Return the arguments of a field. Raise GraphQLError if an argument is invalid."""
        found = get_argument_values(declared, node, self.variables)
        first = found.get("first", MOST)
        if not 1 <= first <= MOST:
            raise GraphQLError(f"Argument 'first' is {first}; 1 to {MOST} are allowed.", node)
        return found

    def shape(self, of: GraphQLObjectType, nodes: Sequence[FieldNode]) -> Shape:
        """Return the shape of records whose type is `of`.

        `nodes` are the fields of the document that select this record. A document may repeat a field, so there may
        be several nodes.
        """
        shape = Shape()
        for key, same in self.fields(inner(nodes)).items():
            name = same[0].name.value
            if name == "__typename":
                shape.names[key] = next(iter(of.fields))  # a placeholder until the constant replaces it
                shape.constants[key] = of.name
                continue
            self._add(shape, key, of.fields[name], same)
        return shape

    def _add(self, shape: Shape, key: str, declared: GraphQLField, nodes: list[FieldNode]) -> None:
        source = source_of(declared)
        match source:
            case Leaf():
                shape.names[key] = source.name
                shape.wants_detail |= source.is_asked_for
                if source.is_id:
                    shape.ids.append(key)
            case Embedded():
                shown = self.shape(object_of(declared), nodes)
                shape.names[key] = source.name
                shape.wants_detail |= source.is_asked_for
                shape.parts.append(Part(key, source.name, source.is_list, shown))
                shape.cost += 1 + shown.cost
            case Reference():
                shown = self.shape(object_of(declared), nodes)
                shape.names[key] = source.id_field
                shape.links.append(Link(key, source, shown))
                shape.cost += 1 + shown.cost
            case Collection():
                shown = self.shape(object_of(declared), nodes)
                first = self.arguments(declared, nodes[0])["first"]
                shape.names[key] = "id"
                shape.links.append(Link(key, source, shown, first))
                shape.cost += first * (1 + shown.cost)


def inner(nodes: Sequence[FieldNode]) -> list[SelectionSetNode]:
    return [node.selection_set for node in nodes if node.selection_set is not None]


def object_of(declared: GraphQLField) -> GraphQLObjectType:
    found = get_named_type(declared.type)
    assert isinstance(found, GraphQLObjectType)
    return found


@dataclass
class Projection:
    """Converts records to objects of the answer. `waiting` says which related records must still be loaded."""

    waiting: dict[int, tuple[Link, list[tuple[Json, int]]]] = field(default_factory=dict)
    """The links whose related records are not loaded yet. The key is the Python `id()` of the link.

    Each link has a list of pairs: an object of the answer that needs related records, and its value of the field
    `Link.id_field`.
    """
    objects: int = 0

    def of(self, shape: Shape, record: Json) -> Json:
        return self.all_of(shape, [record])[0]

    def all_of(self, shape: Shape, records: Sequence[Json]) -> list[Json]:
        """Return an object of the answer for each record. Raise Failed if the answer would be too large."""
        self.objects += len(records)
        if self.objects > MOST_OBJECTS:
            raise too_much()
        names = list(shape.names.items())
        all_shown = [{key: record[name] for key, name in names} for record in records]
        for key in shape.ids:
            for shown in all_shown:
                if (number := shown[key]) is not None:
                    shown[key] = str(number)
        for part in shape.parts:
            self._embed(part, all_shown)
        for link in shape.links:
            self._note(link, all_shown)
        if shape.constants:
            for shown in all_shown:
                shown.update(shape.constants)
        return all_shown

    def _embed(self, part: Part, all_shown: Sequence[Json]) -> None:
        """Convert the objects that all these records contain in one field, in one step."""
        key = part.key
        holders = [shown for shown in all_shown if shown[key] is not None]
        if not part.is_list:
            objects = self.all_of(part.shape, [holder[key] for holder in holders])
            for holder, each in zip(holders, objects, strict=True):
                holder[key] = each
            return
        objects = self.all_of(part.shape, [each for holder in holders for each in holder[key]])
        start = 0
        for holder in holders:
            end = start + len(holder[key])
            holder[key] = objects[start:end]
            start = end

    def _note(self, link: Link, all_shown: Sequence[Json]) -> None:
        waiting, key = self.waiting.setdefault(id(link), (link, []))[1], link.key
        for shown in all_shown:
            referred = shown[key]
            shown[key] = None
            if referred is not None:
                waiting.append((shown, referred))

    def taken(self) -> list[tuple[Link, list[tuple[Json, int]]]]:
        """Return the links in `waiting` with their objects, and empty `waiting`."""
        found = [(link, waiting) for link, waiting in self.waiting.values() if waiting]
        self.waiting = {}
        return found
