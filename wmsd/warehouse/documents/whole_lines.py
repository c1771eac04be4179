"""Finds the well-formed lines of a body that has malformed fields elsewhere.

The references and the stock of these lines are checked too. So one answer reports all errors of a request.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

from wmsd.contract.field_errors import FieldError
from wmsd.contract.fields import Input

Line = TypeVar("Line", bound=Input)


class WholeLines(NamedTuple, Generic[Line]):
    lines: list[Line]
    places: list[int]
    """The index in the request body of each line in `lines`."""
    name: str
    """The name of the field with the lines."""

    def errors(self, found: Iterable[FieldError], other_errors: Sequence[FieldError]) -> Iterator[FieldError]:
        """Yield the errors in `found`, with corrected paths. In `found`, the index in a path counts only the
        well-formed lines. Replace this index by the line's index in the request body. Omit errors at paths that
        already have an error in `other_errors`.
        """
        paths = {error.path for error in other_errors}
        for error in found:
            moved = replace(error, path=self._as_sent(error.path))
            if moved.path not in paths:
                yield moved

    def _as_sent(self, path: str) -> str:
        name, _, rest = path.partition(".")
        number, dot, field = rest.partition(".")
        return f"{name}.{self.places[int(number)]}{dot}{field}" if name == self.name and number else path


def whole_lines(
    name: str, model: type[Line], sent: Mapping[str, Any], malformed: Iterable[str]
) -> WholeLines[Line]:
    """Return the lines in the field `name` of the body `sent` that are well-formed. `malformed` has the path of
    each malformed value in the body.
    """
    wrong: Container[str] = {".".join(path.split(".")[:2]) for path in malformed}
    places = [number for number in range(len(sent.get(name) or ())) if f"{name}.{number}" not in wrong]
    return WholeLines([model.model_validate(sent[name][place]) for place in places], places, name)
