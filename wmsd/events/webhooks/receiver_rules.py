"""The rules of test receivers."""

import base64
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple

from wmsd.base.machine.secret_files import BASE64_PREFIX
from wmsd.base.problems import FieldErrors

ADDRESS: Final = "wmsd:receiver"
"""The URL of every test receiver. `urls.py` keeps users from setting this URL."""
LASTS: Final = timedelta(days=7)
MOST: Final = 5
"""The maximum number of test receivers of a company."""
KEPT: Final = 100
"""The maximum number of received requests that wmsd stores for one test receiver."""
KEPT_BYTES: Final = 2_000_000
"""The maximum size, in bytes, of all stored request bodies of one test receiver."""
SECRET_BYTES: Final = 32
KEPT_OF_BODY: Final = 65_536
"""The maximum number of bytes that wmsd stores of one body."""
ENDED: Final = "This test receiver has expired or was removed."
OWN_SECRET: Final = "cannot be set for a test receiver, which has its own secret"
OWN_ADDRESS: Final = "cannot be changed for a test receiver; create another webhook for a real receiver"
NOT_TO_BE_SET: Final = ("secret", "token", "username", "password", "headers")

Answers = Literal["success", "failure", "gone", "late"]


class Reply(NamedTuple):
    """The answer of a test receiver: the status, the text, and the delay in seconds."""

    status: int
    text: str
    seconds: float = 0.0


REPLIES: Final[Mapping[Answers, Reply]] = {
    "success": Reply(200, "The test receiver accepted the delivery."),
    "failure": Reply(500, "The test receiver is set to fail."),
    "gone": Reply(410, "The test receiver is set to answer 410 Gone."),
    "late": Reply(200, "The test receiver accepted the delivery after 5 seconds.", 5.0),
}


def new_secret() -> str:
    """Return a new secret for signatures, in the form of Standard Webhooks."""
    return BASE64_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def change_errors(given: Mapping[str, Any]) -> FieldErrors:
    """Return the errors in the changed fields `given` of a test receiver.

    Users cannot set the URL or the credentials of a test receiver. wmsd creates the secret, because everyone who
    may read webhooks sees it.
    """
    errors: FieldErrors = {name: [OWN_SECRET] for name in NOT_TO_BE_SET if given.get(name) is not None}
    if given.get("url", ADDRESS) != ADDRESS:
        errors["url"] = [OWN_ADDRESS]
    if given.get("auth_type", "hmac") != "hmac":
        errors["auth_type"] = ["must be hmac for a test receiver"]
    return errors
