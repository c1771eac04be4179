"""The type of the functions that complete the commands in messages, such as `wmsd doctor`.
`interfaces/cli/kit/command_hints.py` has such a function.
"""

from collections.abc import Callable
from typing import Final

Complete = Callable[[str], str]
"""A function that adds, to each command in a text, the options that select the installation."""


def _as_it_is(text: str) -> str:
    return text


NOTHING_ADDED: Final[Complete] = _as_it_is
