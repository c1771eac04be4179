"""The values that a person typed in a form, the body for the operation, and conflicts with changes of other
people.

In a conflict, the typed value of a field differs from the value that another user has saved meanwhile.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from wmsd.base.problems import Problem
from wmsd.contract.field_schemas import declared_name
from wmsd.interfaces.pages.kit.acts import Resource
from wmsd.interfaces.pages.kit.fields import name_of
from wmsd.interfaces.pages.kit.form_fields import (
    BETWEEN,
    LONGEST_NUMBER,
    NOT_ASKED,
    FormField,
    Typed,
    flat,
    row_of,
    rows_in,
)
from wmsd.interfaces.pages.kit.quantities import DASH
from wmsd.interfaces.pages.kit.resources import REFERRED
from wmsd.interfaces.pages.kit.text import words
from wmsd.interfaces.pages.kit.text.language import field_errors, translate_error
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.moments import iso_date, of_browser
from wmsd.interfaces.pages.kit.text.numbers import read_number
from wmsd.interfaces.pages.kit.workplace import Workplace

IF_MATCH: Final = "if_match"
"""A hidden field with the version of the record that the form shows."""

Difference = tuple[str, str, str]
"""The name of a field, its stored value, and the typed value, in the language of the page."""


def defaults(fields: Iterable[FormField]) -> Typed:
    """Return the values with which the form of a new record starts."""
    typed: Typed = {}
    for field in fields:
        if isinstance(field.default, tuple):
            typed |= {f"{field.name}:{choice}": True for choice in field.default}
        elif field.default != "":
            typed[field.name] = field.default
    return typed


def typed_in(fields: Iterable[FormField], sent: Mapping[str, str]) -> Typed:
    """Return the values that a person typed.

    Line ends become line feeds, and dates become ISO dates. A row without input is left out, and the next rows
    move up. An empty row of an existing line is not left out. It moves to the end, where people can still fill it
    in.
    """
    typed: Typed = {}
    for field in fields:
        if field.asks == "rows":
            rows = [(each, typed_in(each, sent)) for each in _rows_of(field, sent)]
            filled = [row for each, row in rows if _is_filled(each, row)]
            emptied = [row for each, row in rows if not _is_filled(each, row) and _stands_for_something(each, row)]
            for number, row in enumerate([*filled, *emptied]):
                names = (inner.name for inner in row_of(field, number))
                typed |= dict(zip(names, row.values(), strict=True))
        elif field.asks == "several":
            typed |= {f"{field.name}:{choice}": f"{field.name}:{choice}" in sent for choice in field.choices}
        elif field.asks == "flag":
            typed[field.name] = field.name in sent
        else:
            text = sent.get(field.name, "").replace("\r\n", "\n")
            typed[field.name] = iso_date(text) if field.asks == "date" else text
    return typed


def sendable_again(fields: Iterable[FormField], sent: Mapping[str, str]) -> dict[str, str]:
    """Return the typed values in the format in which a form sends them. Leave out secrets and empty values."""
    typed = typed_in((field for field in fields if field.is_kept), sent)
    return {name: "on" if value is True else str(value) for name, value in typed.items() if value}


def _rows_of(field: FormField, sent: Mapping[str, str]) -> Iterator[tuple[FormField, ...]]:
    """Return the fields of each row that the browser has sent, in order. Raise Problem (422) if there are too many
    rows.
    """
    begin = f"{field.name}{BETWEEN}"
    sent_numbers = {name.removeprefix(begin).split(BETWEEN)[0] for name in sent if name.startswith(begin)}
    numbers = [int(number) for number in sent_numbers if number.isdecimal() and len(number) <= LONGEST_NUMBER]
    if field.most and len(numbers) > field.most:
        raise Problem(
            "VALIDATION_FAILED",
            (
                f"A form can have at most {field.most} lines, but {len(numbers)} were sent. Send the other "
                "lines in another form."
            ),
        )
    return (row_of(field, number) for number in sorted(numbers))


def _stands_for_something(fields: Iterable[FormField], row: Typed) -> bool:
    return any(row[field.name] for field in fields if field.asks == "hidden")


def _is_filled(fields: Iterable[FormField], row: Typed) -> bool:
    asked = [field for field in fields if field.asks not in NOT_ASKED]
    return any(str(row[field.name]).strip() for field in asked if row[field.name])


async def document_of(
    at: Workplace, fields: Iterable[FormField], typed: Typed, is_change: bool
) -> tuple[dict[str, object], dict[str, list[str]]]:
    """Return the body for the operation, and the errors of fields whose text is invalid.

    In the body, an invalid field gets a value that no operation accepts. So the operation refuses the body, and
    also reports its other errors. `is_change` is True if the body changes a record. In a change, the body has null
    for an emptied field, and an emptied required field is an error.
    """
    document: dict[str, object] = {}
    errors: dict[str, list[str]] = {}
    known: dict[tuple[str, str], object] = {}
    for field in flat(fields, typed):
        if field.asks == "shown":
            continue
        try:
            value = await (
                _id_once(at, field, typed, known) if field.asks == "code" else value_of(at, field, typed)
            )
        except ValueError as error:
            errors[field.name] = [str(error)]
            _put(document, field.parameter, never_taken(field))
            continue
        if value is None and field.is_required and is_change and BETWEEN not in field.name:
            errors[field.name] = [translate_error("is required")]
            _put(document, field.parameter, never_taken(field))
            continue
        if value is None and (field.asks in ("secret", "hidden") or field.is_required or not is_change):
            continue  # an empty field gets its default, or keeps its value
        _put(document, field.parameter, value)
    for field in fields:
        found = document.get(field.name)
        if field.asks == "rows":
            rows = found.items() if isinstance(found, dict) else ()
            filled = [row for number, row in rows if _is_filled(row_of(field, int(number)), typed)]
            document[field.name] = filled
            if not (filled or field.is_required or is_change):
                del document[field.name]
    for name, value in document.items():
        if isinstance(value, dict) and all(each is None for each in value.values()):
            document[name] = None
    return document, errors


def never_taken(field: FormField) -> object:
    """Return a value of a type that the field never accepts."""
    return 0 if field.asks == "pairs" else [{}]


def with_own_errors(
    fields: Iterable[FormField], typed: Typed, own: Mapping[str, list[str]], errors: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """Return the errors of both kinds: `own`, which `document_of` found, and `errors`, which the operation found.

    If a field has both kinds of errors, return only those in `own`.
    """
    known = tuple(field.parameter for field in flat(fields, typed) if field.name in own)
    found = {path: said for path, said in errors.items() if not any(_is_within(path, each) for each in known)}
    return {**own, **found}


def _is_within(path: str, outer: str) -> bool:
    return path == outer or path.startswith(f"{outer}{BETWEEN}")


async def _id_once(at: Workplace, field: FormField, typed: Typed, known: dict[tuple[str, str], object]) -> object:
    """Return the value of a field as `value_of` does. Look up each code only once, and store the result in
    `known`.

    A form can have the same code in a thousand lines. Raise ValueError if the typed text is invalid.
    """
    key = field.own_name, str(typed.get(field.name, "")).strip()
    if key not in known:
        try:
            known[key] = await value_of(at, field, typed)
        except ValueError as error:
            known[key] = error
    found = known[key]
    if isinstance(found, ValueError):
        raise found
    return found


async def value_of(at: Workplace, field: FormField, typed: Typed) -> object:
    """Convert what was typed in the field to the value that the operation expects.

    Raise ValueError with a sentence for people if the text is invalid.
    """
    if field.asks == "several":
        return [choice for choice in field.choices if typed.get(f"{field.name}:{choice}")]
    value = typed.get(field.name, "")
    if isinstance(value, bool):
        return value
    if field.asks == "lines":
        texts = [line.strip() for line in value.splitlines() if line.strip()]
        return texts or (None if BETWEEN in field.name else [])  # a list in a row may be left out
    if not value.strip():
        return None
    if field.asks == "number":
        return read_number(value, field.is_whole)
    if field.asks == "pairs":
        return _pairs(value)
    if field.asks == "code":
        return await id_of_code(at, field, value.strip())
    if field.asks == "hidden":
        return read_number(value, is_whole=True)
    if field.asks == "moment":
        return of_browser(value.strip())
    return value.strip() if field.asks == "text" else value


async def id_of_code(at: Workplace, field: FormField, code: str) -> int:
    """Return the id of the record with the typed code.

    Raise ValueError with a sentence for people if the record cannot be found.
    """
    return await find_id(at, REFERRED[f"{field.own_name}_id"], code)


async def find_id(at: Workplace, resource: Resource, code: str) -> int:
    """Return the id of the record with this code.

    Raise ValueError with a sentence for people if the record cannot be found.
    """
    if not at.may(resource.listing):
        raise ValueError(translate_error("cannot be found, because you are not allowed to read such records"))
    found = await at.id_of(resource, code)
    if found is None:
        raise ValueError(_("is not known: no record has the code %(code)s") % {"code": code})
    return found


def _pairs(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if not colon:
            raise ValueError(_("must have a name, a colon and a value in each line"))
        pairs[name.strip()] = value.strip()
    return pairs


def _put(document: dict[str, Any], name: str, value: object) -> None:
    *outer, inner = name.split(BETWEEN)
    for part in outer:
        document = document.setdefault(part, {})
    document[inner] = value


def errors_by_field(
    fields: Iterable[FormField], typed: Typed, errors: Mapping[str, list[str]]
) -> tuple[dict[str, list[str]], list[str]]:
    """Return two results: the errors of each field of the form, and a list with all other errors as sentences.

    The errors of a whole row are shown at its first field.
    """
    if not errors:
        return {}, []
    fields = tuple(fields)
    names = {field.parameter: field.name for field in (*flat(fields, typed), *fields)}
    for field in fields:
        if field.asks == "rows":
            names |= dict(_names_of_rows(field, rows_in(field, typed)))
    known = {*names, *names.values()}
    by_field: dict[str, list[str]] = {}
    others: list[str] = []
    for path, sentences in errors.items():
        name = path
        while name and name not in known:
            name = name.rpartition(BETWEEN)[0]
        if name:
            by_field.setdefault(names.get(name, name), []).extend(sentences)
        else:
            others.append(field_errors(sentences, _in_words(path)))
    return by_field, others


def _in_words(path: str) -> str:
    """Return the words for the path of a field: `Lines 1: Quantity` for `lines.0.quantity`."""
    words_of_path: list[str] = []
    for part in filter(None, path.split(BETWEEN)):
        if part.isdecimal() and words_of_path:
            words_of_path[-1] += f" {int(part) + 1}"
        else:
            words_of_path.append(_(declared_name(part)))
    return ": ".join(words_of_path)


def _names_of_rows(field: FormField, count: int) -> Iterator[tuple[str, str]]:
    """Yield two kinds of paths for each row: the path of the row itself, and the paths of its hidden fields.

    Each path comes with the first visible field of the row. The errors of the path are shown at this field.
    """
    for number in range(count):
        row = row_of(field, number)
        first = next(inner.name for inner in row if inner.asks != "hidden")
        yield f"{field.name}{BETWEEN}{number}", first
        yield from ((inner.parameter, first) for inner in row if inner.asks == "hidden")


async def form_differences(
    at: Workplace, fields: Iterable[FormField], theirs: Typed, yours: Typed
) -> list[Difference]:
    """Return the fields in which two versions of a form differ, with both values.

    `theirs` has the values that another user saved, and `yours` the values that this user typed. Secrets are not
    compared, because the form does not contain the stored secrets.
    """
    known: dict[tuple[str, str], object] = {}
    return [
        (_heading(field), _shown(field, theirs), _shown(field, yours))
        for field in flat(fields, theirs, yours)
        if field.asks not in ("secret", "hidden")
        and not _is_typed_alike(field, theirs, yours)
        and await _meant(at, field, theirs, known) != await _meant(at, field, yours, known)
    ]


def _is_typed_alike(field: FormField, theirs: Typed, yours: Typed) -> bool:
    """Return True if both forms have the same text in the field. Then the caller need not look up what the texts
    mean.
    """
    return field.asks != "several" and theirs.get(field.name, "") == yours.get(field.name, "")


def _heading(field: FormField) -> str:
    """Return the name of a field for people. For a field of a row, the name contains the number of the row."""
    outer, number, inner = (*field.name.split(BETWEEN, 2), "", "")[:3]
    return f"{name_of(outer)} {int(number) + 1}: {field.text}" if inner and number.isdecimal() else field.text


async def _meant(at: Workplace, field: FormField, typed: Typed, known: dict[tuple[str, str], object]) -> object:
    """Return the value that the typed text stands for, or the text itself if it is not valid."""
    try:
        return await (_id_once(at, field, typed, known) if field.asks == "code" else value_of(at, field, typed))
    except ValueError:
        return typed.get(field.name)


def _shown(field: FormField, typed: Typed) -> str:
    if field.asks == "several":
        return ", ".join(each for each in field.choices if typed.get(f"{field.name}:{each}")) or DASH
    value = typed.get(field.name, "")
    if field.asks == "flag":
        return words.yes_or_no(bool(value))
    return words.status(str(value)) or DASH
