"""The fields of an action's form: which of them the person sees, in which order, with how many rows."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from wmsd.interfaces.pages.kit.acts import Act
from wmsd.interfaces.pages.kit.fields import REFERRING
from wmsd.interfaces.pages.kit.form_fields import FormField, Typed, flat, form_of, rows_in
from wmsd.interfaces.pages.kit.page_client import Answer
from wmsd.interfaces.pages.kit.workplace import Workplace

EMPTY_ROWS: Final = 5


def fields_of(at: Workplace, act: Act, record: Answer | None) -> tuple[FormField, ...]:
    """Return the fields of the form. Leave out a field if the person may not read its value. The value then stays
    unchanged.
    """
    fields = all_fields(act, None if record is None else record.body.get("status"))
    if record is None or not act.changes:
        return fields
    return tuple(each for each in fields if not _holds_unreadable(at, each, record.body))


def all_fields(act: Act, status: str | None) -> tuple[FormField, ...]:
    fields = form_of(act.operation.body, act.left_out(status), act.shown(status))
    if act.offers is None:
        return fields
    return tuple(each._replace(asks="offered") if each.name == act.offers[0] else each for each in fields)


def _holds_unreadable(at: Workplace, field: FormField, record: Mapping[str, Any]) -> bool:
    is_table = field.asks == "rows"
    rows = (record.get(field.parameter) or ()) if is_table else (record,)
    codes = [each.parameter for each in (field.of if is_table else (field,)) if each.asks == "code"]
    unreadable = [name for name in codes if not at.may(REFERRING[name].find)]
    return any(row.get(name) is not None for name in unreadable for row in rows)


def offered_secret(act: Act) -> Typed:
    return {} if act.offers is None else {act.offers[0]: act.offers[1]()}


def without_offer(act: Act, typed: Typed) -> Typed:
    """Return the typed values. If the choices in the form need no secret, replace the generated secret by ""."""
    goes_with = None if act.offers is None else act.goes_with(act.offers[0])
    if act.offers is None or goes_with is None or typed.get(goes_with[0]) == goes_with[1]:
        return typed
    return {**typed, act.offers[0]: ""}


def row_count(field: FormField, typed: Typed, more: str) -> int:
    """Return the number of rows to show for `field`. `more` is the name of the field for which the person wants
    more rows, or "".
    """
    typed_rows = rows_in(field, typed)
    empty = 0 if not field.takes_rows else EMPTY_ROWS if more == field.name or not typed_rows else 1
    return min(typed_rows + empty, field.most or typed_rows)


def in_order(act: Act, fields: Sequence[FormField]) -> list[FormField]:
    return sorted(fields, key=lambda each: [*act.leading, each.name].index(each.name))


def focus_of(fields: Sequence[FormField], typed: Typed, errors: Mapping[str, object]) -> str:
    """Return the name of the first field with an error, or else of the first field."""
    names = (field.name for field in flat(fields, typed))
    first = next(names, "")
    if not errors or first in errors:
        return first
    return next((name for name in names if name in errors), first)
