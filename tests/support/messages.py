"""The texts that the pages translate: from templates, from Python, and from the tables that the pages display."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jinja2 import Environment

from wmsd import docs
from wmsd.contract.access import ABILITIES, ABILITY_SETS, MODULES, OPENS_BOTH, ROLES
from wmsd.contract.field_schemas import FIELD_NAMES
from wmsd.interfaces import pages
from wmsd.interfaces.pages.kit import resources
from wmsd.interfaces.pages.kit.installation_resources import USER_ACTS
from wmsd.interfaces.pages.kit.text.words import WORDS
from wmsd.interfaces.pages.paper.label_kinds import LABELS
from wmsd.interfaces.pages.paper.papers import DONE
from wmsd.interfaces.pages.paper.prints import PRINTS
from wmsd.server.alerts.kinds import KINDS

PAGES: Final = Path(pages.__file__).parent
TEMPLATES: Final = PAGES / "templates"
CATALOGUES: Final = PAGES / "catalogues"
GUIDE: Final = Path(docs.__file__).parent
PLACE = re.compile(r"%\((\w+)\)[sd]")
TRANSLATING = {"_": 1, "translate_text": 1, "translate_count": 2}
"""How many arguments of a call are messages, counted from the first, by the name of the function."""


@dataclass(frozen=True, order=True)
class Message:
    text: str
    plural: str = ""
    source: str = ""
    """The file that contains the text, to help find it."""

    @property
    def places(self) -> set[str]:
        return places(self.text) | places(self.plural)


def places(text: str) -> set[str]:
    """Return the names of the values in a text."""
    return set(PLACE.findall(text))


def of_template(source: str, name: str) -> Iterator[Message]:
    environment = Environment(extensions=["jinja2.ext.i18n"], trim_blocks=True, lstrip_blocks=True)
    environment.newstyle_gettext = True  # type: ignore[attr-defined]  # the extension adds the attribute
    for line, function, found in environment.extract_translations(source):  # type: ignore[attr-defined]  # likewise
        texts = [found] if isinstance(found, str) else list(found or [None])
        if texts[0] is None:
            raise ValueError(
                f"{name}, line {line}: what a variable holds is translated by the filter `translated`."
            )
        yield Message(texts[0], texts[1] if function == "ngettext" else "", name)


def of_python(source: str, name: str) -> Iterator[Message]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TRANSLATING:
            given = node.args[: TRANSLATING[node.func.id]]
            texts = [
                each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)
            ]
            if texts and len(texts) == len(given):
                yield Message(*_two(texts), name)


def _two(texts: Sequence[str]) -> tuple[str, str]:
    return texts[0], texts[1] if len(texts) > 1 else ""


def declared() -> Iterator[Message]:
    """Yield the English texts in tables, which the pages translate when they display them."""
    told = (WORDS, DONE, ABILITIES, OPENS_BOTH, MODULES, ROLES, FIELD_NAMES)
    for each in (text for texts in told for text in texts.values()):
        yield Message(each, source="a table")
    for abilities in ABILITY_SETS:
        yield from (Message(each, source=abilities.name) for each in (abilities.text, abilities.says))
    for kind in KINDS:
        texts = (kind.title, kind.begins, kind.remedy, kind.more)
        yield from (Message(each, source=f"the alert {kind.name}") for each in texts if each)
    for act in (*USER_ACTS, *resources.WEBHOOK_ACTS):
        yield from (Message(each, source=act.name) for each in act.texts if each)
    for of_kind in PRINTS.values():
        yield from (
            Message(each, source="prints.py") for made in of_kind for each in (made.title, *made.signatures)
        )
    for kinds in LABELS.values():
        yield from (
            Message(each, source="label_kinds.py") for made in kinds for each in (made.text, made.empty) if each
        )


def collected() -> set[Message]:
    found = set(declared())
    for path in sorted(TEMPLATES.rglob("*.html")):
        found.update(of_template(path.read_text(encoding="utf-8"), path.name))
    for path in sorted(PAGES.rglob("*.py")):
        found.update(of_python(path.read_text(encoding="utf-8"), path.name))
    return found
