"""The media type of an answer, from the Accept header (RFC 9110, section 12.5.1)."""

from typing import Final

RESPONSE: Final = "application/graphql-response+json"
JSON: Final = "application/json"
MOST_CHARACTERS: Final = 1_000
"""The most characters of the header that are read, because the header is read before the token is checked."""


def media_type(accept: str | None) -> str | None:
    """Return the type that the client prefers: RESPONSE or JSON. Return None if the client accepts neither.

    RESPONSE is the newer type. If the client gives both types the same weight, return RESPONSE only if the header
    names it. Clients that send `*/*`, or no header, are mostly older clients.
    """
    weights = _weights((accept or "")[:MOST_CHARACTERS])
    newer, older = _weight(weights, RESPONSE), _weight(weights, JSON)
    if max(newer, older) == 0:
        return None
    return RESPONSE if newer > older or (newer == older and RESPONSE in weights) else JSON


def content_type(accept: str | None) -> str:
    """Return the Content-Type header. The type is JSON if the client accepts neither type."""
    return f"{media_type(accept) or JSON}; charset=utf-8"


def _weight(weights: dict[str, float], offered: str) -> float:
    """Return the weight of the type `offered`. The most specific media range that includes the type decides."""
    for media_range in (offered, "application/*", "*/*"):
        if media_range in weights:
            return weights[media_range]
    return 0.0


def _weights(accept: str) -> dict[str, float]:
    """Return the weight of each media range in the header. Leave out ranges with a charset other than UTF-8."""
    weights: dict[str, float] = {}
    for part in [part for part in accept.split(",") if part.strip()] or ["*/*"]:
        name, *parameters = (each.strip().lower() for each in part.split(";"))
        given = dict(each.partition("=")[::2] for each in parameters)
        if given.get("charset", "utf-8").strip('"') in ("utf-8", "utf8"):
            weights[name] = max(weights.get(name, 0.0), _number(given.get("q", "1")))
    return weights


def _number(text: str) -> float:
    """Return the weight as a number from 0 to 1, or 0 if the text is no number."""
    try:
        return min(max(0.0, float(text)), 1.0)
    except ValueError:
        return 0.0
