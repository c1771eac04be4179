"""Encodes bytes as Bech32 text (BIP-173, https://bips.dev/173), the format of the keys of the program age."""

from collections.abc import Iterable, Iterator
from typing import Final

LETTERS: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
GENERATOR: Final = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
CHECKSUM_LETTERS: Final = 6


def encoded(prefix: str, content: bytes) -> str:
    """Return the lower-case Bech32 text of the bytes. `prefix` is the part of the text before its "1"."""
    values = [*_in_fives(content)]
    return f"{prefix}1{''.join(LETTERS[value] for value in (*values, *_checksum(prefix, values)))}"


def _in_fives(content: bytes) -> Iterator[int]:
    """Split the bytes into groups of five bits, and yield each group as a number. The last group is padded with
    zeros.
    """
    bits = "".join(f"{byte:08b}" for byte in content)
    for at in range(0, len(bits), 5):
        yield int(bits[at : at + 5].ljust(5, "0"), 2)


def _checksum(prefix: str, values: Iterable[int]) -> list[int]:
    expanded = [*(ord(each) >> 5 for each in prefix), 0, *(ord(each) & 31 for each in prefix)]
    found = _remainder([*expanded, *values, *[0] * CHECKSUM_LETTERS]) ^ 1
    return [(found >> 5 * (CHECKSUM_LETTERS - 1 - place)) & 31 for place in range(CHECKSUM_LETTERS)]


def _remainder(values: Iterable[int]) -> int:
    found = 1
    for value in values:
        top, found = found >> 25, (found & 0x1FFFFFF) << 5 ^ value
        for place, each in enumerate(GENERATOR):
            found ^= each if (top >> place) & 1 else 0
    return found
