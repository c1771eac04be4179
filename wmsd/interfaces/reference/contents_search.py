"""The search of the API reference. It finds operations, errors, events, abilities and modules.

An operation is also found by the names of its fields.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice
from typing import Final

from markupsafe import Markup

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import STATUS_OF_CODE
from wmsd.contract.access import MODULES
from wmsd.interfaces.graphql.operation import run_graphql
from wmsd.interfaces.graphql.over_http import ROUTES as GRAPHQL
from wmsd.interfaces.graphql.root_fields import MUTATIONS, QUERIES
from wmsd.interfaces.reference.operations import ADDRESS, Reference

LONGEST: Final = 100
MOST_WORDS: Final = 8
MOST_SHOWN: Final = 8


@dataclass(frozen=True)
class Entry:
    """An entry of the contents. `words` has the names of the fields of an operation.

    A search looks in `words` and in all texts of the entry that the page displays.
    """

    address: str
    title: str
    text: str
    words: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    """For an operation: the methods and paths at which it is served."""

    @cached_property
    def _whole(self) -> str:
        parts = (self.title, self.text, *self.words, *(part for place in self.places for part in place))
        return " ".join(parts).lower()

    @cached_property
    def shown(self) -> Markup:
        """The HTML of the entry without the marks of a search. It is cached, because one search may find all
        entries.
        """
        words = Markup(' data-words="{}"').format(" ".join(self.words)) if self.words else ""
        places = [Markup('\n<code class="path"><b>{}</b> {}</code>').format(*each) for each in self.places]
        text = Markup('\n<span class="soft small">{}</span>').format(self.text) if self.text else ""
        link = Markup('<li data-entry{}>\n<a href="{}">{}</a>').format(words, self.address, self.title)
        return link + Markup("").join(places) + text

    def matches(self, asked: Iterable[str]) -> bool:
        """Return True if the entry contains all words in `asked`."""
        return all(word in self._whole for word in asked)

    def fields(self, asked: Iterable[str]) -> list[str]:
        """Return at most `MOST_SHOWN` fields of the entry whose name contains one of the words in `asked`."""
        return [*islice((name for name in self.words if any(word in name for word in asked)), MOST_SHOWN)]


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    """The id of the section's heading in the page."""
    title: str
    address: str
    entries: tuple[Entry, ...]

    def found(self, asked: tuple[str, ...]) -> "Section":
        return Section(
            self.name, self.title, self.address, tuple(each for each in self.entries if each.matches(asked))
        )


def search_words(query: str) -> tuple[str, ...]:
    """Return the words of a query in lower case, at most `MOST_WORDS`."""
    return tuple(query[:LONGEST].lower().split()[:MOST_WORDS])


def contents(reference: Reference, events: Mapping[str, str]) -> tuple[Section, ...]:
    """Return all sections of the contents, in the order of the page."""
    groups = (
        Section(
            group.name,
            group.title,
            group.address,
            tuple(
                Entry(
                    each.address,
                    each.operation.summary,
                    each.ability or "",
                    each.words,
                    tuple((place.route.method, place.route.path) for place in each.places),
                )
                for each in group.operations
            ),
        )
        for group in reference.groups
    )
    errors, happened = f"{ADDRESS}/errors", f"{ADDRESS}/webhook-events"
    access = f"{ADDRESS}/access"
    return (
        *groups,
        _graphql(),
        _section("errors", "Errors", errors, {code: str(status) for code, status in STATUS_OF_CODE.items()}),
        _section("webhook-events", "Events", happened, events),
        _section("abilities", "Abilities", access, {"*": "everything", **reference.abilities}),
        _section("modules", "Modules", access, MODULES),
    )


def _graphql() -> Section:
    """Return the section about GraphQL, which has one operation. The names of the root fields also find this
    operation.
    """
    address = f"{ADDRESS}/graphql"
    fields = tuple(dict.fromkeys(each.name for each in (*QUERIES, *MUTATIONS)))
    places = tuple((route.method, route.path) for route in GRAPHQL)
    return Section("graphql", "GraphQL", address, (Entry(address, run_graphql.summary, "", fields, places),))


def _section(name: str, title: str, address: str, texts: Mapping[str, str]) -> Section:
    entries = tuple(Entry(f"{address}#{anchor_of(each)}", each, says) for each, says in texts.items())
    return Section(name, title, address, entries)


def anchor_of(name: str) -> str:
    """Return the anchor of a code, an event, an ability or a module."""
    return "everything" if name == "*" else name.lower().replace(":", "-")
