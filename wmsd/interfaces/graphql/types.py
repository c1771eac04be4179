"""Creates the GraphQL types from the Pydantic models that operations use for requests and answers."""

import inspect
import re
import types
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from graphql import (
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLEnumValue,
    GraphQLError,
    GraphQLID,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    GraphQLString,
    ValueNode,
    value_from_ast_untyped,
)
from graphql.language import FloatValueNode, IntValueNode
from pydantic import BaseModel, WithJsonSchema

from wmsd.base import strict_json
from wmsd.base.dataclass import dataclass
from wmsd.contract.fields import Decimals, Input

WHOLE_NUMBER: Final = re.compile(r"[0-9]{1,16}", re.ASCII)


def _same(value: Any) -> Any:
    return value


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise GraphQLError("must be a number")
    return value


def _number_literal(node: ValueNode, _: Any = None) -> Any:
    if not isinstance(node, IntValueNode | FloatValueNode):
        raise GraphQLError("must be a number", node)
    document, text_errors = strict_json.parse_json(f'{{"value":{node.value}}}'.encode())
    for sentences in text_errors.values():
        raise GraphQLError(sentences[0], node)
    return document["value"]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise GraphQLError("must be a text")
    return value


DECIMAL: Final = GraphQLScalarType(
    "Decimal",
    serialize=_same,
    parse_value=_number,
    parse_literal=_number_literal,
    description="A number with at most 6 decimal places, in the same form as in version 2 of REST.",
)
DATE_TIME: Final = GraphQLScalarType(
    "DateTime",
    serialize=_same,
    parse_value=_text,
    description="ISO 8601; answers are in UTC with milliseconds: 2026-11-20T12:00:00.000Z.",
    specified_by_url="https://www.rfc-editor.org/rfc/rfc3339",
)
DATE: Final = GraphQLScalarType(
    "Date", serialize=_same, parse_value=_text, description="A day, such as 2026-11-20."
)
JSON: Final = GraphQLScalarType(
    "JSON",
    serialize=_same,
    parse_value=_same,
    parse_literal=value_from_ast_untyped,
    description="Any JSON value.",
)
FORMATS: Final = {"date-time": DATE_TIME, "date": DATE}


@dataclass(frozen=True, slots=True)
class Plain:
    """A Python annotation in parts. `base` is the type without `Annotated` and `| None`.

    `marks` has the metadata of `Annotated`.
    """

    base: Any
    is_optional: bool
    marks: tuple[Any, ...]

    @property
    def format(self) -> str | None:
        schemas = (mark.json_schema for mark in self.marks if isinstance(mark, WithJsonSchema))
        return next((schema["format"] for schema in schemas if schema and "format" in schema), None)

    @property
    def is_decimal(self) -> bool:
        return Decimals in self.marks


def plain_type(annotation: Any, marks: tuple[Any, ...] = ()) -> Plain:
    """Split an annotation into its plain type, its metadata, and whether None is allowed. A union becomes Any."""
    if get_origin(annotation) is Annotated:
        inner, *outer = get_args(annotation)
        return plain_type(inner, (*marks, *outer))
    if get_origin(annotation) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        if len(kinds) > 1:
            return Plain(Any, True, marks)
        found = plain_type(kinds[0], marks)
        return Plain(found.base, True, found.marks)
    return Plain(annotation, False, marks)


def is_id(name: str, found: Plain) -> bool:
    """Return True if the field contains the id of a wmsd record. A field such as `tax_id` does not."""
    return name == "id" or (name.endswith("_id") and found.base is int)


class Types:
    """Creates the GraphQL types of models. A type is created only once.

    `names` has the type names of the models whose type does not have the model's name.
    """

    def __init__(self, names: Mapping[type[BaseModel], str]) -> None:
        self._names = names
        self._enums: dict[tuple[str, ...], GraphQLEnumType] = {}
        self._inputs: dict[type[BaseModel], GraphQLInputObjectType] = {}

    def name_of(self, model: type[BaseModel]) -> str:
        return self._names.get(model, model.__name__)

    def scalar(self, name: str, found: Plain, owner: str) -> Any:
        """Return the type of a field that is neither an object nor a list. The name of a new enum begins with
        `owner`.
        """
        if found.is_decimal:
            return DECIMAL
        if found.format in FORMATS:
            return FORMATS[found.format]
        if is_id(name, found):
            return GraphQLID
        if get_origin(found.base) is Literal:
            return self._enum(name, get_args(found.base), owner)
        return {str: GraphQLString, int: GraphQLInt, bool: GraphQLBoolean}.get(found.base, JSON)

    def _enum(self, name: str, values: tuple[str, ...], owner: str) -> Any:
        if not all(value.isidentifier() for value in values):
            return GraphQLString
        if values not in self._enums:
            called = owner + "".join(part.capitalize() for part in name.split("_"))
            self._enums[values] = GraphQLEnumType(called, {value: GraphQLEnumValue(value) for value in values})
        return self._enums[values]

    def input_type(self, model: type[Input]) -> GraphQLInputObjectType:
        if model not in self._inputs:
            ids = frozenset(
                name
                for name, declared in model.model_fields.items()
                if is_id(name, plain_type(declared.annotation))
            )
            self._inputs[model] = GraphQLInputObjectType(
                f"{self.name_of(model).removesuffix('Fields')}Input",
                lambda: self._input_fields(model),
                description=own_description(model),
                out_type=lambda values: _with_whole_ids(values, ids),
            )
        return self._inputs[model]

    def _input_fields(self, model: type[Input]) -> dict[str, GraphQLInputField]:
        fields = {}
        for name, declared in model.model_fields.items():
            found = plain_type(declared.annotation, tuple(declared.metadata))
            kind = self._input_kind(name, found, model)
            is_needed = declared.is_required() and not found.is_optional
            fields[name] = GraphQLInputField(
                GraphQLNonNull(kind) if is_needed else kind, description=declared.description
            )
        return fields

    def _input_kind(self, name: str, found: Plain, model: type[Input]) -> Any:
        if get_origin(found.base) is list:
            member = plain_type(get_args(found.base)[0])
            return GraphQLList(GraphQLNonNull(self._input_kind(name, member, model)))
        if isinstance(found.base, type) and issubclass(found.base, Input):
            return self.input_type(found.base)
        return self.scalar(name, found, model.__name__.removesuffix("Fields").removesuffix("Changes"))


def _with_whole_ids(values: dict[str, Any], ids: frozenset[str]) -> dict[str, Any]:
    """Return `values`. Convert texts in the fields `ids` to numbers, because GraphQL passes ids as text.

    If a text is not a number, leave it unchanged. A later check refuses it.
    """
    return {
        name: int(value) if name in ids and isinstance(value, str) and WHOLE_NUMBER.fullmatch(value) else value
        for name, value in values.items()
    }


def own_description(model: type[BaseModel]) -> str | None:
    text = model.__dict__.get("__doc__")
    return None if text is None else inspect.cleandoc(text)
