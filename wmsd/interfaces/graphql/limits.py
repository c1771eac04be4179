"""The limits of a document.

The text of a document is measured before it is parsed. The parsed document is measured before it is validated. So
a hostile document cannot make parsing or validation take very long (decisions, section 4).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any, Final

from graphql import DocumentNode, FieldNode, FragmentDefinitionNode, OperationDefinitionNode
from graphql.language import (
    DirectiveNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    ListValueNode,
    ObjectValueNode,
    SelectionNode,
    SelectionSetNode,
    ValueNode,
)

from wmsd.base.dataclass import dataclass

MOST_CHARACTERS: Final = 20_000
MOST_TOKENS: Final = 1_000
MOST_NESTED: Final = 50
"""The most levels of nested brackets of any kind.

Also the most levels of nested selections. A fragment counts as if the document repeated its text at each use.
"""
DEEPEST: Final = 8
"""The most levels of fields. Fields that begin with `__` have a separate limit."""
DEEPEST_INTROSPECTION: Final = 16
MOST_ALIASES: Final = 30
MOST_FIELDS: Final = 250
"""The most fields. The fields of a fragment count each time the fragment is used."""
MOST_OPERATIONS: Final = 10
MOST_FRAGMENTS: Final = 30
MOST_SPREADS: Final = 100
"""The most uses of fragments, including inline fragments."""
MOST_DIRECTIVES: Final = 50
MOST_REPEATED: Final = 20
"""The most fields with the same key as an earlier field of their selection.

Validation compares each of these fields with all others of the same key.
"""
MOST_ARGUMENTS: Final = 20
"""The most arguments of one field or directive."""
MOST_VARIABLES: Final = 100
MOST_LITERALS: Final = 300
"""The most values inside lists and objects in the text of the document. Values in variables do not count."""
MOST_VALUES: Final = 10_000
"""The most values in the variables, including values inside lists and objects."""
MOST_LISTED: Final = 100_000
"""The most values about the schema in one answer. `LISTED` is used to estimate the number. The limit is twice the
number that GraphiQL needs.
"""
MOST_COST: Final = 1_000
SEARCH_COST: Final = 150
"""The cost of a word search, in addition to the cost of the records that it returns."""
MOST_OBJECTS: Final = 10_000
"""The most objects in an answer. The lines of orders and other records count too."""
MOST_BYTES: Final = 8_000_000
"""The most bytes of all records that are read for an answer."""
MOST_AT_ONCE: Final = 4
"""The most root fields of a document that are read at the same time."""
MOST_SECONDS: Final = 20.0
"""The most seconds for a document with queries. A document with mutations has no time limit."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a selection, including the fragments that it uses."""

    depth: int = 0
    introspection_depth: int = 0
    nested: int = 0
    """The levels of nesting. An inline fragment counts as a level here, but adds nothing to `depth`."""
    fields: int = 0
    aliases: int = 0
    spreads: int = 0
    directives: int = 0
    repeated: int = 0
    arguments: int = 0
    literals: int = 0
    listed: float = 0
    """An estimate of the number of values that the selection adds to the answer. It matters only for selections
    about the schema.
    """
    introspected: float = 0
    """The sum of the estimates `listed` for all selections about the schema."""

    def beside(self, other: "Size") -> "Size":
        return Size(
            max(self.depth, other.depth),
            max(self.introspection_depth, other.introspection_depth),
            max(self.nested, other.nested),
            self.fields + other.fields,
            self.aliases + other.aliases,
            self.spreads + other.spreads,
            self.directives + other.directives,
            self.repeated + other.repeated,
            max(self.arguments, other.arguments),
            self.literals + other.literals,
            self.listed + other.listed,
            self.introspected + other.introspected,
        )


NOTHING: Final = Size()
SPREAD: Final = Size(spreads=1)
LIMITS: Final = (
    ("depth", DEEPEST, "The query is {found} fields deep; {most} are allowed."),
    (
        "introspection_depth",
        DEEPEST_INTROSPECTION,
        "The query about the schema is {found} fields deep; {most} are allowed.",
    ),
    ("nested", MOST_NESTED, "The query has {found} nested levels, including fragments; {most} are allowed."),
    ("fields", MOST_FIELDS, "The query has {found} fields, including fragments; {most} are allowed."),
    ("aliases", MOST_ALIASES, "The query has {found} aliases; {most} are allowed."),
    ("spreads", MOST_SPREADS, "The query uses fragments {found} times; {most} times are allowed."),
    ("directives", MOST_DIRECTIVES, "The query has {found} directives; {most} are allowed."),
    ("repeated", MOST_REPEATED, "The query repeats {found} fields within a selection; {most} are allowed."),
    ("arguments", MOST_ARGUMENTS, "A field has {found} arguments; {most} are allowed."),
    (
        "literals",
        MOST_LITERALS,
        "The query has {found} values in lists and objects; {most} are allowed. Use variables.",
    ),
    (
        "introspected",
        MOST_LISTED,
        "The query requests too much of the schema. GET /api/graphql/schema returns the whole schema.",
    ),
)
LISTED: Final[Mapping[str, float]] = {
    "types": 60,
    "fields": 12,
    "args": 4,
    "inputFields": 12,
    "enumValues": 6,
    "directives": 4,
    "ofType": 0.5,
}
"""For fields about the schema: the average number of values in the list that the field returns."""
TOKEN: Final = re.compile(
    r"""
    (?: [\s,\ufeff]++ | \#[^\r\n]*+ )*+    # blanks and comments
    (
        "{3} (?: \\"{3} | [^"] | "(?!"") )*+ (?:"{3})?
        | " (?: \\. | [^"\\\r\n] )*+ "?
        | [-+.\w]++
        | .
        | $
    )
    """,
    re.VERBOSE,
)
NESTING: Final[Mapping[str, int]] = {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}


def text_excess(text: str) -> str | None:
    """Return why the text of a document is too long or has too many nested brackets. Return None if it is
    acceptable.

    The function may count fewer tokens than the parser, but never more.
    """
    if len(text) > MOST_CHARACTERS:
        return f"The query is over {MOST_CHARACTERS} characters long; use variables."
    nested = 0
    for tokens, found in enumerate(TOKEN.finditer(text)):
        if tokens > MOST_TOKENS:
            return f"The query has over {MOST_TOKENS} tokens; use variables."
        nested += NESTING.get(found[1], 0)
        if nested > MOST_NESTED:
            return f"The query has over {MOST_NESTED} nested brackets; {MOST_NESTED} are allowed."
    return None


def values_excess(variables: Mapping[str, Any]) -> str | None:
    """Return why the variables have too many values, or None."""
    found = 0
    waiting: list[Any] = [variables]
    while waiting:
        each = waiting.pop()
        inside = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        found += len(inside)
        if found > MOST_VALUES:
            return f"The variables have over {MOST_VALUES} values; {MOST_VALUES} are allowed in one request."
        waiting += [value for value in inside if isinstance(value, dict | list)]
    return None


def excess(document: DocumentNode) -> str | None:
    """Return why a document is too large, or None."""
    fragments = {
        each.name.value: each for each in document.definitions if isinstance(each, FragmentDefinitionNode)
    }
    operations = [each for each in document.definitions if isinstance(each, OperationDefinitionNode)]
    if len(operations) > MOST_OPERATIONS:
        return f"The document has {len(operations)} operations; {MOST_OPERATIONS} are allowed."
    if len(fragments) > MOST_FRAGMENTS:
        return f"The document has {len(fragments)} fragments; {MOST_FRAGMENTS} are allowed."
    variables = max((len(each.variable_definitions or ()) for each in operations), default=0)
    if variables > MOST_VARIABLES:
        return f"The query has {variables} variables; {MOST_VARIABLES} are allowed."
    for part in (*operations, *fragments.values()):
        written = _written(part.selection_set)
        if written.fields > MOST_FIELDS or written.spreads > MOST_SPREADS:
            return _beyond(written)
    sizes = Sizes(fragments)
    for size in [*map(sizes.of_part, operations), *map(sizes.of_part, fragments.values())]:
        found = _beyond(size)
        if found is not None:
            return found
    if sizes.circle is not None:  # validation would also find the circle, but only at its end
        return f"The fragment {sizes.circle} contains itself, directly or through other fragments."
    return None


def _beyond(size: Size) -> str | None:
    for name, most, sentence in LIMITS:
        found = getattr(size, name)
        if found > most:
            return sentence.format(found=found, most=most)
    return None


def _written(selection_set: SelectionSetNode) -> Size:
    """Count the fields and the uses of fragments in a selection as written. Do not count the contents of the
    fragments that it uses.

    This count is quick, and is enough to refuse many documents that are too large.
    """
    fields = spreads = 0
    waiting = [selection_set]
    while waiting:
        for each in waiting.pop().selections:
            if isinstance(each, FieldNode):
                fields += 1
            else:
                spreads += 1
            inner = getattr(each, "selection_set", None)
            if inner is not None:
                waiting.append(inner)
    return Size(fields=fields, spreads=spreads)


class Sizes:
    def __init__(self, fragments: dict[str, FragmentDefinitionNode]) -> None:
        self._fragments = fragments
        self._known: dict[str, Size | None] = {}
        """The sizes of fragments by name; None while the fragment is being measured."""
        self.circle: str | None = None
        """The name of a fragment that uses itself, directly or through other fragments, or None."""

    def of_part(self, part: OperationDefinitionNode | FragmentDefinitionNode) -> Size:
        size = self._of(part.selection_set)
        if isinstance(part, FragmentDefinitionNode) and _is_introspection(part.type_condition.name.value):
            size = replace(size, depth=0, introspection_depth=size.depth, introspected=size.listed)
        literals = [each.default_value for each in getattr(part, "variable_definitions", None) or ()]
        return size.beside(_of_directives(part)).beside(Size(literals=sum(map(_literals, literals))))

    def _of(self, selection_set: SelectionSetNode | None) -> Size:
        if selection_set is None:
            return Size()
        keys = list(_keys(selection_set))
        return self._of_selections(selection_set).beside(Size(repeated=len(keys) - len(set(keys))))

    def _of_selections(self, selection_set: SelectionSetNode) -> Size:
        return reduce(Size.beside, map(self._of_selection, selection_set.selections), NOTHING)

    def _of_selection(self, selection: SelectionNode) -> Size:
        if isinstance(selection, FieldNode):
            size = self._of_field(selection)
        elif isinstance(selection, FragmentSpreadNode):
            size = self._of_fragment(selection.name.value).beside(SPREAD)
        else:
            assert isinstance(selection, InlineFragmentNode)
            size = self._of_selections(selection.selection_set)
            size = replace(size, nested=size.nested + 1, spreads=size.spreads + 1)
        return size.beside(_of_directives(selection)) if selection.directives else size

    def _of_field(self, field: FieldNode) -> Size:
        inner = self._of(field.selection_set)
        is_introspection = _is_introspection(field.name.value)
        listed = LISTED.get(field.name.value, 1) * (1 + inner.listed)
        return Size(
            depth=0 if is_introspection else inner.depth + 1,
            introspection_depth=inner.depth + 1 if is_introspection else inner.introspection_depth,
            nested=inner.nested + 1,
            fields=inner.fields + 1,
            aliases=inner.aliases + (field.alias is not None),
            spreads=inner.spreads,
            directives=inner.directives,
            repeated=inner.repeated,
            arguments=max(inner.arguments, len(field.arguments or ())),
            literals=inner.literals + sum(_literals(each.value) for each in field.arguments or ()),
            listed=0 if is_introspection else listed,
            introspected=listed if is_introspection else inner.introspected,
        )

    def _of_fragment(self, name: str) -> Size:
        """Return the size of a fragment. If the fragment uses itself, set `circle`, and do not count that use."""
        if name not in self._known:
            self._known[name] = None
            fragment = self._fragments.get(name)
            self._known[name] = self._of(fragment.selection_set if fragment is not None else None)
        size = self._known[name]
        if size is None:
            self.circle = name
        return size or Size()


def _is_introspection(name: str) -> bool:
    return name.startswith("__")


def _of_directives(node: Any) -> Size:
    directives: Iterable[DirectiveNode] = node.directives or ()
    size = Size()
    for each in directives:
        arguments = each.arguments or ()
        literals = sum(_literals(argument.value) for argument in arguments)
        size = size.beside(Size(directives=1, arguments=len(arguments), literals=literals))
    return size


def _keys(selection_set: SelectionSetNode) -> Iterator[str]:
    """Yield the key of each field in the answer: its alias or name. Fields of inline fragments are included."""
    for each in selection_set.selections:
        if isinstance(each, FieldNode):
            yield (each.alias or each.name).value
        elif isinstance(each, InlineFragmentNode):
            yield from _keys(each.selection_set)


def _literals(value: ValueNode | None) -> int:
    if isinstance(value, ListValueNode):
        return len(value.values) + sum(map(_literals, value.values))
    if isinstance(value, ObjectValueNode):
        return len(value.fields) + sum(_literals(each.value) for each in value.fields)
    return 0
