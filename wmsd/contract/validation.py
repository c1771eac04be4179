"""Conversion of validation errors of models into errors for callers: a field path and an English sentence."""

from collections.abc import Callable, Container, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from wmsd.base.problems import MOST_LISTED, FieldErrors, by_path, invalid
from wmsd.contract.near_fields import NearFields

Model = TypeVar("Model", bound=BaseModel)


def _length(unit: str, bound: str, key: str) -> Callable[[Mapping[str, Any]], str]:
    def sentence(context: Mapping[str, Any]) -> str:
        count = context[key]
        return f"must have at {bound} {count} {unit if count == 1 else unit + 's'}"

    return sentence


def _one_of(context: Mapping[str, Any]) -> str:
    """Return the error sentence for a value that is not in an enumeration. It lists the allowed values as pydantic
    does: `'IN', 'OUT' or 'NONE'`.

    In the browser, the word "or" before the last value is translated.
    """
    before, _, last = str(context["expected"]).rpartition(" or ")
    return f"must be {before} or {last}" if before else f"must be {last}"


SENTENCES: dict[str, str | Callable[[Mapping[str, Any]], str]] = {
    "missing": "is required",
    "extra_forbidden": "is an unknown field",
    "string_type": "must be a string",
    "string_too_short": _length("character", "least", "min_length"),
    "string_too_long": _length("character", "most", "max_length"),
    "string_unicode": "must be Unicode text",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is outside the allowed range",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be an array",
    "too_short": _length("item", "least", "min_length"),
    "too_long": _length("item", "most", "max_length"),
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "literal_error": _one_of,
    "greater_than": lambda context: f"must be greater than {context['gt']}",
    "greater_than_equal": lambda context: f"must be at least {context['ge']}",
    "less_than_equal": lambda context: f"must be at most {context['le']}",
    "sentence": lambda context: str(context["sentence"]),
}


def validate_model(
    model: type[Model], values: Mapping[str, object], text_errors: FieldErrors | None = None
) -> Model:
    """Create the model from the values. Raise Problem with all errors if there are any.

    `text_errors` are the errors that the JSON parser has found. If the parser has found an error in a field, the
    model's errors in this field are left out.
    """
    if text_errors and sum(map(len, text_errors.values())) >= MOST_LISTED:
        raise invalid(text_errors)  # an answer cannot report more errors
    errors = dict(text_errors or {})
    checked: Model | None = None
    try:
        checked = model.model_validate(values)
    except ValidationError as error:
        for path, sentences in field_errors(error, model).items():
            if not any(path == known or path.startswith(known + ".") for known in (text_errors or {})):
                errors.setdefault(path, []).extend(sentences)
    if errors or checked is None:
        raise invalid(errors)
    return checked


def well_formed(sent: Mapping[str, Any], errors: Container[str]) -> dict[str, Any]:
    """Return the values `sent`, with None in place of each value whose field path is in `errors`."""
    return {name: _well_formed(value, name, errors) for name, value in sent.items()}


def _well_formed(value: Any, path: str, errors: Container[str]) -> Any:
    if path in errors:
        return None
    if isinstance(value, dict):
        return {name: _well_formed(each, f"{path}.{name}", errors) for name, each in value.items()}
    if isinstance(value, list):
        return [_well_formed(each, f"{path}.{number}", errors) for number, each in enumerate(value)]
    return value


def field_errors(error: ValidationError, model: type[BaseModel] | None = None) -> FieldErrors:
    """Return the error sentences of a pydantic error by field path.

    If `model` is given, the error for an unknown field names the most similar field of the model.
    """
    details = error.errors(include_url=False, include_input=False)
    near = None if model is None else NearFields(model)
    return by_path((".".join(map(str, detail["loc"])), _sentence(detail, near)) for detail in details)


def _sentence(detail: ErrorDetails, near: NearFields | None) -> str:
    known = SENTENCES.get(detail["type"])
    if known is None:
        return detail["msg"]
    if detail["type"] == "extra_forbidden" and near is not None and (meant := near.of(detail["loc"])):
        return f"is an unknown field; did you mean {meant}?"
    return known if isinstance(known, str) else known(detail.get("ctx", {}))
