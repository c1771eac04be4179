"""The type of a function that completes commands in messages. For example, it adds `--data DIR` to `wmsd doctor`.

The command line passes the function from `interfaces/cli/kit/command_hints.py`.
"""

from collections.abc import Callable
from typing import Final

Complete = Callable[[str], str]
"""A function that takes a message and returns it with completed commands: each command gets the options that
select this installation.
"""


def _as_it_is(text: str) -> str:
    return text


NOTHING_ADDED: Final[Complete] = _as_it_is
