"""A JSON parser for untrusted input. It refuses some texts that the standard parser accepts.

The parser reports duplicate keys, NaN and Infinity, numbers out of bounds, lone surrogates and deep nesting. It
reports these errors together, each with its field path (decisions, section 1). Fractions become Decimal, never
float.

A sender may send a text of any size. Therefore the parser stops if a text has more fields, containers or errors
than the limits allow.
"""

import codecs
import json
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice

import orjson

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors, Problem, by_path

MAX_NESTING = 32
MAX_INTEGER_DIGITS = 18
MAX_NUMBER_LENGTH = 64
MOST_TEXT_ERRORS = 1_000
"""After this number of errors, the parser stops reading. An answer reports the first hundred of them
(`problems.py`).
"""
MOST_FIELDS_OF_AN_OBJECT = 200
MOST_FIELDS = 20_000
"""The maximum number of fields, counted over all objects. A document of 1 000 lines has about 10 000 fields."""
MOST_CONTAINERS = 100_000
"""The maximum number of arrays and objects. Python holds its lock while it creates and frees them, which takes
longer than any other step of parsing.
"""


@dataclass(frozen=True, slots=True)
class TextError:
    """An error that a parsed document contains in the place of an invalid value."""

    sentence: str


def parse_json(raw: bytes, most_fields: int = MOST_FIELDS) -> tuple[dict[str, object], FieldErrors]:
    """Return the object in `raw`, and its errors by field path.

    A byte order mark at the beginning is ignored (RFC 8259, section 8.1). Raise Problem 400 if `raw` is not UTF-8,
    not JSON or not an object. Raise Problem 422 if nesting, size or errors exceed the limits at which reading
    stops.
    """
    most_containers = max(MOST_CONTAINERS, most_fields)
    containers = raw.count(b"[") + raw.count(b"{")
    if containers > most_containers:
        raise _too_much(f"has more than {most_containers} arrays and objects")
    if (
        raw.count(b":") > 2 * most_fields
    ):  # before parsing, because an object is counted only after it was read whole
        raise _too_much(f"has more than {most_fields} fields")
    reader = _Reader(most_fields)
    try:
        document = reader.decode(raw.removeprefix(codecs.BOM_UTF8).decode("utf-8"))
    except UnicodeDecodeError:
        raise _malformed("The request body is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise _malformed(
            f"The request body is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except RecursionError:
        raise Problem(
            "VALIDATION_FAILED", f"The request body has more than {MAX_NESTING} levels of nesting."
        ) from None
    if isinstance(document, TextError):
        raise _too_much(document.sentence)
    if not isinstance(document, dict):
        raise _malformed("The request body must be a JSON object.")
    # Only an escape can be half of a surrogate pair, because the text is valid UTF-8.
    if containers <= MAX_NESTING and b"\\u" not in raw and not reader.has_text_errors:
        return document, {}
    return document, text_errors_of(document)


def text_errors_of(document: object) -> FieldErrors:
    """Return the errors in a parsed document by field path, at most `MOST_TEXT_ERRORS` of them."""
    if _is_sound(document, MAX_NESTING):
        return {}
    return by_path(islice(_text_errors(document, "", 1), MOST_TEXT_ERRORS))


def fields_in(document: object) -> int:
    """Return the number of fields of all objects in a parsed document."""
    found = 0
    waiting = [document]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            found += len(each)
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return found


def dumps(value: object) -> str:
    """Return compact JSON, with non-ASCII characters unescaped.

    orjson is ten times as fast as the standard encoder. It refuses integers of more than 64 bits, lone surrogates,
    named tuples and keys that are not strings, so the standard encoder writes these.
    """
    try:
        return orjson.dumps(value, option=_LIKE_STANDARD).decode()
    except TypeError:
        return _ENCODER.encode(value)


def canonical(document: object) -> bytes:
    """Return the JSON text of a document. Equal documents give the same text, even if the order of their members
    differs.
    """
    return _CANONICAL.encode(document).encode("utf-8", "surrogatepass")


def _malformed(message: str) -> Problem:
    return Problem("VALIDATION_FAILED", message, status=400)


def _too_much(sentence: str) -> Problem:
    return Problem("VALIDATION_FAILED", f"The request body {sentence}.")


def _is_sound(value: object, room: int) -> bool:
    """Return True if a document has no errors. Nearly all documents have none, so this quick check comes first.

    `room` is how many levels of nesting `value` may still have.
    """
    if isinstance(value, str):
        return value.isascii() or not _has_surrogate(value)
    if isinstance(value, dict):
        return room > 0 and all(_is_sound(key, room) and _is_sound(value[key], room - 1) for key in value)
    if isinstance(value, list):
        return room > 0 and all(_is_sound(member, room - 1) for member in value)
    return not isinstance(value, TextError)


def _text_errors(value: object, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, TextError):
        yield path, value.sentence
    elif isinstance(value, str):
        if _has_surrogate(value):
            yield path, "contains a broken character (half of a surrogate pair): delete it and type it again"
    elif isinstance(value, dict | list):
        if depth > MAX_NESTING:
            yield path, f"has more than {MAX_NESTING} levels of nesting"
            return
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for key, member in members:
            name = printable(str(key))
            if name != str(key):
                yield (
                    f"{path}.{name}".lstrip("."),
                    "has a name with a broken character (half of a surrogate pair): correct the name",
                )
            yield from _text_errors(member, f"{path}.{name}".lstrip("."), depth + 1)


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def printable(text: str) -> str:
    """Replace characters that UTF-8 cannot encode, so that an answer can contain the text."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


class _Reader:
    """A reader of one text, which counts fields and errors."""

    def __init__(self, most_fields: int) -> None:
        self._fields_left = most_fields
        self._most_fields = most_fields
        self._text_errors_left = MOST_TEXT_ERRORS

    def decode(self, text: str) -> object:
        decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_int=self._integer,
            parse_float=self._fraction,
            parse_constant=self._constant,
        )
        return decoder.decode(text)

    @property
    def has_text_errors(self) -> bool:
        return self._text_errors_left < MOST_TEXT_ERRORS

    def _text_error(self, sentence: str) -> TextError:
        self._text_errors_left -= 1
        if self._text_errors_left < 0:
            raise _too_much(f"has more than {MOST_TEXT_ERRORS} invalid numbers and fields")
        return TextError(sentence)

    def _object(self, pairs: list[tuple[str, object]]) -> object:
        self._fields_left -= len(pairs)
        if self._fields_left < 0:
            raise _too_much(f"has more than {self._most_fields} fields")
        if len(pairs) > MOST_FIELDS_OF_AN_OBJECT:
            return self._text_error(f"has {len(pairs)} fields; {MOST_FIELDS_OF_AN_OBJECT} are allowed")
        members = dict(pairs)
        if len(members) == len(pairs):
            return members
        members = {}
        for key, value in pairs:
            members[key] = self._text_error("is given twice") if key in members else value
        return members

    def _integer(self, text: str) -> object:
        is_in_bounds = len(text) <= MAX_INTEGER_DIGITS or len(text.lstrip("-")) <= MAX_INTEGER_DIGITS
        return int(text) if is_in_bounds else self._text_error("is outside the allowed range")

    def _fraction(self, text: str) -> object:
        if len(text) > MAX_NUMBER_LENGTH:
            return self._text_error("has too many digits")
        number = Decimal(text)
        return (
            number
            if abs(number.adjusted()) <= MAX_INTEGER_DIGITS
            else self._text_error("is outside the allowed range")
        )

    def _constant(self, text: str) -> object:
        return self._text_error(f"must be a number, not {text}")


_LIKE_STANDARD = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
"""Values that the standard encoder refuses are refused."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
