"""The media type of an answer, by what the request accepts (RFC 9110, section 12.5.1)."""

from typing import Final

RESPONSE: Final = "application/graphql-response+json"
JSON: Final = "application/json"
MOST_CHARACTERS: Final = 1_000
"""Of the header that are read: it is looked at for everybody, with a token or without."""


def media_type(accept: str | None) -> str | None:
    """What is liked best of the two that there are; None when neither will do.

    Who likes both as well gets the newer one where it is named: those who send `*/*`, or nothing at all, are
    mostly clients that are older than it.
    """
    weights = _weights((accept or "")[:MOST_CHARACTERS])
    newer, older = _weight(weights, RESPONSE), _weight(weights, JSON)
    if max(newer, older) == 0:
        return None
    return RESPONSE if newer > older or (newer == older and RESPONSE in weights) else JSON


def content_type(accept: str | None) -> str:
    """The header. A refusal is JSON where nothing else will do."""
    return f"{media_type(accept) or JSON}; charset=utf-8"


def _weight(weights: dict[str, float], offered: str) -> float:
    """By the range that says most of it."""
    for media_range in (offered, "application/*", "*/*"):
        if media_range in weights:
            return weights[media_range]
    return 0.0


def _weights(accept: str) -> dict[str, float]:
    """By media range. One in another charset than ours is none that can be had."""
    weights: dict[str, float] = {}
    for part in [part for part in accept.split(",") if part.strip()] or ["*/*"]:
        name, *parameters = (each.strip().lower() for each in part.split(";"))
        given = dict(each.partition("=")[::2] for each in parameters)
        if given.get("charset", "utf-8").strip('"') in ("utf-8", "utf8"):
            weights[name] = max(weights.get(name, 0.0), _number(given.get("q", "1")))
    return weights


def _number(text: str) -> float:
    """From 0 to 1; 0 for what is no number."""
    try:
        return min(max(0.0, float(text)), 1.0)
    except ValueError:
        return 0.0
