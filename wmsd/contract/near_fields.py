"""A search for the field that a client probably meant by an unknown field, such as `quantity` for `quantiy`."""

import difflib
from collections.abc import Sequence
from typing import Any, Final, get_args

from pydantic import BaseModel

from wmsd.contract.fields import SentBack

NEAR: Final = 0.8
"""How similar two names must be, from 0 to 1."""
LONGEST_NAME: Final = 40
MOST_LOOKED_FOR: Final = 10
"""wmsd searches for similar names of at most this many unknown fields in one body. A limit is needed because a
sender may send any number of unknown fields.
"""


class NearFields:
    """A search for the fields that were probably meant by the unknown fields of one body."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model
        self._found: dict[tuple[type[BaseModel], str], str | None] = {}

    def of(self, path: Sequence[int | str]) -> str | None:
        """Return the known name that is most similar to the unknown field at `path`. Return None if no name is
        similar.
        """
        *above, name = path
        model = _model_at(self._model, above)
        if model is None or not isinstance(name, str) or len(name) > LONGEST_NAME:
            return None
        if (model, name) not in self._found and len(self._found) < MOST_LOOKED_FOR:
            self._found[model, name] = _near(model, name.lower())
        return self._found.get((model, name))


def _near(model: type[BaseModel], name: str) -> str | None:
    names = [each for each, field in model.model_fields.items() if SentBack not in field.metadata]
    beginnings = {beginning: each for each in reversed(names) for beginning in _beginnings(each)}
    meant = beginnings | {each: each for each in names}
    found = difflib.get_close_matches(name, meant, n=1, cutoff=NEAR)
    return meant[found[0]] if found else None


def _beginnings(name: str) -> list[str]:
    """Return the name, and all its beginnings that consist of whole words: `weight_kg` begins with `weight`."""
    words = name.split("_")
    return ["_".join(words[:number]) for number in range(1, len(words) + 1)]


def _model_at(model: type[BaseModel], path: Sequence[int | str]) -> type[BaseModel] | None:
    """Return the model of the object at a path, or None if no model describes the object.

    Numbers in the path are positions in a list.
    """
    found: type[BaseModel] | None = model
    for part in path:
        if isinstance(part, int):
            continue
        field = None if found is None else found.model_fields.get(part)
        found = None if field is None else _model_in(field.annotation)
    return found


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """Return the first model inside a type, such as `Line` in `list[Line] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for each in get_args(annotation) if (found := _model_in(each)) is not None), None)
