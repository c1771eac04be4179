"""One-time codes of authenticator apps (RFC 6238, over RFC 4226): SHA-1, six digits, a new code every 30 s."""

import base64
import hmac
import re
from datetime import datetime
from typing import Final
from urllib.parse import quote, urlencode

SECONDS: Final = 30
DIGITS: Final = 6
SECRET_BYTES: Final = 20
SECRET: Final = re.compile(rf"[A-Z2-7]{{{SECRET_BYTES * 8 // 5}}}")
"""The form of a secret: base32 text."""
STEPS_AWAY: Final = (0, -1, 1)
"""The time steps whose codes are accepted, relative to the present step. The neighbouring steps are accepted
because clocks differ, and because users need time to type.
"""


def code_at(secret: str, step: int) -> str:
    """Return the code of a time step. `secret` is in base32."""
    digest = hmac.digest(base64.b32decode(secret), step.to_bytes(8, "big"), "sha1")
    offset = digest[-1] & 0xF
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFF_FFFF
    return f"{number % 10**DIGITS:0{DIGITS}}"


def step_of(secret: str, code: str, now: datetime, last_step: int) -> int | None:
    """Return the time step to which the code belongs. Return None if the code is wrong. A code of the last
    accepted step `last_step` or of an earlier step is also wrong.
    """
    current = int(now.timestamp()) // SECONDS
    steps = [current + away for away in STEPS_AWAY if current + away > last_step]
    return next(
        (step for step in steps if hmac.compare_digest(code_at(secret, step).encode(), code.encode())), None
    )


def is_secret(text: str) -> bool:
    return SECRET.fullmatch(text) is not None


def uri(secret: str, email: str) -> str:
    """Return the URI that apps read from a link or a QR code."""
    return f"otpauth://totp/wmsd:{quote(email)}?{urlencode({'secret': secret, 'issuer': 'wmsd'})}"
