"""An example program for each operation, in several languages and without additional libraries.

The programs are created from templates, and have the same structure as the programs in the guide. A program reads
the address, the token and the company from the environment. So users need not change it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from wmsd.base.dataclass import dataclass
from wmsd.dispatch.idempotency import HEADER as KEY
from wmsd.interfaces.pages.kit.rendering import render_text
from wmsd.interfaces.pages.kit.text.code_literals import double_quoted_text, single_quoted_text
from wmsd.interfaces.reference.operations import Described, pretty

INDENT: Final = "    "
LANGUAGES: Final = {"curl": "curl", "javascript": "JavaScript", "python": "Python", "php": "PHP"}
"""The languages: the name of each language's template, and the language's title."""


def example_of(described: Described) -> dict[str, Any]:
    """Return the values for the program templates: the method, path and body of the example request. Also return
    which headers the request needs.
    """
    route = described.places[0].route
    path = route.path
    for row in described.path:
        path = path.replace(f"{{{row.name}}}", quote(described.example_of(row.name), safe=""))
    sent = {row.name for row in described.headers if row.is_required or row.name == KEY}
    headers = {
        "has_token": described.operation.signed_in,
        "has_company": "X-Company-Id" in sent,
        "has_key": KEY in sent,
        "has_body": described.sent is not None,
    }
    request = {"method": route.method, "path": path, "body": described.sent}
    return {**request, **headers, "has_headers": any(headers.values())}


def programs_of(described: Described) -> list[tuple[str, str, str]]:
    """Return the example program in each language. Each item has the name and the title of the language, and the
    program.
    """
    given = {**example_of(described), "as_json": pretty, "as_python": PYTHON.of, "as_php": PHP.of}
    return [(name, title, render_text(f"reference/in_{name}", **given)) for name, title in LANGUAGES.items()]


@dataclass(frozen=True, slots=True)
class Literals:
    """The syntax of values in a language.

    `words` are the literals of null and booleans. `braces` enclose a dict, `arrow` separates a key and its value,
    and `empty` is an empty dict. `text` is the function that quotes a string.
    """

    words: Mapping[object, str]
    braces: tuple[str, str]
    arrow: str
    empty: str
    text: Callable[[str], str]

    def of(self, value: Any, depth: int = 0) -> str:
        if value is None or isinstance(value, bool):
            return self.words[value]
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            members = [f"{self.text(name)}{self.arrow}{self.of(each, depth + 1)}" for name, each in value.items()]
            return self._within(self.braces, members, depth) if members else self.empty
        if isinstance(value, list):
            return self._within(("[", "]"), [self.of(each, depth + 1) for each in value], depth)
        return str(value)

    def _within(self, braces: tuple[str, str], members: list[str], depth: int) -> str:
        if not members:
            return "".join(braces)
        inside = "".join(f"{INDENT * (depth + 1)}{each},\n" for each in members)
        return f"{braces[0]}\n{inside}{INDENT * depth}{braces[1]}"


PYTHON: Final = Literals({None: "None", True: "True", False: "False"}, ("{", "}"), ": ", "{}", double_quoted_text)
PHP: Final = Literals(
    {None: "null", True: "true", False: "false"}, ("[", "]"), " => ", "new stdClass()", single_quoted_text
)
