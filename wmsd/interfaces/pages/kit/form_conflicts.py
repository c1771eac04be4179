"""In which fields a form differs from what somebody else has saved meanwhile."""

from wmsd.base.dataclass import dataclass
from wmsd.contract.fields import Input
from wmsd.interfaces.pages.kit.forms import FormField, Typed, form_of, value_of
from wmsd.interfaces.pages.kit.text import words
from wmsd.interfaces.pages.kit.values import DASH
from wmsd.interfaces.pages.kit.workplace import Workplace


@dataclass(frozen=True, slots=True)
class Difference:
    """In the words of the page."""

    field: str
    theirs: str
    yours: str


async def form_differences(at: Workplace, body: type[Input], theirs: Typed, yours: Typed) -> list[Difference]:
    """Of secrets nothing is known, so they do not differ."""
    return [
        Difference(field.text, _shown(field, theirs), _shown(field, yours))
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
