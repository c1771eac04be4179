"""Commands that messages suggest, as users type them. `interfaces/cli/kit/command_hints.py` completes them."""

from collections.abc import Callable
from typing import Final

Complete = Callable[[str], str]
"""A function that adds, to each command in a text, the options that select the installation."""


def _as_it_is(text: str) -> str:
    return text


NOTHING_ADDED: Final[Complete] = _as_it_is
