"""Cursors: opaque, signed, and bound to the company, the list and its filters.

A cursor does not contain what it is bound to. That is only part of the signed text, so a cursor that is used
elsewhere fails like a forged one. It does contain the epoch of the company's history in which it was given
(decisions, section 11); one of the first epoch has none, as all had before there were epochs. And it contains a
digest of the moment that its walk began with, in a list that can begin with one: whoever goes on need not send it.
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
"""Comes before the digest of what the walk began with; no epoch has it in its name."""
ANOTHER_BEGINNING: Final = (
    "is another than the walk of this cursor began with: send that one, or none, or begin without the cursor"
)
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
    began: str | None = None
    """The digest of what the walk began with; None in a list that has no such parameter, and in old cursors."""


def began_with(begins: Mapping[str, object]) -> str:
    """The digest of what a walk begins with."""
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
        """The place that `sign` was given. Raises ValueError for any other text."""
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("is not a cursor of this list") from None
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
