"""The parser for configuration files. If the text is no TOML, the error explains the problem in plain words."""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from wmsd.settings.all_settings import default_of
from wmsd.settings.toml_writer import as_written

AGAIN: Final = re.compile(r"Cannot (?:overwrite a value|declare .* twice)")
UNENDED: Final = re.compile(r"Illegal character '\\n'|Unterminated string|Expected [\"']{3}$")
"""Finds the TOML library's error about a text whose closing quotation mark is not in the same line."""
MORE: Final = re.compile("Expected newline or end of document after a statement")
PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
SETTING: Final = re.compile(r"\s*([\w.-]+)\s*=\s*([^\s#]?)")
"""Finds a setting: its name, and the first character of its value."""
SECTION: Final = re.compile(r"\s*\[\s*(\w*)\s*")
QUOTED: Final = ('"', "'")
ANSWER: Final = re.compile(r"[^=]*=\s*(yes|true|on|no|false|off)\s*(?:#|$)", re.IGNORECASE)
"""Finds a setting whose value is a word for yes or no."""
NO: Final = frozenset({"no", "false", "off"})
WORD: Final = re.compile(r"[^=]*=\s*([\w.:/@%+-]+)\s*(?:#|$)", re.ASCII)
"""Finds a setting whose value is a text without quotation marks."""


LISTED: Final = (
    'write each text of a list in quotation marks, with commas between the texts, as in {0} = ["…", "…"].'
)


class NoToml(ValueError):
    """The error for text that is not valid TOML. `line` is the line in which the problem begins, from 1 on."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line


def read_toml(text: str) -> dict[str, Any]:
    """Parse TOML. Raise NoToml if the text is invalid."""
    import tomllib  # imported here: many commands have no file of settings

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
    place, lines = PLACE.search(said), text.rstrip().split("\n")
    number = int(place[1]) if place is not None and place[1] else len(lines)
    begins = _beginning(lines, number)
    raise NoToml(begins, _what_is_wrong(PLACE.sub("", said), begins, lines))


def _what_is_wrong(said: str, number: int, lines: Sequence[str]) -> str:
    """Return an explanation of the TOML library's error `said`. `number` is the wrong line's number, from 1."""
    line = lines[number - 1]
    setting = SETTING.match(line)
    name, value = (line.strip(), "") if setting is None else (setting[1], setting[2])
    if AGAIN.match(said):
        return f"line {number} repeats {name}. Keep only one of the two."
    if line.lstrip().startswith("["):
        return f"line {number} cannot be read: write the name of a section in brackets, as in [server]."
    if setting is None:
        return f'line {number} cannot be read: write a setting as in listen = "127.0.0.1:8480".'
    if not value:
        return f"line {number} cannot be read: {name} has no value. Write a value after the =, or remove the line."
    if value == "[":
        return f"line {number} cannot be read: {LISTED.format(name)}"
    if value not in QUOTED and value != "{":
        return f"line {number} cannot be read: {_meant(line, name, _default(lines[:number], name))}"
    if UNENDED.match(said):
        return f"line {number} cannot be read: the text of {name} has no closing quotation mark."
    if value in QUOTED and MORE.match(said):
        return (
            f"line {number} cannot be read: there is more after the text of {name}. Write a text that "
            "contains quotation marks in '''…'''."
        )
    return f"line {number} cannot be read: {said[0].lower()}{said[1:]}."


def _meant(line: str, name: str, default: Any) -> str:
    """Return a sentence that says how to write the value of the setting `name`.

    The value must have the type of `default`. If `default` is None, the setting is unknown, and the value must be
    a text.
    """
    if isinstance(default, bool):
        answer = ANSWER.match(line)
        meant = default if answer is None else answer[1].lower() not in NO
        return f"{name} is true or false. Write {name} = {as_written(meant)}"
    if isinstance(default, int):
        return f"{name} is a whole number, as in {name} = {default}"
    if isinstance(default, list):
        return LISTED.format(name)
    word = WORD.match(line)
    return (
        f'write a text in straight quotation marks, as in {name} = "{"…" if word is None else word[1]}". Only '
        "numbers, true and false need no quotation marks."
    )


def _default(lines: Sequence[str], name: str) -> Any:
    """Return the default of the setting `name` in the section to which the last of `lines` belongs. Return None if
    there is no such setting.
    """
    section = next((found[1] for line in reversed(lines) if (found := SECTION.match(line))), "")
    return default_of(section, name)


def _beginning(lines: list[str], number: int) -> int:
    """Return the number of the line in which a value begins. `number` is the line in which this value ends."""
    import tomllib

    for before in range(number - 1, 0, -1):
        with suppress(tomllib.TOMLDecodeError):
            tomllib.loads("\n".join(lines[:before]))
            return before + 1
    return 1
