"""Barcodes as SVG in a page. If a text does not fit in any barcode, only the text is printed."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from markupsafe import Markup
    from zxingcpp import BarcodeFormat

MOST_MODULES: Final = 260
"""The maximum width of a barcode in modules. A wider barcode would not fit a small label; a QR code is used
instead.
"""
MODULE: Final = 0.25
"""The width of the narrowest bar in mm: two dots of a label printer of 203 dpi."""
GTIN_LENGTHS: Final = (8, 12, 13, 14)
PRODUCT_FORMATS: Final = {8: "EAN8", 12: "UPCA", 13: "EAN13", 14: "ITF14"}
"""The barcode formats, by the number of digits of the GTIN."""
GS1_TEXT: Final = re.compile(r"[!-\"%-?A-Z_a-z]{1,20}")
"""A pattern for lots and serials that GS1 allows (General Specifications, character set 82)."""
DRAWN: Final = re.compile(r'<svg width="(\d+)" height="(\d+)".*?<path d="([^"]+)"', re.DOTALL)


def gtin_of(text: str) -> str | None:
    """Return the 14 digits of a GTIN (EAN-8, UPC-A, EAN-13, GTIN-14), or None if the text is not a GTIN."""
    if len(text) not in GTIN_LENGTHS or not (text.isascii() and text.isdigit()):
        return None
    digits = text.zfill(14)
    total = sum(int(digit) * (1 if place % 2 else 3) for place, digit in enumerate(digits))
    return digits if total % 10 == 0 else None


def product_barcode(gtin: str) -> "Markup | None":
    """Return the retail barcode of a GTIN, as checkout scanners read it. Return None if the barcode cannot be
    drawn.
    """
    from zxingcpp import BarcodeFormat

    return _bars(gtin, BarcodeFormat[PRODUCT_FORMATS[len(gtin)]])


def code_barcode(text: str) -> "Markup | None":
    """Return a Code 128 barcode. Return a QR code if the bars are too wide, or if the text is not printable ASCII.

    Many readers misread characters outside of ASCII in Code 128. Return None if the text is too long for a QR
    code.
    """
    from zxingcpp import BarcodeFormat

    bars = _bars(text, BarcodeFormat.Code128) if text.isascii() and text.isprintable() else None
    return bars or qr_code(text)


def gs1_barcode(gtin: str, more: Mapping[str, str]) -> "Markup | None":
    """Return a GS1-128 barcode, or a GS1 QR code if the bars are too wide.

    `gtin` has 14 digits. `more` maps application identifiers to further values, such as `10` to a lot. Return None
    if GS1 does not allow a value.
    """
    from zxingcpp import BarcodeFormat

    if not all(GS1_TEXT.fullmatch(each) for each in more.values()):
        return None
    content = "".join(f"[{identifier}]{value}" for identifier, value in {"01": gtin, **more}.items())
    return _bars(content, BarcodeFormat.Code128, is_gs1=True) or _square(content, is_gs1=True)


def qr_code(text: str) -> "Markup | None":
    return _square(text)


def _bars(content: str, of: "BarcodeFormat", is_gs1: bool = False) -> "Markup | None":
    drawn = _drawn(content, of, is_gs1)
    if drawn is None or drawn[0] > MOST_MODULES:
        return None
    width, height, path = drawn
    size = f'class="bars" width="{width * MODULE}mm" preserveAspectRatio="none"'
    return _svg(size, width, height, path)


def _square(content: str, is_gs1: bool = False) -> "Markup | None":
    from zxingcpp import BarcodeFormat

    drawn = _drawn(content, BarcodeFormat.QRCode, is_gs1, ec_level="M")
    return None if drawn is None else _svg('class="square"', *drawn)


def _drawn(content: str, of: "BarcodeFormat", is_gs1: bool, **options: str) -> tuple[int, int, str] | None:
    """Return the width and the height of a barcode in modules, and the SVG path of its dark modules.

    `of` is the format. The size includes the quiet zone that readers need. Return None if `content` does not fit
    the format.
    """
    from zxingcpp import create_barcode  # imported only when a barcode is needed

    try:
        found = DRAWN.search(create_barcode(content, of, gs1=is_gs1, **options).to_svg())
    except ValueError:  # the text is too long, or has letters that the format lacks
        return None
    assert found is not None
    return int(found[1]), int(found[2]), found[3]


def _svg(size: str, width: int, height: int, path: str) -> "Markup":
    """Return an SVG that is dark on white in light mode and in dark mode."""
    from markupsafe import Markup

    begin = f'<svg {size} viewBox="0 0 {width} {height}" aria-hidden="true">'
    ground = f'<path fill="#fff" d="M0 0h{width}v{height}H0z"/>'
    return Markup(f'{begin}{ground}<path fill="#000" d="{path}"/></svg>')  # noqa: S704 -- numbers only
