"""Addresses of lists, so many that no answer comes from wmsd's cache (`dispatch/list_cache.py`).

The cache remembers the last 256 addresses, and keeps the answer of an address that is requested again. Zeros in
front of numbers make addresses different.
"""

import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

SPELLINGS: Final = tuple("0" * number for number in range(13))
"""The API accepts numbers with up to 15 digits."""
SCRIPT: Final = """
local addresses = {%s}
local number = 0
function request()
  number = number %% #addresses + 1
  return wrk.format("GET", addresses[number])
end
"""


def pages(path: str, per_page: int, last: int) -> Iterator[str]:
    """Yield addresses of the list's pages from 1 to `last`. Each page has 338 addresses."""
    for zeros, more, page in itertools.product(SPELLINGS, SPELLINGS, range(1, last + 1)):
        yield f"{path}?per_page={zeros}{per_page}&page={more}{page}"
        yield f"{path}?page={more}{page}&per_page={zeros}{per_page}"


def by_cursor(path: str, per_page: int, cursors: Iterable[str]) -> Iterator[str]:
    """Yield addresses of the list's pages with these cursors. Each page has 13 addresses."""
    for zeros, cursor in itertools.product(SPELLINGS, cursors):
        yield f"{path}?per_page={zeros}{per_page}&cursor={cursor}"


def script(file: Path, addresses: Iterable[str]) -> Path:
    """Write a script with which wrk requests the addresses in turn. Return its path."""
    file.write_text(SCRIPT % ", ".join(map(json.dumps, addresses)), encoding="utf-8")
    return file
