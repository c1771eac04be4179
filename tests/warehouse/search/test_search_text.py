"""The text of the search index: which differences do not count, and that the index finds every word of the
text.
"""

from hypothesis import given
from hypothesis import strategies as st

from wmsd.db.engine.sqlite import sqlite3
from wmsd.warehouse.search.search_text import Wanted, fold, folded_fields, index_text, kind_term

TEXTS = st.text(st.sampled_from("aAbcdé0123 -/.ßŁ"), min_size=1, max_size=12)


def test_case_accents_and_separators_do_not_count() -> None:
    assert fold("SO-000 123/a.B_c") == "so000123abc"
    assert fold("Crème Brûlée") == fold("Cre\u0300me bru\u0302le\u0301e") == "cremebrulee"
    assert fold("Straße Łódź Ørsted Ægir Şişli") == "strasselodzorstedaegirsisli"
    assert fold("№ 12 ½") == "no1212"


def test_a_barcode_is_found_with_and_without_its_zeros_and_so_is_each_of_a_list() -> None:
    assert folded_fields(["0614141000036", '["00614141000036", "12-5"]', None, "00123"]) == [
        *("0614141000036", "614141000036", "00614141000036", "614141000036", "125", "00123"),
    ]
    for spelled in ("614141000036", "0614141000036", "00614141000036"):
        assert Wanted(spelled).rank(folded_fields(["0614141000036"])) == 0, spelled


def test_a_text_that_only_looks_like_a_list_is_a_text() -> None:
    assert folded_fields(["[discontinued]", "[" * 2000 + "]", "[]"]) == ["discontinued"]


def test_a_short_number_keeps_its_zeros() -> None:
    fields = folded_fields(["00123"])
    assert (Wanted("00123").rank(fields), Wanted("001").rank(fields), Wanted("123").rank(fields)) == (0, 1, 2)
    assert Wanted("0000123").rank(fields) is None


@given(st.lists(TEXTS, min_size=1, max_size=3), TEXTS)
def test_the_index_finds_what_the_rank_says(values: list[str], text: str) -> None:
    """The rank decides about records that are not indexed yet, the queries decide about all others: both must
    agree.
    """
    fields, wanted = folded_fields(values), Wanted(text)
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'trigram case_sensitive 1')")
    index.execute("INSERT INTO texts VALUES (?)", (index_text("A", fields),))
    found = [
        bool(index.execute("SELECT 1 FROM texts WHERE texts MATCH ?", (query,)).fetchall())
        for query in wanted.queries("A")
    ]
    assert (found.index(True) if True in found else None) == wanted.rank(fields)


def test_a_kind_has_a_term_of_its_own() -> None:
    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'trigram case_sensitive 1')")
    for mark in "AS":
        index.execute("INSERT INTO texts VALUES (?)", (index_text(mark, ["s", "a", "sa"]),))
    for mark, number in (("A", 1), ("S", 2), ("P", None)):
        sql = "SELECT rowid FROM texts WHERE texts MATCH ?"
        assert index.execute(sql, (f'({kind_term(mark)}) AND "sa\n"',)).fetchone() == (number and (number,))
