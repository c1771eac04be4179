"""How much is measured: the full size, or a tiny one, in which a part proves that it runs and measures nothing."""

import os
from typing import Final, TypeVar

TINY: Final = "BENCH_TINY"
"""The environment variable that asks for the tiny size. Processes that a part starts inherit it. Its name does not
begin with WMSD_, because wmsd looks for settings among those.
"""
IS_TINY: Final = TINY in os.environ
Size = TypeVar("Size")


def sized(full: Size, tiny: Size) -> Size:
    """A size, a duration in seconds or a number of rounds."""
    return tiny if IS_TINY else full
