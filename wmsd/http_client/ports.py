"""The ports that wmsd may connect to. The ports in NEVER are always refused. At special addresses, such as private
ones, only the ports in the settings are allowed.
"""

import re
from collections.abc import Sequence
from typing import Final

WEB: Final = (80, 443)
HIGHEST: Final = 65_535
NEVER: Final = frozenset(
    {
        *(1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95),
        *(101, 102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179),
        *(389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587),
        *(601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061),
        *(6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080),
    }
)
"""The ports of other protocols. A server at such a port could misunderstand an HTTP request as a command of its
own protocol. Source: the "bad ports" of the Fetch standard, https://fetch.spec.whatwg.org/#port-blocking.
"""
_ENTRY: Final = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?", re.ASCII)


def parsed(entries: Sequence[int | str]) -> list[range]:
    """Return a range for each entry. An entry is a port such as 8443, or a text such as "8000-8999". Raise
    ValueError if an entry is not valid.
    """
    return [_range(entry) for entry in entries]


def _range(entry: int | str) -> range:
    found = _ENTRY.fullmatch(str(entry))
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last <= HIGHEST:
        raise ValueError(
            f'{entry!r}, but each entry must be a port, such as 8443, or a range, such as "8000-8999"'
        )
    return range(first, last + 1)
