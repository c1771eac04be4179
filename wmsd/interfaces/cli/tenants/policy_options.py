"""The policies of a company as options of a command: texts that become what its file holds."""

from collections.abc import Callable, Mapping
from typing import Final

from wmsd.base.problems import FieldErrors, Problem, invalid
from wmsd.contract import csv_cells
from wmsd.contract.validation import validate_model
from wmsd.db.engine.transaction import Transaction
from wmsd.platform.company_policies import POLICIES

NONE: Final = "none"
Setter = Callable[[Transaction], None]


def setter(given: Mapping[str, str]) -> Setter:
    """A unit of work that sets the policies. Raises Problem (422) with what is wrong with the texts."""
    errors: FieldErrors = {}
    values: dict[str, int | None] = {}
    for name, text in given.items():
        try:
            values[name] = _value(name, text)
        except (ValueError, Problem) as error:
            sentences = error.errors[name] if isinstance(error, Problem) else [str(error)]
            errors[f"--{name.replace('_', '-')}"] = sentences
    if errors:
        raise invalid(errors)

    def write(tx: Transaction) -> None:
        for name, value in values.items():
            POLICIES[name].write(tx, value)

    return write


def _value(name: str, text: str) -> int | None:
    policy = POLICIES[name]
    if policy.is_optional and text.strip().lower() == NONE:
        return None
    number = csv_cells.typed_reader(policy.model.model_fields[name])(text)
    value: int | None = getattr(validate_model(policy.model, {name: number}), name)
    return value
