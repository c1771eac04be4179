"""Commands that sentences suggest, as they are typed. `interfaces/cli/kit/command_hints.py` completes them."""

from collections.abc import Callable
from typing import Final

Complete = Callable[[str], str]
"""Adds to each command of a text the options that say which installation is meant."""


def _as_it_is(text: str) -> str:
    return text


NOTHING_ADDED: Final[Complete] = _as_it_is
