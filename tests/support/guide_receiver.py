"""Checks a webhook delivery as the guide tells receivers to. docs/webhooks.md contains these functions, and a test
compares them.
"""

import base64
import hmac
import time


def has_valid_signature(secret: str, headers: dict[str, str], body: bytes) -> bool:
    key = base64.b64decode(secret[6:] + "==") if secret.startswith("whsec_") else secret.encode()
    signed = f"{headers.get('webhook-id')}.{headers.get('webhook-timestamp')}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(key, signed, "sha256"))
    given = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(expected, each) for each in given)


def is_from_wmsd(secret: str, headers: dict[str, str], body: bytes) -> bool:
    try:
        age = time.time() - int(headers["webhook-timestamp"])
    except (KeyError, ValueError):
        return False
    return abs(age) <= 300 and has_valid_signature(secret, headers, body)
