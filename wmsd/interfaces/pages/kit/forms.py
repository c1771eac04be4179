"""The form of an operation's body: its fields, what a person has typed into them, the body that it makes, and in
which fields it differs from what somebody else has saved meanwhile.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final, Literal

from pydantic import BaseModel

from wmsd.base.dataclass import dataclass
from wmsd.contract.field_schemas import declared_name, properties_of
from wmsd.contract.fields import Input
from wmsd.interfaces.pages.kit.fields import REFERRING
from wmsd.interfaces.pages.kit.resources import REFERRED
from wmsd.interfaces.pages.kit.text import words
from wmsd.interfaces.pages.kit.text.language import translate_error
from wmsd.interfaces.pages.kit.text.language import translate_text as _
from wmsd.interfaces.pages.kit.text.numbers import number_in_form, read_number
from wmsd.interfaces.pages.kit.values import DASH
from wmsd.interfaces.pages.kit.workplace import Workplace

Asks = Literal[
    "text", "long", "number", "flag", "choice", "several", "secret", "lines", "pairs", "code", "date", "moment"
]
SECRETS: Final = frozenset({"secret", "token", "password"})
ADDRESS: Final = "url"
LONG: Final = 4000
"""A text that may have as many characters is asked for in several lines."""
BETWEEN: Final = "."
"""Stands in the name of a field between that of an object and that of a field of it, as in errors."""


@dataclass(frozen=True, slots=True)
class FormField:
    name: str
    declared: str
    """Its name for people, in English."""
    asks: Asks
    says: str = ""
    """What is declared of it, in English."""
    is_required: bool = False
    is_whole: bool = False
    """A number that takes no fraction."""
    choices: tuple[str, ...] = ()
    most: int | None = None
    """The most characters that it takes."""
    default: str | bool | tuple[str, ...] = ""

    @property
    def text(self) -> str:
        """Its name for people."""
        return _(self.declared)

    @property
    def help(self) -> str:
        return _(self.says)

    @property
    def parameter(self) -> str:
        """Its name in the operation. A code that is typed stands for an id."""
        return f"{self.name}_id" if self.asks == "code" else self.name

    @property
    def opens_a_receiver(self) -> bool:
        """Whether what is typed may be a secret: headers, and addresses, which are all that some receivers ask."""
        return self.asks == "pairs" or self.name == ADDRESS

    def shown(self, typed: "Typed") -> str:
        """What the form begins with."""
        return str(typed.get(self.name, ""))


Typed = dict[str, str | bool]
"""What is in a form. One field of several choices is `name:choice` for each."""


Difference = tuple[str, str, str]
"""The field, what is there now, and what its person has typed, in the words of the page."""


@cache
def form_of(model: type[BaseModel] | None) -> tuple[FormField, ...]:
    if model is None:
        return ()
    required = set(model.model_json_schema().get("required", ()))
    return tuple(_fields(properties_of(model), required))


def _fields(properties: Mapping[str, Mapping[str, Any]], required: set[str]) -> Iterable[FormField]:
    for name, schema in properties.items():
        if schema.get("type") == "object" and "properties" in schema:
            for inner in _fields(schema["properties"], set()):
                declared = f"{declared_name(name)}: {inner.declared.lower()}"
                yield replace(inner, name=f"{name}{BETWEEN}{inner.name}", declared=declared)
        else:
            yield _field(name, schema, name in required)


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
        case {"maxLength": most} if most >= LONG:
            return "long", ()
    return "text", ()


def defaults(fields: Iterable[FormField]) -> Typed:
    """What the form of a new record begins with."""
    typed: Typed = {}
    for field in fields:
        if isinstance(field.default, tuple):
            typed |= {f"{field.name}:{choice}": True for choice in field.default}
        elif field.default != "":
            typed[field.name] = field.default
    return typed


def typed_of(fields: Iterable[FormField], record: Mapping[str, Any], referred: Mapping[Any, Any]) -> Typed:
    """What the form of a change begins with: the record's own values."""
    typed: Typed = {}
    for field in fields:
        value: Any = record
        for part in field.parameter.split(BETWEEN):
            value = None if value is None else value.get(part)
        if value is None:
            continue
        if field.asks == "several":
            typed |= {f"{field.name}:{choice}": True for choice in value}
        elif field.asks == "lines":
            typed[field.name] = "\n".join(value)
        elif field.asks == "code":
            found = referred.get((field.parameter, value))
            typed[field.name] = "" if found is None else found["code"]
        elif field.asks == "number":
            typed[field.name] = number_in_form(value)
        else:
            typed[field.name] = value if isinstance(value, bool) else str(value)
    return typed


def typed_in(fields: Iterable[FormField], sent: Mapping[str, str]) -> Typed:
    """What a person has typed. Line ends of browsers become those of texts."""
    typed: Typed = {}
    for field in fields:
        if field.asks == "several":
            typed |= {f"{field.name}:{choice}": f"{field.name}:{choice}" in sent for choice in field.choices}
        elif field.asks == "flag":
            typed[field.name] = field.name in sent
        else:
            typed[field.name] = sent.get(field.name, "").replace("\r\n", "\n")
    return typed


async def document_of(
    at: Workplace, body: type[Input], typed: Typed, is_change: bool
) -> tuple[dict[str, object], dict[str, list[str]]]:
    """The body of the operation, and a sentence for each field that makes none."""
    document: dict[str, object] = {}
    errors: dict[str, list[str]] = {}
    for field in form_of(body):
        try:
            value = await value_of(at, field, typed)
        except ValueError as error:
            errors[field.name] = [str(error)]
            continue
        if value is None and (field.asks == "secret" or not is_change):
            continue  # what is left empty has its default, or stays as it is
        _put(document, field.parameter, value)
    for name, value in document.items():
        if isinstance(value, dict) and all(each is None for each in value.values()):
            document[name] = None
    return document, errors


async def value_of(at: Workplace, field: FormField, typed: Typed) -> object:
    """What is typed into the field, as the operation takes it. Raises ValueError with a sentence."""
    if field.asks == "several":
        return [choice for choice in field.choices if typed.get(f"{field.name}:{choice}")]
    value = typed.get(field.name, "")
    if isinstance(value, bool):
        return value
    if field.asks == "lines":
        return [line.strip() for line in value.splitlines() if line.strip()]
    if not value.strip():
        return None
    if field.asks == "number":
        return read_number(value, field.is_whole)
    if field.asks == "pairs":
        return _pairs(value)
    if field.asks == "code":
        return await id_of_code(at, field, value.strip())
    return value.strip() if field.asks == "text" else value


async def id_of_code(at: Workplace, field: FormField, code: str) -> int:
    """The id of the record with the code that is typed. Raises ValueError with a sentence."""
    found = await at.id_of(REFERRED[field.parameter], code)
    if found is None:
        raise ValueError(_("%(code)s is the code of none") % {"code": code})
    return found


def _pairs(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if not colon:
            raise ValueError(_("must have a name, a colon and a value in each line"))
        pairs[name.strip()] = value.strip()
    return pairs


def _put(document: dict[str, object], name: str, value: object) -> None:
    outer, _, inner = name.partition(BETWEEN)
    if inner:
        within = document.setdefault(outer, {})
        assert isinstance(within, dict)
        within[inner] = value
    else:
        document[name] = value


def errors_by_field(
    fields: Iterable[FormField], errors: Mapping[str, list[str]]
) -> tuple[dict[str, list[str]], list[str]]:
    """The errors of each field of the form, and those of none."""
    by_field: dict[str, list[str]] = {}
    others: list[str] = []
    names = {field.parameter: field.name for field in fields}
    for path, sentences in errors.items():
        name = path
        while name and name not in names and name not in names.values():
            name = name.rpartition(BETWEEN)[0]
        if name:
            by_field.setdefault(names.get(name, name), []).extend(sentences)
        else:
            others.extend(f"{path} {translate_error(sentence)}".strip() for sentence in sentences)
    return by_field, others


async def form_differences(at: Workplace, body: type[Input], theirs: Typed, yours: Typed) -> list[Difference]:
    """Of secrets nothing is known, so they do not differ."""
    return [
        (field.text, _shown(field, theirs), _shown(field, yours))
        for field in form_of(body)
        if field.asks != "secret" and await _meant(at, field, theirs) != await _meant(at, field, yours)
    ]


async def _meant(at: Workplace, field: FormField, typed: Typed) -> object:
    """The value, however it is written; what makes none is as it was typed."""
    try:
        return await value_of(at, field, typed)
    except ValueError:
        return typed.get(field.name)


def _shown(field: FormField, typed: Typed) -> str:
    if field.asks == "several":
        return ", ".join(each for each in field.choices if typed.get(f"{field.name}:{each}")) or DASH
    value = typed.get(field.name, "")
    if field.asks == "flag":
        return words.yes_or_no(bool(value))
    return words.status(str(value)) or DASH
