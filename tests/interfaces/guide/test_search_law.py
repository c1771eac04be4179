"""The search of the guide returns the hits of its specification, in the same order and with the same marks. This
holds for the whole guide, for ordinary queries and for queries of attackers.
"""

from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.plain_search import PlainSearch, told
from tests.support.thorough import IS_THOROUGH
from wmsd.interfaces.cli.kit.commands_page import COMMANDS
from wmsd.interfaces.guide.pages import entries, sources
from wmsd.interfaces.guide.search import Entry, Index

ORDINARY = (
    "token",
    "how to restore a backup",
    "sales_order.created",
    "X-Request-Id",
    "server.listen",
    "wmsd backup create",
    "INSUFFICIENT_STOCK",
    "webhook retry delay",
    "stock count import",
    "rate limit",
    "récéption",
    "over receipt",
    "lost phone",
    "GET /api/v2/sales-orders",
)
HOSTILE = (
    "re ap co te se st in pr",
    "th a co wh of an it is",
    "a t s w c o i th",
    "the is in of to a and it",
    "a-t-s-w-c-o-i-th-r-m-f-p-d-n-b-re-co-l-wh-e-se-an-h-no-it-u",
    "to/so/be/pa/fo/gr/op/ot/fi/cr/wa/of/wh/js/po/ti/th/an/du/co/ut/ap/sy/ve",
    "server.listen-re-co.st/in_pr:ap " * 6,
    "the " * 50,
    "The tHe thE THE ThE tHE THe the",
    "ﷺ" * 200,
    "ș" * 200,
    "e\N{COMBINING ACUTE ACCENT}" * 100,
    "_" * 200,
    "a.b" * 60,
    "http://127.0.0.1:8480/api/v2/webhooks/1/rotate-secret-and-more",
    "\0 \1 <b> & \"'",
)


@cache
def guide() -> tuple[Entry, ...]:
    return tuple(entries(sources(COMMANDS)))


@cache
def index() -> Index:
    return Index(guide())


@cache
def law() -> PlainSearch:
    return PlainSearch(guide())


@cache
def words() -> list[str]:
    """Return every word of the guide that has a letter or a digit, in its original form."""
    return sorted({word for each in guide() for word in f"{each.page} {each.heading} {each.text}".split()})


@pytest.mark.parametrize("query", [*ORDINARY, *HOSTILE])
def test_a_search_of_the_guide_finds_what_its_law_says(query: str) -> None:
    assert told(index().search(query)) == law().search(query)


def test_the_ordinary_find_something_and_what_they_show_is_marked() -> None:
    for query in ORDINARY:
        best = index().search(query).found[0]
        assert best.heading[1::2] or best.excerpt[1::2], query


@st.composite
def queries(draw: st.DrawFn) -> str:
    """Draw words of the guide and their beginnings, some of them joined."""
    typed = st.sampled_from(words())
    beginning = st.builds(lambda word, length: word[:length], typed, st.integers(1, 4))
    together = st.builds("-".join, st.lists(beginning, min_size=2, max_size=12))
    return " ".join(draw(st.lists(typed | beginning | together, min_size=1, max_size=10)))


@settings(max_examples=400 if IS_THOROUGH else 30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_whatever_words_of_the_guide_are_typed(data: st.DataObject) -> None:
    query = data.draw(queries())
    assert told(index().search(query)) == law().search(query)


@settings(max_examples=400 if IS_THOROUGH else 30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_in_a_small_guide_too(data: st.DataObject) -> None:
    """In a small guide, no beginning is merged in advance, and many sections have the same rank."""
    few = data.draw(st.lists(st.sampled_from(guide()), max_size=12))
    query = data.draw(queries())
    assert told(Index(few).search(query)) == PlainSearch(few).search(query)
