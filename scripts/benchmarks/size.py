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
"""True at the tiny size. This is known before the arguments are parsed, because modules compute their sizes when
they are imported.
"""
Size = TypeVar("Size")


def sized(full: Size, tiny: Size) -> Size:
    """Return `tiny` at the tiny size, otherwise `full`: a number of things or rounds, or a duration in seconds."""
    return tiny if IS_TINY else full
