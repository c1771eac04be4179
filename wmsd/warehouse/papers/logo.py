"""The check of a logo file: it must be one complete PNG or JPEG picture of limited size.

Only the structure of the file is checked. The pixels are not decoded, because the browser does that. A file with
data after the end of its picture is refused, because these data can be a second file of a different kind.

Sources: PNG, third edition (W3C), sections 5.2 to 5.6 and 11.2.1; JPEG (ITU-T T.81), annex B.
"""

import zlib
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

MediaType = Literal["image/png", "image/jpeg"]
MOST_BYTES: Final = 200_000
MOST_SIDE: Final = 2000
"""The maximum width and height, in pixels."""
PNG: Final = b"\x89PNG\r\n\x1a\n"
PNG_DEPTHS: Final = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
"""The allowed bit depths of each PNG colour type."""
JPEG: Final = b"\xff\xd8\xff"
FRAMES: Final = (0xC0, 0xC1, 0xC2)
"""The markers of the JPEG frames that browsers can display: baseline, extended and progressive."""
OTHER_FRAMES: Final = (0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF)
SCAN, END, FILL = 0xDA, 0xD9, 0xFF
BARE: Final = frozenset({0x01, *range(0xD0, 0xD9)})
"""The JPEG markers that stand alone: no length and no content follow them."""
WITHIN_SCAN: Final = frozenset({0x00, *range(0xD0, 0xD8)})
"""The bytes that may follow 0xFF inside the data of a JPEG scan. Before any other byte, 0xFF ends the data and
starts the next marker.
"""


class Picture(NamedTuple):
    media_type: MediaType
    width: int
    height: int


def picture_of(file: bytes) -> Picture:
    """Return the type and the size of the picture in the file. The size is in pixels.

    Raise ValueError if the file is not acceptable. Its message is a sentence for the user.
    """
    if not file:
        raise ValueError("is empty")
    if len(file) > MOST_BYTES:
        raise ValueError("is larger than 200 kB")
    if file.startswith(PNG):
        picture, length = _png(file)
    elif file.startswith(JPEG):
        picture, length = _jpeg(file)
    elif b"<svg" in file[:4096].lower():
        raise ValueError("is an SVG file, which can hold programs; save it as PNG")
    else:
        raise ValueError("is not a PNG or JPEG file; save it as PNG")
    if length != len(file):
        raise ValueError("has more data after the end of the picture; save it again with a picture editor")
    if not (1 <= picture.width <= MOST_SIDE and 1 <= picture.height <= MOST_SIDE):
        raise ValueError("must be 1 to 2000 pixels wide and 1 to 2000 pixels high; resize the picture")
    return picture


def _damaged() -> ValueError:
    return ValueError("is damaged or incomplete; save it again with a picture editor")


def _png(file: bytes) -> tuple[Picture, int]:
    """Return the type and size of the picture, and the position in the file at which the picture ends."""
    chunks = _chunks(file)
    name, header, _ = next(chunks, (b"", b"", 0))
    if name != b"IHDR" or len(header) != 13:
        raise _damaged()
    width, height = int.from_bytes(header[:4]), int.from_bytes(header[4:8])
    depth, colour, compression, filtering, interlace = header[8:]
    if depth not in PNG_DEPTHS.get(colour, ()) or compression or filtering or interlace > 1:
        raise _damaged()
    has_data = False
    for name, content, end in chunks:
        if name == b"IHDR":
            break
        has_data = has_data or name == b"IDAT"
        if name == b"IEND":
            if content or not has_data:
                break
            return Picture("image/png", width, height), end
    raise _damaged()


def _chunks(file: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    """Yield the name, the content and the end position of each complete chunk."""
    at = len(PNG)
    while at + 12 <= len(file):
        length = int.from_bytes(file[at : at + 4])
        end = at + 12 + length
        name, content, check = file[at + 4 : at + 8], file[at + 8 : end - 4], file[end - 4 : end]
        if end > len(file) or not name.isalpha() or zlib.crc32(name + content) != int.from_bytes(check):
            raise _damaged()
        yield name, content, end
        at = end


def _jpeg(file: bytes) -> tuple[Picture, int]:
    """Return the type and size of the picture, and the position in the file at which the picture ends."""
    picture, at, has_scan = None, 2, False
    while at + 2 <= len(file):
        if file[at] != FILL:
            raise _damaged()
        marker = file[at + 1]
        if marker == FILL:  # any number of fill bytes may precede a marker
            at += 1
            continue
        if marker == END:
            if picture is None or not has_scan:
                raise _damaged()
            return picture, at + 2
        if marker in BARE or marker in OTHER_FRAMES or marker == 0x00:
            raise _damaged()
        length = int.from_bytes(file[at + 2 : at + 4])
        content = file[at + 4 : at + 2 + length]
        if length < 2 or len(content) != length - 2:
            raise _damaged()
        at += 2 + length
        if marker in FRAMES:
            picture = _frame(content, picture)
        elif marker == SCAN:
            has_scan = True
            at = _end_of_scan(file, at)
    raise _damaged()


def _frame(content: bytes, before: Picture | None) -> Picture:
    """Return the type and size of the picture, as the JPEG frame says.

    `before` is the picture of an earlier frame, or None. Raise ValueError if there was an earlier frame, or if a
    colour component does not have 8 bits. Also raise it if the number of colour components is not 1, 3 or 4.
    """
    if before is not None or len(content) < 6 or content[0] != 8 or content[5] not in (1, 3, 4):
        raise _damaged()
    return Picture("image/jpeg", int.from_bytes(content[3:5]), int.from_bytes(content[1:3]))


def _end_of_scan(file: bytes, at: int) -> int:
    """Return the position of the next marker after the data of a scan."""
    while (at := file.find(b"\xff", at)) != -1 and at + 1 < len(file):
        if file[at + 1] not in WITHIN_SCAN:
            return at
        at += 2
    raise _damaged()
