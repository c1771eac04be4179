"""Decisions that need no database: the new status after an attempt, and the credentials of a subscription."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.problems import FieldErrors
from wmsd.contract.context import Company
from wmsd.events.outbox.deliveries import ATTEMPTS
from wmsd.events.webhooks.schema import RECOMMENDED_SECRET, AuthType, DeliveryStatus

WAITS: Final = (30_000, 120_000, 480_000, 1_920_000)
"""Milliseconds between the attempts of a delivery (specification, section 6)."""
GONE: Final = 410
KEPT: Final = timedelta(days=30)
HOURS_KEPT: Final = timedelta(days=2)
ROTATION: Final = timedelta(hours=24)
SWITCHED_OFF_AFTER: Final = timedelta(days=5)
LONGEST_SILENCE: Final = timedelta(days=1)
"""The maximum time that one count adds to the failing time of a subscription. A jump of the clock therefore cannot
switch a subscription off.
"""
MOST_SUBSCRIPTIONS: Final = 200

assert len(WAITS) == ATTEMPTS - 1

NEEDED_MODULES: Final = ("api", "webhooks")
"""A company sends webhooks only if all these modules are on."""

CREDENTIALS: Final[Mapping[AuthType, tuple[str, ...]]] = {
    "hmac": ("secret",),
    "bearer": ("token",),
    "basic": ("username", "password"),
    "custom": ("headers",),
}
"""The credentials that each type of authentication needs."""
EVERY_CREDENTIAL: Final = tuple(name for names in CREDENTIALS.values() for name in names)


class Verdict(NamedTuple):
    """The new status of a delivery, and the milliseconds until its next attempt. With None, there is no next
    attempt.
    """

    status: DeliveryStatus
    wait: int | None = None


def off_because(company: Company) -> str | None:
    """Return the reason why nothing is sent for this company now, or None if webhooks are sent."""
    match [module for module in NEEDED_MODULES if module not in company.modules]:
        case [module]:
            return f"The module {module} is off."
        case [_, *_]:
            return "The modules api and webhooks are off."
    if company.sandbox and not (company.operator is not None and company.operator.sandbox_webhooks):
        return "The company is a sandbox, and webhooks are not switched on for the sandboxes of its operator."
    return None


def verdict_of_attempt(is_success: bool, attempts_left: int) -> Verdict:
    """Return the new status of a delivery after an attempt, and the wait until the next attempt. `attempts_left`
    does not include this attempt.
    """
    if is_success:
        return Verdict("delivered")
    if attempts_left:
        return Verdict("pending", WAITS[-attempts_left])
    return Verdict("exhausted")


def hour(moment: datetime) -> str:
    """Return the hour under which an attempt is counted, such as `2026-11-20T13` in UTC."""
    return timestamps.to_text(moment)[:13]


def failing_milliseconds(counted: int, until: str | None, now: str) -> int:
    """Return the failing time of a subscription at the time `now`, in milliseconds.

    `counted` is the failing time at the last count. `until` is the time of the last count, or None at the first
    failure.
    """
    if until is None:
        return counted
    since = timestamps.from_text(now) - timestamps.from_text(until)
    return counted + min(max(since, timedelta()), LONGEST_SILENCE) // timedelta(milliseconds=1)


def credentials(
    auth_type: AuthType, sent: Mapping[str, Any], kept: Mapping[str, Any] | None
) -> tuple[dict[str, Any], FieldErrors]:
    """Return the credentials to store for a subscription, and the errors in the sent credentials.

    `kept` has the current credentials, or is None if they cannot stay. A credential that is not in `sent` keeps
    its current value.
    """
    needed = CREDENTIALS[auth_type]
    before, last = ", ".join(needed[:-1]), needed[-1]
    errors: FieldErrors = {
        name: [f"cannot be used with auth_type {auth_type}, which needs {before}{' and ' if before else ''}{last}"]
        for name in EVERY_CREDENTIAL
        if name not in needed and sent.get(name) is not None
    }
    found = {name: sent[name] if sent.get(name) is not None else (kept or {}).get(name) for name in needed}
    errors |= {name: [f"is required by auth_type {auth_type}"] for name, value in found.items() if value is None}
    return found, errors


def is_short(credentials: Mapping[str, Any]) -> bool:
    secret = credentials.get("secret")
    return secret is not None and len(secret) < RECOMMENDED_SECRET
