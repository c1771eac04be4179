"""What a document may ask for, measured before it is validated: validation itself takes longer than a hostile
document deserves (decisions, section 4).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from graphql import DocumentNode, FieldNode, FragmentDefinitionNode, OperationDefinitionNode
from graphql.language import FragmentSpreadNode, InlineFragmentNode, SelectionNode, SelectionSetNode

MOST_CHARACTERS: Final = 50_000
MOST_TOKENS: Final = 1_000
DEEPEST: Final = 8
"""Fields in fields. What begins with __ tells of the schema, and has a limit of its own."""
DEEPEST_INTROSPECTION: Final = 16
MOST_ALIASES: Final = 30
MOST_FIELDS: Final = 500
"""With those of fragments, as often as they are spread."""
MOST_OPERATIONS: Final = 10
MOST_FRAGMENTS: Final = 30
MOST_SPREADS: Final = 100
MOST_DIRECTIVES: Final = 50
MOST_REPEATED: Final = 20
"""Fields that stand twice in one selection: validation compares each with each."""
MOST_COST: Final = 1_000
MOST_OBJECTS: Final = 10_000
"""In an answer, with the lines of documents, of which nobody knows before how many there are."""
MOST_BYTES: Final = 4_000_000
"""Of one answer of an operation."""


@dataclass(frozen=True, slots=True)
class Size:
    """Of a selection, with the fragments that it spreads."""

    depth: int = 0
    introspection_depth: int = 0
    fields: int = 0
    aliases: int = 0
    spreads: int = 0
    directives: int = 0
    repeated: int = 0

    def beside(self, other: "Size") -> "Size":
        return Size(
            max(self.depth, other.depth),
            max(self.introspection_depth, other.introspection_depth),
            self.fields + other.fields,
            self.aliases + other.aliases,
            self.spreads + other.spreads,
            self.directives + other.directives,
            self.repeated + other.repeated,
        )


LIMITS: Final = (
    ("depth", DEEPEST, "The query is {found} fields deep; {most} are allowed."),
    (
        "introspection_depth",
        DEEPEST_INTROSPECTION,
        "The schema is asked for {found} fields deep; {most} are allowed.",
    ),
    ("fields", MOST_FIELDS, "The query has {found} fields, with those of fragments; {most} are allowed."),
    ("aliases", MOST_ALIASES, "The query has {found} aliases; {most} are allowed."),
    ("spreads", MOST_SPREADS, "The query uses fragments {found} times; {most} times are allowed."),
    ("directives", MOST_DIRECTIVES, "The query has {found} directives; {most} are allowed."),
    ("repeated", MOST_REPEATED, "The query asks {found} times for what it asks for already; {most} are allowed."),
)


def excess(document: DocumentNode) -> str | None:
    """Why a document is too much, or None."""
    fragments = {
        each.name.value: each for each in document.definitions if isinstance(each, FragmentDefinitionNode)
    }
    operations = [each for each in document.definitions if isinstance(each, OperationDefinitionNode)]
    if len(operations) > MOST_OPERATIONS:
        return f"The document has {len(operations)} operations; {MOST_OPERATIONS} are allowed."
    if len(fragments) > MOST_FRAGMENTS:
        return f"The document has {len(fragments)} fragments; {MOST_FRAGMENTS} are allowed."
    sizes = Sizes(fragments)
    for size in [*map(sizes.of_part, operations), *map(sizes.of_part, fragments.values())]:
        for name, most, sentence in LIMITS:
            found = getattr(size, name)
            if found > most:
                return sentence.format(found=found, most=most)
    return None


class Sizes:
    def __init__(self, fragments: dict[str, FragmentDefinitionNode]) -> None:
        self._fragments = fragments
        self._known: dict[str, Size] = {}

    def of_part(self, part: OperationDefinitionNode | FragmentDefinitionNode) -> Size:
        size = self._of(part.selection_set).beside(Size(directives=len(part.directives or ())))
        if isinstance(part, FragmentDefinitionNode) and part.type_condition.name.value.startswith("__"):
            return replace(size, depth=0, introspection_depth=max(size.depth, size.introspection_depth))
        return size

    def _of(self, selection_set: SelectionSetNode | None) -> Size:
        if selection_set is None:
            return Size()
        size = Size(repeated=_repeated(selection_set.selections))
        for each in selection_set.selections:
            size = size.beside(self._of_selection(each))
        return size

    def _of_selection(self, selection: SelectionNode) -> Size:
        own = Size(directives=len(selection.directives or ()))
        if isinstance(selection, FieldNode):
            return own.beside(self._of_field(selection))
        if isinstance(selection, FragmentSpreadNode):
            return own.beside(Size(spreads=1)).beside(self._of_fragment(selection.name.value))
        assert isinstance(selection, InlineFragmentNode)
        return own.beside(self._of(selection.selection_set))

    def _of_field(self, field: FieldNode) -> Size:
        inner = self._of(field.selection_set)
        is_introspection = field.name.value.startswith("__")
        return Size(
            depth=0 if is_introspection else inner.depth + 1,
            introspection_depth=inner.depth + 1 if is_introspection else inner.introspection_depth,
            fields=inner.fields + 1,
            aliases=inner.aliases + (field.alias is not None),
            spreads=inner.spreads,
            directives=inner.directives,
            repeated=inner.repeated,
        )

    def _of_fragment(self, name: str) -> Size:
        """One that spreads itself counts as nothing there: validation refuses it."""
        if name not in self._known:
            self._known[name] = Size()
            fragment = self._fragments.get(name)
            self._known[name] = self._of(fragment.selection_set if fragment is not None else None)
        return self._known[name]


def _repeated(selections: Iterable[SelectionNode]) -> int:
    keys = list(_keys(selections))
    return len(keys) - len(set(keys))


def _keys(selections: Iterable[SelectionNode]) -> Iterator[str]:
    for each in selections:
        if isinstance(each, FieldNode):
            yield (each.alias or each.name).value
