"""A logo is a complete PNG or JPEG picture of limited size. A refusal names the reason."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pictures import JPEG, chunk, header, png
from wmsd.warehouse.papers.logo import MOST_BYTES, PNG, Picture, picture_of

DAMAGED = "is damaged or incomplete; save it again with a picture editor"
GOES_ON = "has more data after the end of the picture; save it again with a picture editor"
TOO_WIDE = "must be 1 to 2000 pixels wide and 1 to 2000 pixels high; resize the picture"
NO_PICTURE = "is not a PNG or JPEG file; save it as PNG"
SVG = "is an SVG file, which can hold programs; save it as PNG"
FRAME = JPEG.index(b"\xff\xc0")
SCRIPT = b"<script>alert(1)</script>"


def segment(marker: int, content: bytes) -> bytes:
    return bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content


def jpeg_of(width: int, height: int, frame: int = 0xC0) -> bytes:
    return JPEG[:FRAME] + bytes([0xFF, frame]) + JPEG[FRAME + 2 : FRAME + 5] + struct.pack(
        ">HH", height, width
    ) + JPEG[FRAME + 9 :]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "picture"),
    [
        (png(120, 40), Picture("image/png", 120, 40)),
        (png(2000, 1), Picture("image/png", 2000, 1)),
        (png(1, 1, chunk(b"tEXt", b"Comment\0" + SCRIPT)), Picture("image/png", 1, 1)),
        (JPEG, Picture("image/jpeg", 1, 1)),
        (jpeg_of(2000, 7), Picture("image/jpeg", 2000, 7)),
        (jpeg_of(3, 4, 0xC2), Picture("image/jpeg", 3, 4)),
        (JPEG[:2] + segment(0xE1, b"Exif\0\0") + JPEG[2:], Picture("image/jpeg", 1, 1)),
        (JPEG[:2] + b"\xff\xff" + JPEG[2:], Picture("image/jpeg", 1, 1)),
    ],
)
def test_a_picture_is_taken_with_its_size(file: bytes, picture: Picture) -> None:
    assert picture_of(file) == picture


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (b"", "is empty"),
        (png() + b"\0" * MOST_BYTES, "is larger than 200 kB"),
        (b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', SVG),
        (b"\xef\xbb\xbf<SVG onload='alert(1)'>", SVG),
        (b"GIF89a" + SCRIPT, NO_PICTURE),
        (b"RIFF\0\0\0\0WEBPVP8 ", NO_PICTURE),
        (b"<!doctype html>" + SCRIPT, NO_PICTURE),
        (b"\x89PNG\n\x1a\n" + png()[8:], NO_PICTURE),
        (png() + SCRIPT, GOES_ON),
        (png() + png(), GOES_ON),
        (png() + b"PK\x03\x04", GOES_ON),
        (JPEG + b"PK\x03\x04", GOES_ON),
        (JPEG + b"\0", GOES_ON),
        (PNG, DAMAGED),
        (png()[:-1], DAMAGED),
        (png()[:40], DAMAGED),
        (png()[:30] + b"\x01" + png()[31:], DAMAGED),
        (PNG + chunk(b"IEND", b""), DAMAGED),
        (PNG + header(9, 9) + chunk(b"IEND", b""), DAMAGED),
        (PNG + header(9, 9) + header(9, 9) + png()[33:], DAMAGED),
        (PNG + header(9, 9, depth=3) + png()[33:], DAMAGED),
        (PNG + header(9, 9, colour=5) + png()[33:], DAMAGED),
        (PNG + header(9, 9, rest=b"\0\0\2") + png()[33:], DAMAGED),
        (PNG + b"\xff\xff\xff\xffIHDR", DAMAGED),
        (JPEG[:-2], DAMAGED),
        (JPEG[:-1], DAMAGED),
        (JPEG[:FRAME], DAMAGED),
        (b"\xff\xd8\xff\xd9", DAMAGED),
        (b"\xff\xd8\xff" + SCRIPT, DAMAGED),
        (jpeg_of(3, 4, 0xC3), DAMAGED),
        (JPEG[:FRAME] + JPEG[FRAME : FRAME + 13] + JPEG[FRAME:], DAMAGED),
        (JPEG[:2] + b"\xff\xe0\x00\x01" + JPEG[2:], DAMAGED),
        (png(2001, 1), TOO_WIDE),
        (PNG + header(1, 2**31 - 1) + png()[33:], TOO_WIDE),
        (PNG + header(0, 9) + png()[33:], TOO_WIDE),
        (jpeg_of(65535, 65535), TOO_WIDE),
        (jpeg_of(5, 0), TOO_WIDE),
    ],
)
def test_anything_else_is_refused_with_the_reason(file: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{reason}$"):
        picture_of(file)


@given(st.sampled_from([png(3, 2), JPEG]), st.data())
def test_what_is_cut_or_changed_is_read_to_its_end(file: bytes, data: st.DataObject) -> None:
    """A broken file is either a picture or refused with a reason."""
    place = data.draw(st.integers(0, len(file) - 1))
    for broken in (file[:place], file[:place] + data.draw(st.binary(min_size=1, max_size=4)) + file[place + 1 :]):
        try:
            picture = picture_of(broken)
        except ValueError as error:
            assert str(error)
        else:
            assert 1 <= picture.width <= 2000
            assert 1 <= picture.height <= 2000
