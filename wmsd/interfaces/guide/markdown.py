"""Reads a page of the guide. It converts Markdown to HTML, gives the headings anchors, and extracts the text for
the search.
"""

import re
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import field
from html import escape
from itertools import pairwise
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from wmsd.base.dataclass import dataclass

BREAKS: Final = ("softbreak", "hardbreak")
CELLS: Final = ("th_open", "td_open")
CODE_BLOCKS: Final = ("fence", "code_block")
BETWEEN_CELLS: Final = " · "
BLOCKS: Final = "blocks"
"""A key in the environment of markdown-it. Its value is the number of code blocks that were already rendered on
the page.
"""


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """An entry for the search: a heading with its text, or a row of a table.

    The text of a heading ends at the next heading. A row is an entry only if its first cell is code.
    """

    heading: str
    id: str
    text: str
    is_row: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    title: Heading
    introduction: str
    """The HTML between the title and the first heading below the title. HTML in the Markdown text is escaped."""
    rest: str
    """The HTML from the first heading below the title to the end."""
    headings: Sequence[Heading]
    """The headings below the title."""
    sections: Sequence[Section]


def read_markdown(markdown: str) -> Document:
    """Read a page of the guide. Raise ValueError if the text does not begin with a title."""
    reader = _reader()
    env: MutableMapping[str, Any] = {BLOCKS: 0}
    tokens = reader.parse(markdown, env)
    if not tokens or tokens[0].tag != "h1":
        raise ValueError("A page of the guide begins with its title.")
    title, *headings = _headings(tokens)
    body = tokens[3:]  # the title has three tokens: its start, its text, and its end
    end = next((at for at, token in enumerate(body) if token.type == "heading_open"), len(body))

    def html(part: Sequence[Token]) -> str:
        return str(reader.renderer.render(part, reader.options, env))

    return Document(title, html(body[:end]), html(body[end:]), headings, [*_sections(tokens)])


def fragment(markdown: str) -> str:
    """Return the HTML of a text without a title."""
    reader = _reader()
    env: MutableMapping[str, Any] = {BLOCKS: 0}
    return str(reader.renderer.render(reader.parse(markdown, env), reader.options, env))


def anchor_of(heading: str) -> str:
    """Return the anchor of a heading in the usual Markdown form: `What there is` becomes `what-there-is`."""
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.core.ruler.push("anchors", _add_anchors)
    reader.core.ruler.push("figures", _mark_figures)
    rules = {
        "heading_open": _open_heading,
        "heading_close": _close_heading,
        "table_open": _open_table,
        "table_close": _close_table,
        **dict.fromkeys(CODE_BLOCKS, _code),
    }
    for name, rule in rules.items():
        reader.add_render_rule(name, rule)
    return reader


def _add_anchors(state: StateCore) -> None:
    """Set the anchor of each heading. If several headings have the same anchor, add a number to the later ones."""
    taken: set[str] = set()
    for opening, inline in pairwise(state.tokens):
        if opening.type != "heading_open":
            continue
        anchor = wanted = anchor_of(inline.content)
        number = 2
        while anchor in taken:
            anchor, number = f"{wanted}-{number}", number + 1
        taken.add(anchor)
        opening.attrSet("id", anchor)


def _mark_figures(state: StateCore) -> None:
    """Give right-aligned cells a class, because the pages allow no style attributes in HTML."""
    for token in state.tokens:
        if token.type in CELLS and token.attrs.pop("style", "") == "text-align:right":
            token.attrSet("class", "num")


def _headings(tokens: Sequence[Token]) -> Iterator[Heading]:
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            yield Heading(int(opening.tag[1:]), str(opening.attrGet("id")), _plain(inline))


def _plain(inline: Token) -> str:
    """Return the text without markup and link addresses."""
    return "".join(" " if each.type in BREAKS else each.content for each in inline.children or ())


@dataclass(slots=True)
class _Reading:
    heading: Heading
    texts: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    """The cells of the table row that is being read."""
    is_code: bool = False
    """True if the row's first cell is only code."""

    def section(self) -> Section:
        return Section(self.heading.text, self.heading.id, " ".join(self.texts))

    def row(self) -> Section:
        return Section(self.cells[0], self.heading.id, BETWEEN_CELLS.join(self.cells[1:]), is_row=True)


def _sections(tokens: Sequence[Token]) -> Iterator[Section]:
    headings = _headings(tokens)
    reading = _Reading(next(headings))
    is_in_row = False
    for before, token in pairwise(tokens[2:]):
        match token.type:
            case "heading_open":
                yield reading.section()
                reading = _Reading(next(headings))
            case "tr_open":
                is_in_row, reading.cells, reading.is_code = True, [], False
            case "tr_close":
                is_in_row = False
                reading.texts.append(BETWEEN_CELLS.join(reading.cells))
                if reading.is_code:
                    yield reading.row()
            case "inline" if before.type != "heading_open":
                if is_in_row:
                    reading.is_code = reading.is_code or (not reading.cells and _is_code(token))
                (reading.cells if is_in_row else reading.texts).append(_plain(token))
            case "fence" | "code_block":
                reading.texts.append(token.content)
    yield reading.section()


def _is_code(inline: Token) -> bool:
    shown = [each for each in inline.children or () if each.content]
    return len(shown) == 1 and shown[0].type == "code_inline"


def _open_heading(
    renderer: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: Mapping[str, Any]
) -> str:
    token = tokens[at]
    return f'<div class="headed"><{token.tag} id="{escape(str(token.attrGet("id")))}">'


def _close_heading(
    renderer: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: Mapping[str, Any]
) -> str:
    opening, inline, closing = tokens[at - 2 : at + 1]
    anchor, text = escape(str(opening.attrGet("id"))), escape(_plain(inline))
    return f'</{closing.tag}><a class="anchor" href="#{anchor}" aria-label="Link to: {text}">#</a></div>\n'


def _open_table(
    renderer: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: Mapping[str, Any]
) -> str:
    heads = []
    for token in tokens[at:]:
        if token.type == "thead_close":
            break
        if token.type == "inline":
            heads.append(_plain(token))
    label = escape(", ".join(head for head in heads if head))
    return f'<div class="wide" tabindex="0" role="group" aria-label="Table: {label}"><table>\n'


def _close_table(
    renderer: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: Mapping[str, Any]
) -> str:
    return "</table></div>\n"


def _code(
    renderer: RendererProtocol,
    tokens: Sequence[Token],
    at: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    """Render a block of code with a copy button. A wide block can be scrolled separately, also with the
    keyboard.
    """
    env[BLOCKS] += 1
    id, text = f"code-block-{env[BLOCKS]}", escape(tokens[at].content.rstrip("\n"), quote=False)
    return (
        f'<div class="block"><pre id="{id}" tabindex="0"><code>{text}</code></pre>'
        f'<button class="button" type="button" data-copy="{id}" hidden>Copy</button></div>\n'
    )
