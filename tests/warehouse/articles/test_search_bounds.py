"""The limits of a search, and the results for words of one letter."""

from urllib.parse import quote

import pytest

from tests.support.statements import statements
from tests.support.world import World
from wmsd.warehouse.articles.rules import MOST_WORDS, search_words

ARTICLES = "code,name,barcode\nA-1,Alpha one,\nAB-12,Alphabet,77\nX,Ex,7\n"


async def found(world: World, search: str) -> list[str]:
    answer = await world.call("GET", f"/api/articles?search={quote(search)}")
    return [record["code"] for record in answer.body["data"]]


@pytest.mark.parametrize(
    ("search", "codes"),
    [
        ("a-1", ["A-1"]),  # each letter is a word of the code
        ("x", ["X"]),
        ("7", ["X"]),
        ("77", ["AB-12"]),
        ("a", ["A-1"]),
        ("al", ["A-1", "AB-12"]),
        ("al o", []),  # a single letter does not match the start of a word
        ("al on", ["A-1"]),
    ],
)
async def test_a_word_of_one_letter_must_stand_there_as_it_is(world: World, search: str, codes: list[str]) -> None:
    await world.import_csv("articles", ARTICLES)
    assert await found(world, search) == codes


async def test_words_that_repeat_count_once(world: World) -> None:
    await world.import_csv("articles", ARTICLES)
    assert await found(world, " ".join(["alpha", "ALPHA"] * 5)) == ["A-1", "AB-12"]
    assert search_words("Alpha alpha_one ONE") == ["alpha", "ONE"]


async def test_of_many_words_the_longest_are_looked_for(world: World) -> None:
    name = "Surub cap hexagonal inox zincat lung de M8 x 20 mm"
    await world.import_csv("articles", f"code,name\nS,{name}\nT,Surub cap hexagonal\n")
    assert len(search_words(name)) == MOST_WORDS
    assert await found(world, name.lower()) == ["S"]
    assert await found(world, "10.20.30.40.50.60.70") == []


async def test_looking_for_words_is_never_done_on_the_event_loop(world: World) -> None:
    """The writer's connection, which the event loop uses for reads, runs no statement of a search."""
    database = await world.database()
    await world.call("GET", "/api/articles")
    quick = None if database._writer is None else database._writer.connection
    assert quick is not None
    seen: list[str] = []
    quick.sqlite.set_trace_callback(seen.append)
    with statements(world) as run:
        await world.call("GET", "/api/articles?search=alpha")
    assert any("article_search" in sql for sql in run)
    assert not any("article_search" in sql for sql in seen)
