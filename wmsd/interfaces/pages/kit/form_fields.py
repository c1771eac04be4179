"""The fields of a form, and their first values. The fields are derived from the body of the operation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache, lru_cache, partial
from typing import Any, Final, Literal, NamedTuple

from pydantic import BaseModel

from wmsd.contract.field_schemas import declared_name, plain_schema, property_schemas
from wmsd.interfaces.pages.kit.fields import REFERRING
from wmsd.interfaces.pages.kit.resources import REFERRED
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.moments import written_day
from wmsd.interfaces.pages.kit.text.numbers import number_in_form

Asks = Literal[
    "text",
    "long",
    "number",
    "flag",
    "choice",
    "several",
    "secret",
    "offered",
    "lines",
    "pairs",
    "code",
    "date",
    "moment",
    "rows",
    "hidden",
    "shown",
]
SECRETS: Final = frozenset({"secret", "token", "password"})
ADDRESS: Final = "url"
LONG: Final = 4000
"""A text field that allows this many characters or more gets an input with several lines."""
BETWEEN: Final = "."
"""The separator between the name of an object and the name of a field in it. Paths in errors have the same
separator.
"""
TYPED: Final = frozenset({"string", "number", "integer"})
"""The JSON types of fields in which people type.

Such a field must not be empty if it accepts no null and has no default.
"""
HIDDEN: Final = frozenset({"id", "po_item_id"})
"""The fields of a line that the form hides. They contain the id of the line or of its item."""
IDENTIFIES: Final = frozenset({"article_code", "packaging_type_code"})
"""The fields of a line that identify the goods or the packaging of the line."""
NOT_ASKED: Final = ("hidden", "shown")
LONGEST_NUMBER: Final = 4
"""The maximum number of digits in the number of a row."""
MOST_ROWS_KEPT: Final = 4000
MOST_COLUMNS_KEPT: Final = 64


class FormField(NamedTuple):
    """A field of a form.

    A form with 1 000 lines has a field for each cell. So fields are tuples, which are created quickly.
    """

    name: str
    declared: str
    """The name of the field for people, in English."""
    asks: Asks
    says: str = ""
    """The description of the field, in English."""
    is_required: bool = False
    is_whole: bool = False
    """True for a number without a fraction."""
    choices: tuple[str, ...] = ()
    most: int | None = None
    """For text: the maximum number of characters. For a `rows` field: the maximum number of rows."""
    default: str | bool | tuple[str, ...] = ""
    of: tuple["FormField", ...] = ()
    """For a `rows` field, such as the lines of an order: the fields of each row."""

    def __hash__(self) -> int:
        """Return a hash of the field's name and kind. It ignores the fields of rows, because hashing them takes
        too long.
        """
        return hash((self.name, self.asks))

    @property
    def text(self) -> str:
        """The name of the field for people, in the language of the page."""
        return _(self.declared)

    @property
    def own_name(self) -> str:
        """The name of the field without its row, such as `quantity` for `lines.0.quantity`."""
        return self.name.rpartition(BETWEEN)[2]

    @property
    def help(self) -> str:
        return _(self.says)

    @property
    def parameter(self) -> str:
        """The name of the field in the body. If people type a code in the field, the body has the record's id
        instead, so this name ends in `_id`.
        """
        return f"{self.name}_id" if self.asks == "code" else self.name

    @property
    def takes_rows(self) -> bool:
        """True if people can add rows. They cannot if the rows are given, such as one row for each item of an
        order.
        """
        return all(each.asks != "shown" for each in self.of if each.name in IDENTIFIES)

    @property
    def opens_a_receiver(self) -> bool:
        """True if the typed text may contain a secret with which others can send to a receiver.

        Headers may contain such a secret. For some receivers, the address itself is secret.
        """
        return self.asks == "pairs" or self.name == ADDRESS

    @property
    def is_kept(self) -> bool:
        """True if the form may show the typed text again when the user had to sign in again. It must not show
        secrets.
        """
        return self.own_name not in SECRETS and not self.opens_a_receiver

    def shown(self, typed: "Typed") -> str:
        """Return the value of this field as the form shows it. `typed` has the values of all fields."""
        value = str(typed.get(self.name, ""))
        return written_day(value) if self.asks == "date" else value


OFTEN_EQUAL: Final = frozenset({"code", "number"})
"""The kinds of columns in which many rows have the same value."""
Typed = dict[str, str | bool]
"""The values of a form by the names of the fields.

A field with several choices has a value for each choice, named `name:choice`. A field of a row is named
`lines.0.quantity`.
"""


@cache
def form_of(
    model: type[BaseModel] | None, without: frozenset[str] = frozenset(), shown: frozenset[str] = frozenset()
) -> tuple[FormField, ...]:
    """Return the fields of the form for a body with this model. Leave out the fields `without`.

    People cannot change the fields `shown`. The name of a field in a row begins with its list: `lines.lot_number`.
    """
    if model is None:
        return ()
    schema = model.model_json_schema(mode="serialization")
    return tuple(_fields(schema, schema.get("$defs", {}), without, shown))


def _fields(
    schema: Mapping[str, Any],
    parts: Mapping[str, Any],
    without: frozenset[str],
    shown: frozenset[str],
    within: str = "",
) -> Iterator[FormField]:
    properties = dict(property_schemas(schema, parts))
    required = _required(schema)
    for name, each in properties.items():
        is_coded = name.endswith("_id") and f"{name.removesuffix('_id')}_code" in properties
        if is_coded or f"{within}{name}" in without:
            continue  # if the body takes an id or a code of the same record, the form asks for the code only
        if each.get("type") == "object" and "properties" in each:
            for inner in _fields(each, parts, without, shown):
                declared = f"{declared_name(name)}: {inner.declared.lower()}"
                yield inner._replace(name=f"{name}{BETWEEN}{inner.name}", declared=declared, is_required=False)
            continue
        item = plain_schema(each.get("items", {}), parts)
        if "properties" in item:
            of = sorted(_fields(item, parts, without, shown, f"{name}{BETWEEN}"), key=_comes_later)
            is_required = name in required and each.get("minItems", 0) > 0
            most = each.get("maxItems")
            yield FormField(name, declared_name(name), "rows", is_required=is_required, most=most, of=tuple(of))
        else:
            field = _field(name, each, name in required)
            yield field._replace(asks="shown", is_required=False) if f"{within}{name}" in shown else field


def _required(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the fields that must not be empty in the form.

    In a change, the operation accepts a body without these fields. But a person must not empty them.
    """
    typed = {name: each for name, each in schema["properties"].items() if each.get("type") in TYPED}
    return frozenset({*schema.get("required", ()), *(name for name in typed if "default" not in typed[name])})


def _comes_later(field: FormField) -> bool:
    return field.name not in IDENTIFIES


def rows_in(field: FormField, typed: Mapping[str, object]) -> int:
    """Return how many rows of the field the form contains."""
    begin = f"{field.name}{BETWEEN}"
    end = len(begin)
    numbers = {name[end : name.find(BETWEEN, end)] for name in typed if name.startswith(begin)}
    return max((int(number) + 1 for number in numbers), default=0)


def names_in(field: FormField, column: FormField, count: int) -> Sequence[str]:
    """Return the names of the column in the first `count` rows of the field, such as `lines.0.quantity`."""
    return _names(field.name, column.name, 1 << count.bit_length())[:count]


@lru_cache(maxsize=MOST_COLUMNS_KEPT)
def _names(rows: str, column: str, count: int) -> Sequence[str]:
    """Return the names of a column in `count` rows.

    The result is cached, because the form of a long document needs thousands of names several times.
    """
    return [f"{rows}{BETWEEN}{row}{BETWEEN}{column}" for row in range(count)]


def flat(fields: Iterable[FormField], *typed: Mapping[str, object]) -> Iterator[FormField]:
    """Yield the fields. Replace each `rows` field by the fields of its rows, such as `lines.0.quantity`.

    `typed` has the values of one or more forms. The form with the most rows determines the number of rows.
    """
    for field in fields:
        if field.asks != "rows":
            yield field
            continue
        for number in range(max(rows_in(field, each) for each in typed)):
            yield from row_of(field, number)


@lru_cache(maxsize=MOST_ROWS_KEPT)
def row_of(field: FormField, number: int) -> tuple[FormField, ...]:
    """Return the fields of a row; rows count from 0.

    The result is cached, because a form with 1 000 lines is read several times.
    """
    begin = f"{field.name}{BETWEEN}{number}{BETWEEN}"
    return tuple(inner._replace(name=begin + inner.name) for inner in field.of)


def _field(name: str, schema: Mapping[str, Any], is_required: bool) -> FormField:
    asks, choices = _asks(name, schema)
    return FormField(
        REFERRING[name].name if asks == "code" else name,
        declared_name(name),
        asks,
        says=schema.get("description", "").replace("`", ""),
        is_required=is_required,
        is_whole=schema.get("type") == "integer",
        choices=choices,
        most=schema.get("maxLength"),
        default=_default(schema.get("default")),
    )


def _default(value: object) -> str | bool | tuple[str, ...]:
    if isinstance(value, list):
        return tuple(value)
    return value if isinstance(value, str | bool) else ""


def _asks(name: str, schema: Mapping[str, Any]) -> tuple[Asks, tuple[str, ...]]:
    if name in HIDDEN:
        return "hidden", ()
    if name in REFERRED:
        return "code", ()
    if name in SECRETS:
        return "secret", ()
    match schema:
        case {"enum": choices}:
            return "choice", tuple(choices)
        case {"type": "array", "items": {"enum": choices}}:
            return "several", tuple(choices)
        case {"type": "array"}:
            return "lines", ()
        case {"type": "object"}:
            return "pairs", ()
        case {"type": "boolean"}:
            return "flag", ()
        case {"type": "number" | "integer"}:
            return "number", ()
        case {"format": "date"}:
            return "date", ()
        case {"format": "date-time"}:
            return "moment", ()
        case {"maxLength": most} if most >= LONG:
            return "long", ()
    return "text", ()


def typed_of(fields: Iterable[FormField], record: Mapping[str, Any], referred: Mapping[Any, Any]) -> Typed:
    """Return the values of a record, as the form for a change shows them at first.

    `referred` has the records to which the record refers.
    """
    typed: Typed = {}
    for field in fields:
        (value,) = _values(field, [record])
        if value is None:
            continue
        if field.asks == "rows":
            for inner in field.of:
                names, values = names_in(field, inner, len(value)), _values(inner, value)
                typed_value = partial(_typed, inner, referred)
                convert = cache(typed_value) if inner.asks in OFTEN_EQUAL else typed_value
                pairs = zip(names, values, strict=True)
                typed |= {name: convert(each) for name, each in pairs if each is not None}
        elif field.asks == "several":
            typed |= {f"{field.name}:{choice}": True for choice in value}
        else:
            typed[field.name] = _typed(field, referred, value)
    return typed


def _values(field: FormField, records: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the values of the field in these records. A value is None if the record does not have it."""
    first, *others = field.parameter.split(BETWEEN)
    values = [record.get(first) for record in records]
    for part in others:
        values = [None if value is None else value.get(part) for value in values]
    return values


def _typed(field: FormField, referred: Mapping[Any, Any], value: Any) -> str | bool:
    if isinstance(value, list):
        return ("\n" if field.asks == "lines" else ", ").join(map(str, value))
    if field.asks == "code":
        found = referred.get((field.parameter, value))
        return "" if found is None else str(found["code"])
    if field.asks == "number" or (field.asks == "shown" and isinstance(value, int | float | Decimal)):
        return number_in_form(value)
    return value if isinstance(value, bool) else str(value)
