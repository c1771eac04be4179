"""Cursors: opaque, signed, and bound to the company, the list and its filters.

A cursor does not contain what it is bound to. That is only part of the signed text, so a cursor that is used
elsewhere fails like a forged one.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Final

from wmsd.base.dataclass import dataclass

SIGNATURE_BYTES = 12


INSTALLATION: Final = 0
"""Stands for the company in a cursor of a list that belongs to none. No company has this id."""


@dataclass(frozen=True, slots=True)
class CursorSigner:
    key: bytes

    def sign(self, position: int, company_id: int, list_name: str, filters: Mapping[str, object]) -> str:
        packed = position.to_bytes(8, "big", signed=True)
        signature = self._signature(packed, company_id, list_name, filters)
        return base64.urlsafe_b64encode(packed + signature).rstrip(b"=").decode()

    def position(self, cursor: str, company_id: int, list_name: str, filters: Mapping[str, object]) -> int:
        """The position that `sign` was given. Raises ValueError for any other text."""
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("is not a cursor of this list") from None
        packed, signature = raw[:8], raw[8:]
        expected = self._signature(packed, company_id, list_name, filters)
        if not hmac.compare_digest(signature, expected):
            raise ValueError("is not a cursor of this company, this list and these filters")
        return int.from_bytes(packed, "big", signed=True)

    def _signature(self, packed: bytes, company_id: int, list_name: str, filters: Mapping[str, object]) -> bytes:
        bound_to = json.dumps([company_id, list_name, sorted(filters.items())], default=str).encode()
        return hmac.new(self.key, packed + bound_to, hashlib.sha256).digest()[:SIGNATURE_BYTES]
