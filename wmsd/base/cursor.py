"""Cursors: opaque, signed, and bound to the company, the list and its filters.

A cursor does not contain what it is bound to. That is only part of the signed text, so a cursor that is used
elsewhere fails like a forged one. It does contain the epoch of the company's history in which it was given
(decisions, section 11); one of the first epoch has none, as all had before there were epochs.
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
UNKNOWN: Final = (
    "is not a cursor of this company, this list and these filters; if it was one before a restore, read "
    "everything anew, without a cursor"
)


INSTALLATION: Final = 0
"""Stands for the company in a cursor of a list that belongs to none. No company has this id."""
FIRST_EPOCH: Final = "1"
"""The name of the epoch that begins when a company is created."""


class Place(NamedTuple):
    """Where a list goes on, and the epoch in which that was the place."""

    position: int
    epoch: str


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
    ) -> str:
        packed = position.to_bytes(8, "big", signed=True)
        named = b"" if epoch == FIRST_EPOCH else epoch.encode()
        signature = self._signature(packed + named, company_id, list_name, filters)
        return base64.urlsafe_b64encode(packed + signature + named).rstrip(b"=").decode()

    def place(self, cursor: str, company_id: int, list_name: str, filters: Mapping[str, object]) -> Place:
        """The position and the epoch that `sign` was given. Raises ValueError for any other text."""
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("is not a cursor of this list") from None
        packed, rest = raw[:8], raw[8:]
        signature, named = rest[:SIGNATURE_BYTES], rest[SIGNATURE_BYTES:]
        expected = self._signature(packed + named, company_id, list_name, filters)
        if not hmac.compare_digest(signature, expected):
            raise ValueError(UNKNOWN)
        return Place(int.from_bytes(packed, "big", signed=True), named.decode() if named else FIRST_EPOCH)

    def _signature(self, packed: bytes, company_id: int, list_name: str, filters: Mapping[str, object]) -> bytes:
        bound_to = json.dumps([company_id, list_name, sorted(filters.items())], default=str).encode()
        return hmac.new(self.key, packed + bound_to, hashlib.sha256).digest()[:SIGNATURE_BYTES]
