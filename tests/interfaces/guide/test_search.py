"""The search of the guide finds words and their beginnings, the best first; every input is only text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd.interfaces.guide.excerpts import EXCERPT, as_html
from wmsd.interfaces.guide.search import LONGEST_QUERY, MOST_FOUND, MOST_WORDS, Entry, Index, Results

ENTRIES = (
    Entry("Stock", "/docs/stock", "Stock", "What is there, and what is reserved."),
    Entry("Stock", "/docs/stock#lots", "Lots", "A lot of an article. Tokens are something else."),
    Entry("Errors", "/docs/errors#insufficient_stock", "INSUFFICIENT_STOCK", "There is less than was asked for."),
    Entry("Webhooks", "/docs/webhooks#events", "sales_order.created", "A sales order was created."),
    Entry("Settings", "/docs/settings#tokens", "tokens.most_days", "Maximum lifetime of a token, in days."),
    Entry("Commands", "/docs/commands#x", "wmsd backup create", "Make a backup. Recepție."),
    Entry("Changes", "/docs/changelog", "1.0.0", "Lots, tokens, stock: everything.", 0.4),
)
INDEX = Index(ENTRIES)


def addresses(results: Results) -> list[str]:
    return [each.entry.address for each in results.found]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("stock", "/docs/stock"),
        ("lots", "/docs/stock#lots"),
        ("lot", "/docs/stock#lots"),
        ("INSUFFICIENT_STOCK", "/docs/errors#insufficient_stock"),
        ("insufficient stock", "/docs/errors#insufficient_stock"),
        ("insuf", "/docs/errors#insufficient_stock"),
        ("sales_order.created", "/docs/webhooks#events"),
        ("sales_order.cr", "/docs/webhooks#events"),
        ("order created", "/docs/webhooks#events"),
        ("tokens.most_days", "/docs/settings#tokens"),
        ("most-days", "/docs/settings#tokens"),
        ("wmsd backup create", "/docs/commands#x"),
        ("receptie", "/docs/commands#x"),
        ("RECEPŢIE", "/docs/commands#x"),
        ("recept\u0327ie", "/docs/commands#x"),
    ],
)
def test_the_best_comes_first(query: str, best: str) -> None:
    results = INDEX.search(query)
    assert addresses(results)[0] == best
    assert results.has_all_words


def test_a_page_that_mentions_everything_comes_last() -> None:
    assert addresses(INDEX.search("token"))[-1] == "/docs/changelog"


def test_sections_with_all_words_or_else_with_some() -> None:
    assert addresses(INDEX.search("lots else")) == ["/docs/stock#lots"]
    some = INDEX.search("reserved backup")
    assert (some.has_all_words, set(addresses(some))) == (False, {"/docs/stock", "/docs/commands#x"})


def test_what_was_found_is_marked() -> None:
    [found] = INDEX.search("created").found
    assert list(found.heading) == ["", "sales_order.created", ""]
    assert list(found.excerpt) == ["A sales order was ", "created", "."]
    assert as_html(found.excerpt) == "A sales order was <mark>created</mark>."
    assert as_html(["<b> & ", "<i>", ""]) == "&lt;b&gt; &amp; <mark>&lt;i&gt;</mark>"


def test_an_excerpt_is_where_the_words_are() -> None:
    text = f"{'begin ' * 100}needle and thread {'end ' * 100}"
    [found] = Index([Entry("P", "/p", "H", text)]).search("needle thread").found
    shown = "".join(found.excerpt)
    assert "needle and thread" in shown
    assert (shown[:2], shown[-2:]) == ("… ", " …")
    assert len(shown) <= EXCERPT + 4
    assert found.excerpt[1::2] == ["needle", "thread"]


@pytest.mark.parametrize("query", ["", " ", "?", "''\"--", "zzzzz", "s", "*", "%", "\0"])
def test_nothing_is_found_by_nothing(query: str) -> None:
    results = INDEX.search(query)
    assert (results.total, list(results.found)) == (0, [])


def test_what_is_typed_is_bounded() -> None:
    assert INDEX.search("stock " * 10_000).query == ("stock " * 10_000)[:LONGEST_QUERY].strip()
    words = " ".join(f"w{number}" for number in range(MOST_WORDS))
    assert INDEX.search(f"{words} stock").total == 0, "further words are not looked at"
    many = Index(Entry("P", f"/{number}", "H", "word") for number in range(1_000))
    results = many.search("wo")
    assert (results.total, len(results.found)) == (1_000, MOST_FOUND)


@given(st.text(max_size=300))
def test_whatever_is_typed_is_only_text(query: str) -> None:
    results = INDEX.search(query)
    assert len(results.found) <= results.total <= len(ENTRIES)
    for found in results.found:
        shown = "".join(found.excerpt)
        assert shown.removeprefix("… ").removesuffix(" …") in found.entry.text
        assert "".join(found.heading) == found.entry.heading


@given(st.sampled_from(ENTRIES), st.data())
def test_each_word_finds_its_section(entry: Entry, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(entry.text.split()))
    assert entry.address in addresses(INDEX.search(word)) or not any(map(str.isalnum, word)) or len(word) == 1
