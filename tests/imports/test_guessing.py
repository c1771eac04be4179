"""Tests of what is guessed of a file and what is asked: a number is never read as another number."""

import csv
import io
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wmsd.base.decimal_marks import MARKS, OTHER, SIGN_OF, Mark, number_readings, read, unambiguous
from wmsd.imports.csv_rows import Unreadable
from wmsd.imports.encodings import WrongEncoding
from wmsd.imports.file_form import Chosen, Guess, guess, lines_of
from wmsd.imports.file_kinds import KINDS

COLUMNS = KINDS["stock"].columns
HEADER = "article_code;warehouse_code;quantity\n"
marks = st.sampled_from(MARKS)
amounts = st.decimals(0, 999_999_999, places=None, allow_nan=False).map(lambda each: round(each, 6))


def guessed(content: str, chosen: Chosen | None = None) -> Guess:
    return guess(io.BytesIO(content.encode()), COLUMNS, chosen or Chosen())


def of_quantities(*cells: str) -> Guess:
    return guessed(HEADER + "".join(f"A;MAIN;{cell}\n" for cell in cells))


def written(number: Decimal, mark: Mark, between: str) -> str:
    """Return the number as a spreadsheet displays it."""
    whole, _, part = f"{number:f}".partition(".")
    grouped = f"{int(whole):,}".replace(",", between)
    return grouped + (SIGN_OF[mark] + part if part else "")


@given(amounts, marks, st.booleans())
def test_a_number_is_read_as_it_was_written(number: Decimal, mark: Mark, is_grouped: bool) -> None:
    cell = written(number, mark, SIGN_OF[OTHER[mark]] if is_grouped else "")
    assert read(cell, mark) == number
    assert number_readings(cell)[mark] == number


@given(st.lists(amounts, min_size=1, max_size=8), marks, st.booleans())
def test_no_number_is_read_as_another_one_unless_somebody_chose(
    numbers: list[Decimal], mark: Mark, is_grouped: bool
) -> None:
    """No number is read as another one unless a user chose so.

    What is guessed without a question is what was written.
    """
    cells = [written(number, mark, SIGN_OF[OTHER[mark]] if is_grouped else "") for number in numbers]
    found = of_quantities(*cells)
    if found.question is None:
        assert [read(cell, found.form.decimal) for cell in cells] == numbers


@given(st.text("0123456789.,' +-e", max_size=12))
def test_any_cell_is_a_number_or_refused_with_a_sentence(cell: str) -> None:
    for mark in MARKS:
        try:
            assert isinstance(read(cell, mark), Decimal)
        except ValueError as error:
            assert (
                str(error)
                == f"must be a number with a decimal {mark}, such as {'12.5' if mark == 'point' else '12,5'}"
            )


@given(amounts)
def test_what_is_exported_has_one_meaning(number: Decimal) -> None:
    text = unambiguous(f"{number.normalize():f}")
    assert Decimal(text) == number
    assert len(set(number_readings(text).values())) == 1


@pytest.mark.parametrize("cells", [("1.000",), ("1,000",), ("5", "12.345"), ("1.000", "2.500")])
def test_what_can_be_two_numbers_is_asked(cells: tuple[str, ...]) -> None:
    assert "with a decimal point, and" in str(of_quantities(*cells).question)


def test_a_thousandth_is_asked_even_where_others_show_the_mark() -> None:
    """A thousandth is asked even if other cells show the decimal mark.

    `1.000` is never read as 1 without a user's choice. If commas are the decimal mark, `1.000` is a thousand.
    """
    assert of_quantities("2.5", "1.000").question is not None
    assert of_quantities("2,5", "1.000").question is None
    assert of_quantities("2,5", "1.000").form.decimal == "comma"
    assert of_quantities("2,5", "1,000").question is not None


def test_two_marks_in_one_file_are_asked() -> None:
    assert of_quantities("3", "1\u00a0234,5", "7", "2.5").question == (
        'Row 5, quantity: "2.5" has a decimal point, but row 3, quantity: "1\u00a0234,5" has a decimal '
        "comma. Choose the decimal mark of the file."
    )


def test_who_has_chosen_is_not_asked() -> None:
    content = f"{HEADER}A;MAIN;1.000\n"
    for mark in MARKS:
        found = guessed(content, Chosen(decimal=mark))
        assert (found.question, found.form.decimal) == (None, mark)


names = st.text("abcăîșț éü-ßñ", min_size=1, max_size=8).filter(lambda each: each == each.strip())


@given(st.lists(st.tuples(names, names), min_size=1, max_size=5), st.sampled_from(",;\t"))
def test_the_delimiter_is_the_one_of_the_header(rows: list[tuple[str, str]], delimiter: str) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows([("code", "name"), *rows])
    found = guess(io.BytesIO(text.getvalue().encode()), KINDS["clients"].columns, Chosen())
    assert (found.form.delimiter, found.form.encoding) == (delimiter, "utf-8")


@pytest.mark.parametrize(
    "first", ["sep=;\r\n", "SEP=;\n", "\ufeffsep=;\r\n", "\ufeff\ufeff", "sep=,\n", "sep=\t\n"]
)
def test_a_line_that_names_the_delimiter_is_no_row(first: str) -> None:
    file = io.BytesIO((first + "code;name\nA;sep=;\n").encode())
    assert guess(file, KINDS["clients"].columns, Chosen()).form.delimiter == ";"
    assert "".join(lines_of(file, "utf-8")) == "code;name\nA;sep=;\n"


ENCODED = {
    "UTF-8": ("Șurub é", "utf-8", "utf-8"),
    "UTF-8 with a mark": ("Șurub", "utf-8-sig", "utf-8-sig"),
    "UTF-16": ("Șurub", "utf-16", "utf-16"),
    "Windows-1252": ("Café für Müller", "windows-1252", "windows-1252"),
    "Windows-1250 of Poland": ("Źdźbło, źródło", "windows-1250", "windows-1250"),
    "Windows-1250": ("Şurub în cutie, ţeavă", "windows-1250", "windows-1250"),
}


@pytest.mark.parametrize("name", ENCODED)
def test_the_encoding(name: str) -> None:
    text, encoding, expected = ENCODED[name]
    content = f"article_code;warehouse_code;quantity\r\n{text};MAIN;1,5\r\n".encode(encoding)
    file = io.BytesIO(content)
    found = guess(file, COLUMNS, Chosen())
    assert (found.form.encoding, found.form.decimal, found.question) == (expected, "comma", None)
    assert text in "".join(lines_of(file, found.form.encoding))


WINDOWS_1250 = (
    "Śruba stalowa biała 10 zł", "Księgowość, część", "Księgowa", "śruba", "biała", "żwir", "śrubą", "Łąka",
    "Kotouč řezný", "Čistič, trůn, nýt", "Žluťoučký kůň", "Csavar, fűrész, őr",
    "Placă şi ţeavă", "oraş", "ţevi", "placă", "Ştift",
    "Děčín, oběžné kolo", "Žďár nad Sázavou", "cső, tömítő, alátét", "rézcső, Kőszeg", "fűtő",
    "vŕtačka, kľúč", "Škofja Šoštanj, vijačni ključ",
)  # fmt: skip
WINDOWS_1252 = (
    "Peña, Müller, Köln, Café, Düsseldorf", "Café, Müller, m³", "forêt, café", "œil",
    "Café crème", "Crêpe, forêt, nœud à vis é", "cœur é", "«Café»", "Müller Straße", "Größe ½ Zoll",
    "Acme® Müller", "Beton m³", "5 £, nº 5, 1ª, 10 µm", "São João, ção", "Peña niño", "caffè, più",
    "søm, rød grøn blå", "Smörgås", "señor ¡hola!",
    "geïsoleerde buis, reëel, één, België", "geïsoleerde buis", "Jõgeva, Võru, Põlva", "Võru", "kõva värv, jõud",
    "PORTÃO, SABÃO", "SÃO", "limões", "così", "naïve", "perché, così, più", "è, unità, può",
    "pressió, això, raïm, vàlvula, bombeta pròpia", "Müller naïve café", "©Acme Müller", "© Acme, Müller",
    "Acme®, Müller",
)  # fmt: skip
ISO_8859_2 = (
    "Łódź, część, śruba",
    "Žluťoučký kůň šíp",
    "Kotouč řezný, šedá ťava",
    "Śruba",
    "Łąka",
    "Wąż",
    "Źródło",
    "Žďár",
    "Škofja Šoštanj",
    "Děčín, Žilina",
)
MANY = {
    "windows-1250": WINDOWS_1250,
    "windows-1252": WINDOWS_1252,
    "iso-8859-2": ISO_8859_2,
}


@pytest.mark.parametrize(("encoding", "name"), [(each, name) for each, names in MANY.items() for name in names])
def test_letters_show_which_encoding_it_is(encoding: str, name: str) -> None:
    """Letters show the encoding, even in a file with one name."""
    file = io.BytesIO(f"code;name\nA;{name}\n".encode(encoding))
    assert guess(file, KINDS["clients"].columns, Chosen()).form.encoding == encoding


def test_a_guessed_encoding_is_shown_by_a_cell_that_others_read_otherwise() -> None:
    content = "code;name\nA;Müller\nB;Śruba\nC;Łąka\n".encode("windows-1250")
    found = guess(io.BytesIO(content), KINDS["clients"].columns, Chosen())
    assert found.sample == (3, "Śruba", {"windows-1252": "Œruba"})
    german = guess(io.BytesIO("code;name\nA;Müller\n".encode("windows-1252")), KINDS["clients"].columns, Chosen())
    assert german.sample is None
    for text, chosen in ((content, "windows-1250"), ("code;name\nA;Śruba\n".encode(), None)):
        found = guess(io.BytesIO(text), KINDS["clients"].columns, Chosen(encoding=chosen))
        assert found.sample is None


@pytest.mark.parametrize(
    ("signs", "others"),
    [
        ("", {"windows-1250": "rřd ą", "iso-8859-2": "rřd š"}),
        ("€", {"windows-1250": "rřd ą"}),
        ("ƒ", None),
    ],
)
def test_no_encoding_is_named_that_cannot_read_the_whole_file(signs: str, others: dict[str, str] | None) -> None:
    content = f"code;name\nA;rød ¹\nB;{signs}\n".encode("windows-1252")
    sample = guess(io.BytesIO(content), KINDS["clients"].columns, Chosen()).sample
    assert sample == (None if others is None else (2, "rød ¹", others))


def test_a_sample_is_looked_for_in_the_first_rows_only() -> None:
    for rows, is_found in ((9_999, True), (10_000, False)):
        content = ("code;name\n" + "A;Müller\n" * rows + "B;Peña\n").encode("windows-1252")
        sample = guess(io.BytesIO(content), KINDS["clients"].columns, Chosen()).sample
        assert (sample is not None) == is_found


def test_of_a_long_cell_the_part_with_the_letter_is_shown() -> None:
    content = f"code;name\nA;{'ó' * 500}Śruba{'y' * 500}\n".encode("windows-1250")
    sample = guess(io.BytesIO(content), KINDS["clients"].columns, Chosen()).sample
    assert sample is not None
    assert (len(sample.cell), "Śruba" in sample.cell) == (60, True)


OF_DOS = {
    "cp852": ("Şurub", "şaibă ţeavă", "śruba biała"),
    "cp850": ("søm", "Größe Müller"),
    "mac-roman": ("crème brûlée",),
}


@pytest.mark.parametrize("name", OF_DOS["cp852"])
def test_a_file_of_dos_is_asked_about(name: str) -> None:
    file = io.BytesIO(f"code;name\nA;{name}\n".encode("cp852"))
    with pytest.raises(WrongEncoding, match=f'line 2 reads "A;{name}" in CP852, ') as raised:
        guess(file, KINDS["clients"].columns, Chosen())
    assert raised.value.others[:3] == ["cp852", "cp850", "mac-roman"]


@pytest.mark.parametrize("encoding", OF_DOS)
def test_an_encoding_of_dos_can_be_chosen(encoding: str) -> None:
    for name in OF_DOS[encoding]:
        file = io.BytesIO(f"code;name\nA;{name}\n".encode(encoding))
        found = guess(file, KINDS["clients"].columns, Chosen(encoding=encoding))
        assert name in "".join(lines_of(file, found.form.encoding))


NO_TEXT = {
    "zip": (b"PK\x03\x04" + bytes(100), "is an Excel workbook (.xlsx) or another zip file"),
    "xls": (b"\xd0\xcf\x11\xe0" + bytes(100), "is an Excel workbook (.xls)"),
    "gzip": (b"\x1f\x8b\x08" + bytes(100), "is compressed"),
    "PDF": (b"%PDF-1.7", "is a PDF"),
    "NUL": (b"code,name\nA,B\0\n", "line 2 has a byte of value 0"),
    "mixed": ("a,é\nb,éé\n".encode() + b"c,\xe9\n", "line 3 is not UTF-8 text, but other lines are"),
    "UTF-16 cut off": ("code\n".encode("utf-16") + b"x", "is not UTF-16 text"),
    "endless line": (b"x" * (4 * 1024 * 1024 + 1), "line 1 is longer than"),
}


@pytest.mark.parametrize("name", NO_TEXT)
def test_what_is_no_text_is_refused_with_a_sentence(name: str) -> None:
    content, sentence = NO_TEXT[name]
    file = io.BytesIO(content)
    with pytest.raises(Unreadable, match=sentence.replace("(", r"\(").replace(")", r"\)")):
        list(lines_of(file, guess(file, COLUMNS, Chosen()).form.encoding))


@given(st.binary(max_size=300))
def test_any_bytes_are_understood_or_refused(content: bytes) -> None:
    file = io.BytesIO(content)
    try:
        found = guess(file, COLUMNS, Chosen())
        list(lines_of(file, found.form.encoding))
    except Unreadable as error:
        assert str(error).endswith(".")


CHOSEN = {
    "the line after a whole block": (
        "a,b\n" * 30_000 + "ŹŹ,b\n",
        "windows-1250",
        "windows-1252",
        "line 30001 is not Windows-1252 text, but the file can be read as Windows-1250. Choose the "
        "encoding of the file, or save the file as CSV UTF-8.",
    ),
    "UTF-8": (
        "a,b\nc,Ș\n",
        "utf-8",
        "windows-1250",
        "line 2 is not Windows-1250 text, but the file can be read as UTF-8. Choose the encoding of the "
        "file, or save the file as CSV UTF-8.",
    ),
    "either": (
        "a,b\nc,d\ne,é\n",
        "windows-1252",
        "utf-8",
        "line 3 is not UTF-8 text, but the file can be read as Windows-1250, Windows-1252. Choose the "
        "encoding of the file, or save the file as CSV UTF-8.",
    ),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_a_wrong_encoding_names_the_line_and_the_right_ones(name: str) -> None:
    text, encoding, chosen, sentence = CHOSEN[name]
    file = io.BytesIO(text.encode(encoding))
    with pytest.raises(Unreadable) as raised:
        list(lines_of(file, guess(file, COLUMNS, Chosen(encoding=chosen)).form.encoding))
    assert str(raised.value) == sentence
