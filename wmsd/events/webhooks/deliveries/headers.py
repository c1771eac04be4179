"""The headers of an attempt, as the delivery log stores and returns them, without credentials.

The log has millions of attempts. It therefore does not store the sent headers that can be computed from the
delivery.
"""

from collections.abc import Mapping
from typing import Final

from wmsd.base.strict_json import dumps
from wmsd.events.webhooks.signing import AUTHENTICATION

MASK: Final = "***"
KEPT_OF_ANSWER: Final = 1024
"""wmsd stores at most this many characters of an answer's headers, names and values together."""
NOT_SHOWN: Final = frozenset({"set-cookie", "set-cookie2"})
"""Headers of answers whose values are masked, because someone who reads them could sign in to the receiver."""


def own_headers(
    auth_type: str, credentials: Mapping[str, object], sent: Mapping[str, str], known: Mapping[str, str]
) -> str:
    """Return the sent headers as JSON text, with masked credentials. Leave out the headers in `known`, which can
    be computed from the delivery.
    """
    secret = AUTHENTICATION[auth_type](credentials)
    return dumps(
        {
            name: _masked(auth_type, value) if name in secret else value
            for name, value in sent.items()
            if name not in known
        }
    )


def _masked(auth_type: str, value: str) -> str:
    return MASK if auth_type == "custom" else f"{value.partition(' ')[0]} {MASK}"


def of_answer(headers: Mapping[str, str]) -> str | None:
    """Return the first headers of an answer as JSON text, at most `KEPT_OF_ANSWER` characters. Return None if the
    answer has no headers.
    """
    kept: dict[str, str] = {}
    room = KEPT_OF_ANSWER
    for name, value in headers.items():
        shown = MASK if name.lower() in NOT_SHOWN else _text(value)
        room -= len(name) + len(shown)
        if room < 0:
            break
        kept[_text(name)] = shown
    return dumps(kept) if kept else None


def _text(value: str) -> str:
    """Return a header value as text that SQLite can store."""
    return value.encode(errors="replace").decode().replace("\0", "\ufffd")
