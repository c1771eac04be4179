"""Cursors: opaque, signed texts. Each cursor is valid only for one company, one list and one set of filters.

The signature covers the company, the list and the filters, but the cursor does not contain them. If a client uses
a cursor for another list, the check of the signature fails.

A cursor contains the epoch of the company's history at the time when the cursor was created (decisions, section
11). In the first epoch, cursors contain no epoch, so that cursors of old versions of wmsd stay valid. For a list
with a start parameter, a cursor also contains a digest of this parameter. So the client need not send the
parameter again.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from wmsd.base.dataclass import dataclass

SIGNATURE_BYTES: Final = 12
BEGAN: Final = "@"
"""The separator before the digest of the start parameters. No name of an epoch contains this character."""
ANOTHER_BEGINNING: Final = (
    "must be the same as in the first request of this cursor, or be left out. To use another value, start "
    "again without a cursor"
)
UNKNOWN: Final = (
    "does not belong to this company, this list and these filters. Start again without a cursor; after a "
    "restore, read all records again"
)


INSTALLATION: Final = 0
"""The company id in cursors of a list that belongs to no company. No company has this id."""
FIRST_EPOCH: Final = "1"
"""The name of the epoch that begins when a company is created."""


class Place(NamedTuple):
    """The content of a cursor: the position at which the list continues, and the epoch of its creation."""

    position: int
    epoch: str
    began: str | None = None
    """The digest of the start parameters. None if the list has no start parameter, or if an old version of wmsd
    created the cursor.
    """


def began_with(begins: Mapping[str, object]) -> str:
    """Return the digest of the start parameters of a list."""
    return hashlib.blake2b(json.dumps(sorted(begins.items())).encode(), digest_size=4).hexdigest()


@dataclass(frozen=True, slots=True)
class CursorSigner:
    key: bytes

    def sign(
        self,
        position: int,
        company_id: int,
        list_name: str,
        filters: Mapping[str, object],
        epoch: str = FIRST_EPOCH,
        began: str | None = None,
    ) -> str:
        packed = position.to_bytes(8, "big", signed=True)
        named = b"" if epoch == FIRST_EPOCH else epoch.encode()
        named += b"" if began is None else f"{BEGAN}{began}".encode()
        signature = self._signature(packed + named, company_id, list_name, filters)
        return base64.urlsafe_b64encode(packed + signature + named).rstrip(b"=").decode()

    def place(self, cursor: str, company_id: int, list_name: str, filters: Mapping[str, object]) -> Place:
        """Return the content of a cursor that `sign` has created.

        Raise ValueError if the cursor was not signed for this company, this list and these filters.
        """
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("is not a cursor of this list. Start again without a cursor") from None
        packed, rest = raw[:8], raw[8:]
        signature, named = rest[:SIGNATURE_BYTES], rest[SIGNATURE_BYTES:]
        expected = self._signature(packed + named, company_id, list_name, filters)
        if not hmac.compare_digest(signature, expected):
            raise ValueError(UNKNOWN)
        name, _, began = named.decode().partition(BEGAN)
        return Place(int.from_bytes(packed, "big", signed=True), name or FIRST_EPOCH, began or None)

    def _signature(self, packed: bytes, company_id: int, list_name: str, filters: Mapping[str, object]) -> bytes:
        bound_to = json.dumps([company_id, list_name, sorted(filters.items())], default=str).encode()
        return hmac.new(self.key, packed + bound_to, hashlib.sha256).digest()[:SIGNATURE_BYTES]
