"""A member of a body that cannot be read is refused by every operation, without any effect."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from wmsd.interfaces.pages.kit.acts import Act
from wmsd.interfaces.pages.kit.form_fields import BETWEEN, flat, form_of
from wmsd.interfaces.pages.kit.forms import never_taken
from wmsd.interfaces.pages.kit.installation_resources import ADMINISTRATION
from wmsd.interfaces.pages.kit.resources import RESOURCES

ACTS = {
    f"{resource.name} {act.name}": act
    for resource in (*RESOURCES, *ADMINISTRATION)
    for act in resource.acts
    if act.operation.body is not None
}
ALWAYS_READ = ("flag", "several", "lines", "shown", "rows")


def body_of(path: str, value: object) -> dict[str, Any]:
    """Return a body with only this value."""
    name, _, rest = path.partition(BETWEEN)
    if not rest:
        return {name: value}
    if rest.split(BETWEEN)[0].isdecimal():
        return {name: [body_of(rest.partition(BETWEEN)[2], value)]}
    return {name: body_of(rest, value)}


def refused_in(model: type[BaseModel], body: dict[str, Any]) -> set[str]:
    try:
        model.model_validate(body)
    except ValidationError as error:
        return {BETWEEN.join(map(str, each["loc"])) for each in error.errors()}
    return set()


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_it_is_refused_at_its_field(act: Act) -> None:
    model = act.operation.body
    assert model is not None
    fields = form_of(model)
    rows = {f"{each.name}.0.{each.of[0].name}": "" for each in fields if each.asks == "rows"}
    asked = [each for each in flat(fields, rows) if each.asks not in ALWAYS_READ]
    taken = [
        each.parameter
        for each in asked
        if not any(
            found.startswith(each.parameter)
            for found in refused_in(model, body_of(each.parameter, never_taken(each)))
        )
    ]
    assert taken == []
