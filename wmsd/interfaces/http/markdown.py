"""Markdown as HTML, with an anchor at each heading."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore


def to_html(markdown: str) -> str:
    """HTML without any that the text brings itself."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.core.ruler.push("anchors", _add_anchors)
    return str(reader.render(markdown))


def anchor_of(heading: str) -> str:
    """The anchor of a heading, as Markdown's readers make it: `What there is` is `what-there-is`."""
    return re.sub(r"[^\w]+", "-", heading.lower()).strip("-")


def _add_anchors(state: StateCore) -> None:
    for opening, inline in zip(state.tokens, state.tokens[1:], strict=False):
        if opening.type == "heading_open":
            opening.attrSet("id", anchor_of(inline.content))
