"""What of a user's ways in has ended, in words."""

from wmsd.base.plurals import counted
from wmsd.tenants.accounts.ways_in import Holdings


def ended(before: Holdings, after: Holdings) -> str:
    """Such as `the password, 2 sessions`; empty when nothing has."""
    parts = [
        *(["the password"] if before.password and not after.password else []),
        *(["the link to a new password"] if before.link and not after.link else []),
        *_counted(before.sessions - after.sessions, "session"),
        *_counted(before.tokens - after.tokens, "token"),
    ]
    return ", ".join(parts)


def told(before: Holdings, after: Holdings) -> str:
    """The same as a sentence."""
    ending = ended(before, after)
    return f"This has ended: {ending}." if ending else "No link, session or token has ended."


def _counted(number: int, noun: str) -> list[str]:
    return [counted(number, noun)] if number > 0 else []
