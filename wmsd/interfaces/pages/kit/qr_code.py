"""QR codes (ISO/IEC 18004) that a phone reads from a page."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup


def drawn(text: str) -> "Markup":
    """As SVG, dark on white in both modes, with the quiet zone that readers need."""
    from markupsafe import Markup
    from segno import make_qr  # imported when somebody needs one: it takes 30 ms

    code = make_qr(text, error="m")
    return Markup(code.svg_inline(dark="#000", light="#fff", omitsize=True, svgclass=None, lineclass=None))  # noqa: S704  # segno writes figures only
