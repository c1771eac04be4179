"""How much is measured: the full size, or a tiny one, in which a part proves that it runs and measures nothing."""

import os
import sys
from typing import Final, TypeVar

FLAG: Final = "--tiny"
TINY: Final = "BENCH_TINY"
"""The environment variable that asks the processes of a part for the tiny size. wmsd's own begin with WMSD_."""
ROWS: Final = "BENCH_ROWS"
"""The environment variable that says how many articles and orders the search looks through."""
IS_TINY: Final = FLAG in sys.argv or TINY in os.environ
"""Known before any argument is parsed: sizes are constants of the modules that are imported then."""
Size = TypeVar("Size")


def sized(full: Size, tiny: Size) -> Size:
    """A size, a duration in seconds or a number of rounds."""
    return tiny if IS_TINY else full
