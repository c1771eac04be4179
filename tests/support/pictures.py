"""Pictures, built byte by byte."""

import base64
import struct
import zlib
from typing import Final

JPEG: Final = base64.b64decode(
    "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////"
    "////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AN//Z"
)
"""A baseline JPEG of one grey pixel."""


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def header(width: int, height: int, depth: int = 8, colour: int = 2, rest: bytes = b"\0\0\0") -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBB", width, height, depth, colour) + rest)


def png(width: int = 120, height: int = 40, *extra: bytes) -> bytes:
    """Return a PNG picture of one colour, with the chunks `extra` before its data."""
    data = zlib.compress(b"".join(b"\0" + b"\x20\x60\xa0" * width for _ in range(height)))
    parts = (header(width, height), *extra, chunk(b"IDAT", data), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
