"""The headers of a delivery (specification, section 6; decisions, section 6; standardwebhooks.com).

Test receivers check signatures with the code that the guide recommends to integrators. A test compares this code
with the code in the guide.
"""

import base64
import hmac
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from wmsd.base.machine.secret_files import standard_key

EPOCH: Final = "X-Webhook-Epoch"
SEQUENCE_GAP: Final = "X-Webhook-Sequence-Gap"
USER_AGENT: Final = "3PL-WMS-Webhook/1.0"
REMEMBERED_KEYS: Final = 256


@lru_cache(REMEMBERED_KEYS)
def _begun(key: bytes) -> hmac.HMAC:
    return hmac.new(key, digestmod="sha256")


def _mac(key: bytes, *parts: bytes) -> hmac.HMAC:
    """Return the HMAC-SHA256 of the joined parts.

    `hmac.digest` is not faster here, because at each call it releases Python's global lock and must acquire it
    again.
    """
    mac = _begun(key).copy()
    for part in parts:
        mac.update(part)
    return mac


def signature(secret: str, body: bytes) -> str:
    """Return the value of X-Webhook-Signature, which signs the raw body. The key is the text of the secret."""
    return f"sha256={_mac(secret.encode(), body).hexdigest()}"


def standard_signature(secrets: Iterable[str], event_id: str, seconds: int, body: bytes) -> str:
    """Return the value of `webhook-signature`: a signature for each secret, the newest secret first."""
    before = f"{event_id}.{seconds}.".encode()
    digests = [_mac(standard_key(secret), before, body).digest() for secret in secrets]
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)


def has_valid_signature(secret: str, headers: dict[str, str], body: bytes) -> bool:
    key = base64.b64decode(secret[6:] + "==") if secret.startswith("whsec_") else secret.encode()
    signed = f"{headers.get('webhook-id')}.{headers.get('webhook-timestamp')}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(key, signed, "sha256"))
    given = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(expected, each) for each in given)


def _signed(_: Mapping[str, Any]) -> dict[str, str]:
    return {}  # the signature needs the body, so `headers` adds it


def _bearer(credentials: Mapping[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {credentials['token']}"}


def _basic(credentials: Mapping[str, Any]) -> dict[str, str]:
    pair = f"{credentials['username']}:{credentials['password']}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def _custom(credentials: Mapping[str, Any]) -> dict[str, str]:
    return dict(credentials["headers"])


AUTHENTICATION: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, str]]]] = {
    "hmac": _signed,
    "bearer": _bearer,
    "basic": _basic,
    "custom": _custom,
}


def delivery_headers(event_id: str, event: str, attempt: int, sequence: int) -> dict[str, str]:
    """Return the headers that can be computed from the delivery alone, without the subscription or its secret."""
    return {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        "X-Webhook-Event": event,
        "X-Webhook-Id": event_id,
        "X-Webhook-Attempt": str(attempt),
        "X-Webhook-Sequence": str(sequence),
        "webhook-id": event_id,
    }


def headers(
    *,
    auth_type: str,
    credentials: Mapping[str, Any],
    previous_secret: str | None,
    event_id: str,
    event: str,
    attempt: int,
    sequence: int,
    seconds: int,
    body: bytes,
    is_sandbox: bool,
    epoch: str | None = None,
    sequence_gap: str | None = None,
) -> dict[str, str]:
    """Return all headers of a delivery. `seconds` is the start time of the attempt, in seconds since 1970."""
    found = {
        **AUTHENTICATION[auth_type](credentials),
        **delivery_headers(event_id, event, attempt, sequence),
        "webhook-timestamp": str(seconds),
    }
    if auth_type == "hmac":
        secrets = [credentials["secret"], *([previous_secret] if previous_secret else [])]
        found["X-Webhook-Signature"] = signature(credentials["secret"], body)
        found["webhook-signature"] = standard_signature(secrets, event_id, seconds, body)
    found |= {name: value for name, value in {EPOCH: epoch, SEQUENCE_GAP: sequence_gap}.items() if value}
    if is_sandbox:
        found["X-ThreePl-Sandbox"] = "true"
    return found
