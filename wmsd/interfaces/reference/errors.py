"""What the page of errors tells of each code: its status, the guide's paragraph about it, and an example."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from wmsd import docs
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import STATUS_OF_CODE
from wmsd.interfaces.openapi.error_responses import EXAMPLES
from wmsd.interfaces.reference.operations import pretty

GUIDE: Final = files(docs) / "errors.md"
PARAGRAPH: Final = re.compile(r"^## ([A-Z_]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
STATUS: Final = re.compile(r"\s*Status \d+\.\s*")


@dataclass(frozen=True, slots=True)
class Error:
    code: str
    status: int
    told: str
    """As HTML: what it means, and what to do."""
    example: str


def paragraphs() -> Mapping[str, str]:
    """Those of the guide, by code, as Markdown without their status."""
    found = PARAGRAPH.findall(GUIDE.read_text(encoding="utf-8"))
    return {code: STATUS.sub("", text, count=1) for code, text in found}


def of_code(code: str, told: Mapping[str, str]) -> Error:
    from wmsd.interfaces.guide.markdown import fragment  # imported only when somebody reads about errors

    example = pretty({"message": EXAMPLES[code]["message"], "code": code, **EXAMPLES[code]})
    return Error(code, STATUS_OF_CODE[code], fragment(told[code]), example)
