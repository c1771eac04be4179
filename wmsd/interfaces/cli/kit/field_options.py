"""Command options that are generated from the declared fields of a model.

A new field gets its option automatically.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import FieldErrors
from wmsd.contract import csv_cells
from wmsd.contract.field_schemas import declared_name, properties_of
from wmsd.contract.operation import Operation
from wmsd.interfaces.cli.kit.operations import FIELD
from wmsd.interfaces.cli.kit.references import DIRECTORY, Reference, References

METAVARS: Final = {"number": "N", "integer": "N"}
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FieldOption:
    path: str
    """The path of the field, such as `address.city`."""
    declared: FieldInfo | None
    """The field of the pydantic model. None if the option is a parameter of a list, such as a filter."""
    schema: Schema
    is_required: bool = False
    reference: Reference | None = None
    """The kind of record that the field refers to by id, or None. People give the code of the record instead."""

    @property
    def option(self) -> str:
        name = self.path if self.reference is None else self.path.removesuffix("_id")
        return f"--{name.replace('.', '-').replace('_', '-')}"

    @property
    def parameter(self) -> str:
        return FIELD + self.path.replace(".", "__")

    @property
    def says(self) -> str:
        declared = self.schema.get("description")
        if declared is None:
            outer, *inner = map(declared_name, self.path.split("."))
            return f"{': '.join([outer, *(name.lower() for name in inner)])}."
        return str(declared).replace("`", "")

    @property
    def default(self) -> str:
        value = self.schema.get("default")
        return f"  [default: {value}]" if isinstance(value, str | int | float) and value is not False else ""

    def decorator(self) -> Callable[[Any], Any]:
        """Return a decorator that adds the option to a command."""
        given: dict[str, Any] = {"help": self.says, "required": self.is_required}
        match self.schema:
            case {"type": "boolean"}:
                return click.option(f"{self.option}/--no-{self.option[2:]}", self.parameter, default=None, **given)
            case {"enum": choices}:
                given["type"] = click.Choice(choices)
            case {"type": "array", "items": {"enum": choices}}:
                given |= {"multiple": True, "type": click.Choice(choices)}
            case {"type": "array"}:
                given |= {
                    "multiple": True,
                    "metavar": "TEXT",
                    "help": f"{self.says} Repeat the option for several values.",
                }
            case _ if self.reference is not None:
                says = "Only for this" if self.declared is None else "The code of the"
                given |= {"metavar": "CODE", "help": f"{says} {self.reference.noun}."}
            case _:
                given["metavar"] = METAVARS.get(self.schema.get("type", ""), "TEXT")
        return click.option(self.option, self.parameter, **{**given, "help": given["help"] + self.default})

    def read(self, given: Any) -> object:
        """Convert the given value to the field's type, and return it.

        If the field is optional, an empty text becomes None. If the value is not valid, raise ValueError with a
        sentence.
        """
        if isinstance(given, bool) or self.declared is None:
            return given
        if isinstance(given, tuple):
            return [member for member in given if member != ""]
        if given == "" and csv_cells.is_nullable(self.declared):
            return None
        return csv_cells.typed_reader(self.declared)(given)


def options_of_body(operation: Operation) -> tuple[FieldOption, ...]:
    """Return the options for the fields of the operation's body."""
    model = operation.body
    assert model is not None
    required = set(model.model_json_schema().get("required", ()))
    return tuple(_options(model.model_fields, properties_of(model), required))


def _options(
    fields: Mapping[str, FieldInfo], schemas: Mapping[str, Schema], required: set[str], above: str = ""
) -> Iterator[FieldOption]:
    for name, field in fields.items():
        inner = _model_in(field)
        if inner is None:
            path = f"{above}{name}"
            yield FieldOption(path, field, schemas[name], name in required, DIRECTORY.get(path))
        else:
            yield from _options(inner.model_fields, properties_of(inner), set(), f"{name}.")


def _model_in(field: FieldInfo) -> type[BaseModel] | None:
    """Return the model of the field's value, such as an address, or None if the value is not a model."""
    plain = csv_cells.plain_type(field)
    return plain if isinstance(plain, type) and issubclass(plain, BaseModel) else None


def options_of_query(
    model: type[BaseModel], names: Iterable[str], references: References = DIRECTORY
) -> tuple[FieldOption, ...]:
    """Return the options for the named parameters of a list."""
    schemas = properties_of(model)
    return tuple(
        FieldOption(name, None, {**schemas[name], "default": None}, reference=references.get(name))
        for name in names
    )


def values_of_options(
    options: tuple[FieldOption, ...], parameters: Mapping[str, Any]
) -> tuple[dict[str, object], FieldErrors]:
    """Return two dicts by field path: the values that the user gave, and the errors of values that are
    not valid.
    """
    values: dict[str, object] = {}
    errors: FieldErrors = {}
    for each in options:
        given = parameters.get(each.parameter)
        if given is None or given == ():
            continue
        try:
            values[each.path] = each.read(given)
        except ValueError as error:
            values[each.path] = given
            errors[each.path] = [str(error)]
    return values, errors
