"""JSON in lines, for people. Numbers stay as they were sent: reading them could change them."""

import re
from typing import Final

PART: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^\s"{}\[\],:]++')
INDENT: Final = "  "


def laid_out(text: str) -> str:
    """`text` is JSON that the service has made."""
    shown: list[str] = []
    depth, before = 0, ""
    for part in PART.findall(text):
        if part in "}]":
            depth -= 1
        if before and before in "{[" and part in "}]":  # nothing is inside
            pass
        elif (before and before in "{[,") or part in "}]":
            shown.append("\n" + INDENT * depth)
        shown.append(": " if part == ":" else part)
        if part in "{[":
            depth += 1
        before = part
    return "".join(shown)
