"""The rows of the tables that `wmsd webhook` prints.

The rows contain answers of receivers. Control characters are replaced, because they could control the terminal.
"""

from typing import Any, Final

from wmsd.events.webhooks.rules import GONE

Row = dict[str, Any]
LONGEST_ANSWER: Final = 200


def subscription_row(record: Row, open_deliveries: int, exhausted: int) -> Row:
    last = record["last_delivery"]
    return {
        "id": record["id"],
        "name": record["name"],
        "url": record["url"],
        "events": record["events"],
        "auth_type": record["auth_type"],
        "active": record["active"],
        "open": open_deliveries,
        "exhausted": exhausted,
        "failing_since": record["failing_since"],
        "credentials_missing_since": record["credentials_missing_since"],
        "switched_off": record["switched_off_because"],
        "last": last and f"{last['attempted_at']}: {outcome(last)}",
    }


def delivery_row(record: Row) -> Row:
    attempts = record["attempts"]
    return {
        "id": record["id"],
        "sequence": record["sequence"],
        "event": record["event"],
        "entity_id": record["entity_id"],
        "status": record["status"],
        "queued": record["created_at"],
        "due": record["due_at"],
        "attempts": len(attempts),
        "last": record["skipped_because"] or _waits(record) or (outcome(attempts[-1]) if attempts else None),
    }


def _waits(record: Row) -> str | None:
    return "waits for the credentials of the webhook" if record["waits_because"] else None


def attempt_rows(record: Row) -> list[Row]:
    """Return a row for each attempt of a delivery, with the newest attempt first."""
    return [
        {
            "delivery": record["id"],
            "event": record["event"],
            "attempt": attempt["number"],
            "at": attempt["at"],
            "milliseconds": attempt["milliseconds"],
            "outcome": outcome(attempt),
            "answer": in_a_line(attempt["response_body"]),
        }
        for attempt in reversed(record["attempts"])
    ]


def outcome(attempt: Row) -> str:
    """Return the outcome of an attempt: its error, or the status that the receiver answered.

    `attempt` may also be the last webhook delivery of a webhook.
    """
    error: str | None = attempt["error"]
    return error or f"answered {attempt['response_status']}"


def in_a_line(answer: str | None) -> str | None:
    """Return the beginning of the receiver's answer as one line, or None if there is no answer. Control characters
    are replaced.
    """
    if answer is None:
        return None
    line = " ".join(answer.split())
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line)
    return shown if len(shown) <= LONGEST_ANSWER else f"{shown[:LONGEST_ANSWER]} …"


def why_not(attempt: Row) -> str:
    """Return a sentence that says why an attempt failed, and what to do about it."""
    status = attempt["response_status"]
    if attempt["error"] is not None:
        return str(attempt["error"])
    if status == GONE:
        return "The receiver answered 410 Gone: it wants no more webhooks. wmsd has switched the webhook off."
    if 300 <= status < 400:
        return (
            f"The receiver answered {status}. wmsd does not follow redirects: set the target of the redirect "
            "as the address of the webhook."
        )
    return f"The receiver answered {status}. Only 200 to 299 means success."
