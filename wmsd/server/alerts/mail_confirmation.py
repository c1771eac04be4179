"""Confirms that alert e-mails arrive at the addresses in the settings.

A test e-mail contains a code, which the admin types. The state of the confirmation is a file in the data folder.
After a change of the e-mail settings, the addresses must be confirmed again.
"""

import hashlib
import hmac
import json
import secrets
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, NamedTuple

from wmsd.base import timestamps
from wmsd.base.machine.json_file import StoredModel, read_json_file, write_json_file
from wmsd.settings.sections.alerts import Alerts

FILE: Final = "alerts-mail.json"
MOST_READ: Final = 65_536
UNCONFIRMED: Final = (
    "No one has confirmed that alert e-mails arrive at {to}. Run wmsd alerts test, then confirm the "
    "code in the e-mail with wmsd alerts confirm CODE."
)
ConfirmationState = Literal["off", "untried", "sent", "confirmed"]


class Trial(StoredModel):
    way: str
    """The hash of the e-mail settings with which the test e-mail was sent."""
    code: str | None = None
    """The hash of the code in the last test e-mail, or None before the first test e-mail."""
    sent_at: str | None = None
    confirmed_at: str | None = None


class MailState(NamedTuple):
    state: ConfirmationState
    to: list[str]
    at: str | None = None
    """The time of the confirmation, or else of the last test e-mail. None before the first test e-mail."""

    @property
    def sentence(self) -> str | None:
        """A sentence that asks the admin to confirm the addresses, or None if nothing needs to be done."""
        return None if self.state in ("off", "confirmed") else UNCONFIRMED.format(to=", ".join(self.to))


def new_code() -> str:
    return f"{secrets.randbelow(1_000_000):06}"


def note_sent(data: Path, settings: Alerts, code: str, now: datetime) -> None:
    """Record that the relay has accepted a test e-mail with this code. Raise OSError if the file cannot be
    written.

    If the addresses are already confirmed, they stay confirmed.
    """
    known = _trial(data, settings)
    sent = {"code": _hash(known.way, code), "sent_at": timestamps.to_text(now)}
    write_json_file(data / FILE, known.model_copy(update=sent))


def confirm_mail_code(data: Path, settings: Alerts, code: str, now: datetime) -> bool:
    """Check the code that the admin has typed. If it is the code of the last test e-mail with these settings,
    record the confirmation and return True. Otherwise return False. Raise OSError if the file cannot be written.
    """
    known = _trial(data, settings)
    if known.code is None or not hmac.compare_digest(known.code, _hash(known.way, code.strip())):
        return False
    write_json_file(data / FILE, known.model_copy(update={"confirmed_at": timestamps.to_text(now)}))
    return True


def state_of(data: Path, settings: Alerts) -> MailState:
    if not settings.mail_to:
        return MailState("off", [])
    known = _trial(data, settings)
    if known.confirmed_at is not None:
        return MailState("confirmed", settings.mail_to, known.confirmed_at)
    return MailState("untried" if known.code is None else "sent", settings.mail_to, known.sent_at)


def _trial(data: Path, settings: Alerts) -> Trial:
    """Return the stored state if it belongs to these settings. Otherwise, or if the file cannot be read, return an
    empty state.
    """
    named = (
        *(settings.mail_to, settings.mail_from, settings.mail_relay, settings.mail_port),
        *(settings.mail_tls, settings.mail_user),
    )
    way = hashlib.sha256(json.dumps(named).encode()).hexdigest()
    none = Trial(way=way)
    known = read_json_file(data / FILE, none, MOST_READ)
    return known if known.way == way else none


def _hash(way: str, code: str) -> str:
    return hashlib.sha256(f"{way}/{code}".encode()).hexdigest()
