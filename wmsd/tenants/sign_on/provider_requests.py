"""HTTP requests to a provider, through the guarded client, and the reading of its JSON responses."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from wmsd.base.problems import Problem
from wmsd.base.strict_json import parse_json
from wmsd.http_client.lazy_client import LazyClient

WANTED_BYTES: Final = 128 * 1024
"""The maximum size of a response in bytes. For comparison: the keys of large providers have about 20 kB."""
HEADERS: Final = {"Accept": "application/json", "User-Agent": "wmsd"}


class NoAnswer(Exception):
    """The error if a provider gives no usable response. Its message is a sentence for the platform admin."""


class Refused(NoAnswer):
    """The error if a provider responds with an error status. A possible cause is an attacker who sends wmsd a
    guessed code.
    """


async def get(client: LazyClient, url: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Send a GET request and return the JSON object. Raise NoAnswer if the provider gives no usable response.
    Raise Problem (503) if this machine has no free file handles, threads or memory.
    """
    answer = await client.get(url, {**HEADERS, **(headers or {})})
    return _read(url, answer.status, answer.body, answer.error, answer.is_cut)


async def post(
    client: LazyClient, url: str, fields: Mapping[str, str], headers: Mapping[str, str]
) -> dict[str, Any]:
    """Send a form and return the JSON object. Raise the same errors as `get`."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await client.post(url, {**HEADERS, **form, **headers}, urlencode(fields).encode())
    return _read(url, answer.status, answer.body, answer.error, answer.is_cut)


def _read(url: str, status: int | None, body: bytes, error: str | None, is_cut: bool) -> dict[str, Any]:
    if error is not None:
        raise NoAnswer(f"{url}: {error}")
    if is_cut:
        raise NoAnswer(f"{url} answered with more than {WANTED_BYTES // 1024} kB.")
    if status != 200:
        raise Refused(f"{url} answered with status {status}{_code(body)}.")
    return _object(url, body)


def _object(url: str, body: bytes) -> dict[str, Any]:
    try:
        document, errors = parse_json(body)
    except Problem:
        errors, document = {"": ["is not a JSON object"]}, {}
    if errors:
        raise NoAnswer(f"{url} did not answer with a JSON object.")
    return document


def _code(body: bytes) -> str:
    """Return the error code of an OAuth 2.0 response (RFC 6749, section 5.2) as words for a message. Return "" if
    the response has no error code.
    """
    try:
        code = _object("", body).get("error")
    except NoAnswer:
        return ""
    return f" and the error {code[:100]!r}" if isinstance(code, str) else ""
