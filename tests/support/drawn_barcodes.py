"""Reads the barcodes of a page from their drawings, as a scanner does from paper."""

import re

import zxingcpp

PIXELS = 4
"""The width of the narrowest bar, in pixels."""
SVG = re.compile(r'<svg class="(?:bars|square)"[^>]* viewBox="0 0 (\d+) (\d+)"[^>]*>(.*?)</svg>', re.DOTALL)
DARK = re.compile(r'<path fill="#000" d="([^"]+)"/>')
RECTANGLE = re.compile(r"M(\d+) (\d+)h(\d+)v(\d+)h-\d+Z")


def barcodes_in(page: str) -> list[zxingcpp.Barcode]:
    """Return the barcodes of the page, in order. Fail if a barcode cannot be read."""
    return [_read(int(width), int(height), drawing) for width, height, drawing in SVG.findall(page)]


def _read(width: int, height: int, drawing: str) -> zxingcpp.Barcode:
    found = DARK.search(drawing)
    assert found, drawing
    assert RECTANGLE.sub("", found[1]) == ""
    rows = [bytearray(b"\xff" * width * PIXELS) for _ in range(height)]
    for x, y, across, down in (map(int, each) for each in RECTANGLE.findall(found[1])):
        for row in rows[y : y + down]:
            row[x * PIXELS : (x + across) * PIXELS] = bytes(across * PIXELS)
    picture = b"".join(bytes(row) * PIXELS for row in rows)
    shape = (height * PIXELS, width * PIXELS)
    (barcode,) = zxingcpp.read_barcodes(memoryview(picture).cast("B", shape))
    return barcode
