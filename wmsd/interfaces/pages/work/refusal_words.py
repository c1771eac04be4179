"""Why a request was refused and what to do about it, in the language of the page. The history tells it in English,
in several sentences with values.
"""

from typing import Final

from wmsd.interfaces.pages.kit.text.language import BETWEEN_SENTENCES, told

BETWEEN_FIELDS: Final = "; "


def in_words(text: str | None) -> str:
    """The sentences of a reason or of a remedy; in English what the catalogue lacks."""
    if not text:
        return ""
    whole = told(text)
    if whole != text:
        return whole
    return " ".join(map(_sentence, BETWEEN_SENTENCES.split(text)))


def _sentence(text: str) -> str:
    """What the answer said may be followed by the fields that are wrong, each with what is wrong in it."""
    whole = told(text)
    said, colon, wrong = text.partition(": ")
    if whole != text or not colon:
        return whole
    message = told(f"{said}.")
    fields = BETWEEN_FIELDS.join(map(_field, wrong.removesuffix(".").split(BETWEEN_FIELDS)))
    return text if message == f"{said}." else f"{message.removesuffix('.')}: {fields}."


def _field(text: str) -> str:
    if text.startswith("and "):
        return told(text)
    name = "the body" if text.startswith("the body ") else text.partition(" ")[0]
    return f"{told(name)} {told(text.removeprefix(name).lstrip())}"
