"""The errors of operations in the languages of the pages."""

import re
import string
from collections import Counter
from collections.abc import Iterator
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polib import pofile

from tests.support.error_sentences import PLACE, collected
from tests.support.shop import Shop
from tests.support.world import Answer
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.undo_rows import REFERRING
from wmsd.imports.undo import NOUNS
from wmsd.interfaces.pages.kit.text import language
from wmsd.interfaces.pages.kit.text.language import CATALOGUES, ERROR, LONGEST_TRANSLATED, Pattern, translate_error
from wmsd.warehouse.contributions import OBSTACLES

CATALOGUE = pofile(str(CATALOGUES / "ro-errors.po"))
WITH_VALUES = sorted(each.msgid for each in CATALOGUE if PLACE in each.msgid)
HOSTILE = ("{}", "{0}", "{0.__class__}", "%s %(num)s", "}{", "\\1", "Ă" * 300, "<b>", "{!r:>9}")
UNLIKE_WORDS = st.text(
    st.characters(exclude_characters=string.ascii_letters + ";:,.()/ -*"), min_size=1, max_size=300
)


@pytest.fixture(autouse=True)
def _romanian() -> Iterator[None]:
    before = language.current.set("ro")
    yield
    language.current.reset(before)


def test_every_sentence_is_translated_and_none_is_left_over() -> None:
    twice = [text for text, count in Counter(each.msgid for each in CATALOGUE).items() if count > 1]
    assert not twice
    assert {each.msgid for each in CATALOGUE} == set(collected()), "run scripts/messages"
    assert [each.msgid for each in CATALOGUE if not each.msgstr or each.msgctxt != ERROR or each.fuzzy] == []


def test_a_translation_has_the_values_of_its_sentence() -> None:
    for each in CATALOGUE:
        parts = [name for _, name, _, _ in string.Formatter().parse(each.msgstr) if name is not None]
        count = each.msgid.count(PLACE)
        assert parts == [""] * count or sorted(parts) == [str(place) for place in range(count)], each.msgid


@example("There is no such {} as {}.", ["{}"] * 8)
@given(st.sampled_from(WITH_VALUES), st.lists(st.sampled_from(HOSTILE) | UNLIKE_WORDS, min_size=8, max_size=8))
def test_whatever_values_a_sentence_has_they_come_back(sentence: str, values: list[str]) -> None:
    before = language.current.set("ro")
    try:
        pieces = sentence.split(PLACE)
        said = pieces[0] + "".join(value + piece for value, piece in zip(values, pieces[1:], strict=False))
        seen = translate_error(said)
        assert all(value in seen for value in values[: len(pieces) - 1])
    finally:
        language.current.reset(before)


def test_values_that_are_spelled_as_places_stand_in_every_sentence() -> None:
    """A sentence with such a value looks like its entry in the catalogue."""
    for sentence in WITH_VALUES:
        assert translate_error(sentence).count(PLACE) == sentence.count(PLACE), sentence


def test_a_crafted_sentence_is_searched_once_for_each_piece() -> None:
    """The test counts the searches: a sentence that nearly matches at every position costs no more than its
    pieces.
    """

    class Counted(str):
        searched = 0

        def find(self, *sought: object) -> int:
            type(self).searched += 1
            return super().find(*sought)  # type: ignore[arg-type]  # the arguments are passed on unchanged

    pattern = Pattern(("is ", " a ", " a ", " a ", " a ", "!"), PLACE * 5)
    assert pattern.values_in(Counted("is " + " a " * 100_000)) is None
    assert pattern.values_in(Counted("is " + " a " * 100_000 + "!")) is not None
    assert Counted.searched == 4
    long = "is " + "x" * LONGEST_TRANSLATED
    assert translate_error(long) == long


def test_the_order_of_values_may_differ() -> None:
    assert Pattern(("is ", " of ", ""), "{1}: {0}").translate(["3", "5"]) == "5: 3"


def _all_told(answer: Answer) -> list[str]:
    sentences = [
        answer.body["message"],
        *(each for found in answer.body.get("errors", {}).values() for each in found),
    ]
    return [translate_error(each) for each in sentences]


async def test_what_operations_refuse_is_told_in_romanian(shop: Shop) -> None:
    call = shop.world.call
    first = (await call("GET", "/api/articles/1")).body
    assert _all_told(await call("POST", "/api/articles", {"name": ""}, status=422)) == [
        "2 câmpuri nu sunt valide.",
        "este obligatoriu",
        "trebuie să aibă cel puțin 1 caracter",
    ]
    taken = await call("POST", "/api/articles", {"name": "B", "code": first["code"]}, status=422)
    assert "este folosit de alt articol" in _all_told(taken)
    changed = await call("PATCH", "/api/articles/1", {"name": "B"}, status=412, headers={"If-Match": '"0a1b"'})
    assert _all_told(changed) == [
        "Înregistrarea s-a schimbat de când a fost citită. Citiți-o din nou și repetați modificarea."
    ]
    assert _all_told(await call("GET", "/api/articles/999", status=404)) == ["Acest articol nu există."]


@pytest.mark.parametrize(
    ("english", "romanian"),
    [
        ("must be 'IN', 'OUT' or 'NONE'", "trebuie să fie 'IN', 'OUT' sau 'NONE'"),
        ("must be 'IN'", "trebuie să fie 'IN'"),
        (
            "This sales order is LIVRAT. Its ship_to, notes and lines cannot be changed any more.",
            "Înregistrarea (comandă de vânzare) este LIVRAT. Câmpurile ship_to, notes și lines nu mai pot fi "
            "modificate.",
        ),
        (
            "cannot be used with auth_type basic, which needs username and password",
            "nu poate fi folosit cu auth_type basic, care cere username și password",
        ),
        (
            "A sales order with the status CREAT cannot become LIVRAT, only IN_LUCRU, INCARCAT or ANULAT.",
            "Înregistrarea (comandă de vânzare) cu statusul CREAT nu poate deveni LIVRAT, ci doar IN_LUCRU, "
            "INCARCAT sau ANULAT.",
        ),
        (
            "Article A was changed after the import. Article B is already used in return lines. Nothing was "
            "changed.",
            "Articolul A a fost modificat după import. Articolul B este deja folosit în: linii de retururi. Nimic "
            "nu a fost modificat.",
        ),
        ("The request body is over 64 KiB.", "Corpul cererii depășește 64 KiB."),
        ("You lack the ability stock.read.", "Vă lipsește permisiunea stock.read."),
        (
            "Too many requests: the limit is 60 a minute. Try again in 3 s.",
            "Prea multe cereri: limita este de 60 pe minut. Încercați din nou peste 3 s.",
        ),
        ("The e-mail address or the password is wrong.", "Adresa de e-mail sau parola este greșită."),
    ],
)
def test_common_refusals(english: str, romanian: str) -> None:
    assert translate_error(english) == romanian


def test_what_forbids_to_track_an_article_otherwise_is_told() -> None:
    for obstacle in OBSTACLES.every:
        sentence = f"cannot be switched {obstacle.switched}: {obstacle.sentence.format(count=3)}"
        seen = translate_error(sentence)
        assert seen.startswith("nu poate fi "), sentence
        assert not re.search(r"\b(open|have|stock|units)\b", seen), seen


async def test_what_uses_imported_records_already_is_told(shop: Shop) -> None:
    """Each table that may refer to a record has a Romanian word; the names of modules stay unchanged."""
    database = await shop.world.database()
    for table, noun in NOUNS.items():
        referring = partial(Transaction.rows, sql=REFERRING, parameters=(table,))
        for child, _ in await database.read(referring):
            words = child.replace("_", " ")
            seen = translate_error(
                f"{noun[0].upper()}{noun[1:]} X is already used in {words}. Nothing was changed."
            )
            assert "X este deja folosit în: " in seen
            assert f": {words}." not in seen
        assert " X a fost modificat " in translate_error(
            f"{noun[0].upper()}{noun[1:]} X was changed after the import."
        )
    assert (
        translate_error("The module stock was off for the company.") == "Modulul stock era oprit pentru companie."
    )
