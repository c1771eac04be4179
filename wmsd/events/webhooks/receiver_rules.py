"""What holds for receivers of the house's own."""

import base64
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple

from wmsd.base.machine.secret_files import BASE64_PREFIX
from wmsd.base.problems import FieldErrors

ADDRESS: Final = "wmsd:receiver"
"""Of every one of them. No URL that a caller may write is like it (`urls.py`)."""
LASTS: Final = timedelta(days=7)
MOST: Final = 5
"""Of a company."""
KEPT: Final = 100
"""Of what one has received."""
KEPT_BYTES: Final = 2_000_000
"""Of the bodies of one together."""
SECRET_BYTES: Final = 32
KEPT_OF_BODY: Final = 65_536
"""Bytes of a body."""
ENDED: Final = "This test receiver has ended, or was removed."
OWN_SECRET: Final = "is the test receiver's own, which everybody may see; it cannot be set"
OWN_ADDRESS: Final = "is that of a test receiver; make another webhook for a real one"
NOT_TO_BE_SET: Final = ("secret", "token", "username", "password", "headers")

Answers = Literal["success", "failure", "gone", "late"]


class Reply(NamedTuple):
    """What one answers: after so many seconds, with a status and a text."""

    status: int
    text: str
    seconds: float = 0.0


REPLIES: Final[Mapping[Answers, Reply]] = {
    "success": Reply(200, "The test receiver took it."),
    "failure": Reply(500, "The test receiver is set to fail."),
    "gone": Reply(410, "The test receiver is set to be gone."),
    "late": Reply(200, "The test receiver took it, after 5 seconds.", 5.0),
}


def new_secret() -> str:
    """Makes a secret that signs, in the form of Standard Webhooks."""
    return BASE64_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def change_errors(given: Mapping[str, Any]) -> FieldErrors:
    """Its address and its secret are its own. Both would be shown to all who may read webhooks."""
    errors: FieldErrors = {name: [OWN_SECRET] for name in NOT_TO_BE_SET if given.get(name) is not None}
    if given.get("url", ADDRESS) != ADDRESS:
        errors["url"] = [OWN_ADDRESS]
    if given.get("auth_type", "hmac") != "hmac":
        errors["auth_type"] = ["must be hmac at a test receiver"]
    return errors
