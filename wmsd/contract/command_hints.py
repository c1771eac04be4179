"""The type of a function that completes the commands in a message, such as `wmsd doctor`, for this installation.
The function of the command line is in `interfaces/cli/kit/command_hints.py`.
"""

from collections.abc import Callable
from typing import Final

Complete = Callable[[str], str]
"""A function that returns a text with the options that select the installation added to each command in the text.
"""


def _as_it_is(text: str) -> str:
    return text


NOTHING_ADDED: Final[Complete] = _as_it_is
