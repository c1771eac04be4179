"""Reads the text of a configuration file, and says in plain words what is wrong where it is no TOML."""

import re
from contextlib import suppress
from typing import Any, Final

AGAIN: Final = re.compile(r"Cannot (?:overwrite a value|declare .* twice)")
UNENDED: Final = re.compile(r"Illegal character '\\n'|Unterminated string|Expected [\"']{3}$")
"""A text in quotation marks that has no end in its line."""
MORE: Final = re.compile("Expected newline or end of document after a statement")
PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
SETTING: Final = re.compile(r"\s*([\w.-]+)\s*=\s*([^\s#]?)")
"""Its name, and how its value begins."""
QUOTED: Final = ('"', "'")
ANSWER: Final = re.compile(r"[^=]*=\s*(yes|true|no|false)\s*(?:#|$)", re.IGNORECASE)
"""A setting that somebody answers with a word of their own."""
NO: Final = frozenset({"no", "false"})
WITH_COMMA: Final = re.compile(r"[^=]*=\s*([+-]?\d+),(\d+)\s*(?:#|$)")


class NoToml(ValueError):
    """`line` is where what is wrong begins, from 1 on."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line


def read_toml(text: str) -> dict[str, Any]:
    """Raises NoToml."""
    import tomllib  # imported here: many commands have no file of settings

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
    place, lines = PLACE.search(said), text.rstrip().split("\n")
    number = int(place[1]) if place is not None and place[1] else len(lines)
    begins = _beginning(lines, number)
    raise NoToml(begins, _what_is_wrong(PLACE.sub("", said), begins, lines[begins - 1]))


def _what_is_wrong(said: str, number: int, line: str) -> str:
    """What the library says of the line, in our words."""
    setting = SETTING.match(line)
    name, value = (line.strip(), "") if setting is None else (setting[1], setting[2])
    if AGAIN.match(said):
        return f"line {number} gives {name} a second time. Leave one of the two."
    if line.lstrip().startswith("["):
        return f"line {number} cannot be read: the name of a section stands in brackets, as in [server]."
    if setting is None:
        return f'line {number} cannot be read: it is no setting, which stands as in listen = "127.0.0.1:8480".'
    if not value:
        return f"line {number} cannot be read: {name} has no value. Write one after the =, or remove the line."
    if value == "[":
        return (
            f"line {number} cannot be read: the texts of a list stand in quotation marks, with commas between "
            f'them, as in {name} = ["…", "…"].'
        )
    if answer := ANSWER.match(line):
        meant = "false" if answer[1].lower() in NO else "true"
        return f"line {number} cannot be read: {name} is true or false. Write {name} = {meant}"
    if number_of := WITH_COMMA.match(line):
        point = ".".join(number_of.groups())
        return f"line {number} cannot be read: decimals follow a point. Write {name} = {point}"
    if value not in QUOTED and value != "{":
        return (
            f'line {number} cannot be read: a text stands in straight quotation marks, as in {name} = "…". Only '
            "numbers, true and false stand without."
        )
    if UNENDED.match(said):
        return f"line {number} cannot be read: the text of {name} has no quotation mark at its end."
    if value in QUOTED and MORE.match(said):
        return (
            f"line {number} cannot be read: more stands after the text of {name}. A text that has quotation marks "
            "in it stands in '''…'''."
        )
    return f"line {number} cannot be read: {said[0].lower()}{said[1:]}."


def _beginning(lines: list[str], number: int) -> int:
    """The number of the line in which the value begins that ends in this one."""
    import tomllib

    for before in range(number - 1, 0, -1):
        with suppress(tomllib.TOMLDecodeError):
            tomllib.loads("\n".join(lines[:before]))
            return before + 1
    return 1
