"""The size of a measurement: the full size, or a tiny one that only proves that a part runs."""

import os
import sys
from typing import Final, TypeVar

FLAG: Final = "--tiny"
TINY: Final = "BENCH_TINY"
"""The environment variable that sets the tiny size in the processes of a part. wmsd's own variables begin with
WMSD_.
"""
ROWS: Final = "BENCH_ROWS"
"""The environment variable for the number of articles and orders that the search box searches."""
IS_TINY: Final = FLAG in sys.argv or TINY in os.environ
"""Known before the arguments are parsed, because modules that are imported then have sizes as constants."""
Size = TypeVar("Size")


def sized(full: Size, tiny: Size) -> Size:
    """Return a size, a duration in seconds or a number of rounds."""
    return tiny if IS_TINY else full
