"""An HTTP client for URLs that any user may set. Each request has a deadline, and only a limited number of bytes
of the answer is read.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from yarl import URL

from wmsd.base.aiohttp_without_cas import left_unread
from wmsd.base.problems import Problem, unavailable
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.http_client import failures
from wmsd.http_client.answer import Answer
from wmsd.http_client.connector import (
    ATTEMPT,
    WANTED_BYTES,
    Attempt,
    Connector,
    Handshake,
    Phase,
    most_bytes,
)
from wmsd.http_client.deadlines import Countdowns, Deadline
from wmsd.http_client.dns_resolver import DnsResolver, on_thread
from wmsd.http_client.guard import Guard
from wmsd.http_client.trusted_authorities import dialling_context
from wmsd.http_client.urls import parse_url, url_errors

with left_unread():
    import aiohttp

LOG = logging.getLogger("wmsd.webhooks")
DEADLINE_SECONDS: Final = 10.0
REMEMBERED_URLS: Final = 1024
OWN_HEADERS: Final = {"Accept": "*/*", "Accept-Encoding": "identity"}
"""Headers of every request. They replace the values that aiohttp would send."""
USER_AGENT_HEADER: Final = "User-Agent"
"""The header that aiohttp adds to each request by default. wmsd sends it only if the caller sets it."""
FRAMING: Final = frozenset(
    {
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "upgrade",
        "te",
        "trailer",
        "expect",
        "keep-alive",
    }
)
"""Headers that callers may not set. They could change where the request ends for the receiver, or where the
request goes.
"""


class GuardedClient:
    """A client for requests to URLs that the guard allows. It follows no redirects, stores no cookies, and uses a
    proxy only if the settings name one. Create it within an event loop, and close it at the end.

    Idle connections stay open for two seconds. The guard checks each connection when it is opened.
    """

    def __init__(
        self,
        guard: Guard,
        ca_file: str = "",
        deadline: float = DEADLINE_SECONDS,
        resolver: DnsResolver | None = None,
        wanted: int | None = None,
        proxy: str = "",
    ) -> None:
        """Create the client. `wanted` is the maximum number of bytes that it reads of an answer's body. The
        default is WANTED_BYTES. If `proxy` is a URL, all requests go through that proxy.
        """
        self._proxy = proxy or None
        self._guard = guard
        self._wanted = wanted or WANTED_BYTES
        self._ca_file = ca_file
        self._deadlines = Countdowns(deadline, Deadline.pass_by)
        self._resolver = resolver or DnsResolver()
        self._target = lru_cache(REMEMBERED_URLS)(self._new_target)
        self._context: ssl.SSLContext | None = None
        self._reading = asyncio.Lock()
        self._complaints = RepeatedFailures(LOG, (UnicodeError,), level=logging.WARNING)
        self._kept = self._session(keeps=True)
        self._fresh = self._session(keeps=False)

    async def aclose(self) -> None:
        await self._fresh.close()
        await self._kept.close()

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, party: int = 0) -> Answer:
        """Send a POST request. If the receiver or its name server causes an error, return an answer with the
        error.

        `party` identifies the sender, such as a company. Each sender has a separate share of the name lookups.
        Raise ValueError if a header is in `FRAMING` or has invalid characters. Raise Problem (503) if this machine
        lacks files, threads or memory.
        """
        return await self._ask("POST", url, headers, body, party)

    async def get(self, url: str, headers: Mapping[str, str]) -> Answer:
        """Send a GET request. Raise the same errors as `post`."""
        return await self._ask("GET", url, headers, None, 0)

    async def _ask(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, party: int
    ) -> Answer:
        _refuse_framing(headers)
        started = time.monotonic()
        try:
            target, errors = self._target(url)
        except OSError as cause:
            raise _short() from cause
        if target is None:
            return Answer(None, {}, b"", False, 0.0, errors)
        attempt = Attempt(target.scheme, target.raw_host or "", target.port or 0, headers, party, self._wanted)
        error = await self._in_time(attempt, method, target, body)
        return Answer(
            attempt.status,
            attempt.headers,
            bytes(attempt.body[: attempt.wanted]),
            attempt.is_cut,
            time.monotonic() - started,
            error,
        )

    async def _in_time(self, attempt: Attempt, method: str, target: URL, body: bytes | None) -> str | None:
        """Send the request within the deadline, and store the answer in `attempt`. Return None if it succeeded.
        Otherwise return a sentence with the reason.
        """
        token = ATTEMPT.set(attempt)
        deadline = Deadline(self._deadlines)
        try:
            with deadline:
                await self._go(attempt, method, target, body)
        except Exception as error:  # a hostile receiver could cause any exception
            if attempt.is_cut:
                return None  # the body had more bytes than wanted, which is not an error
            if failures.is_shortage(error):
                raise _short() from error
            if deadline.has_passed:
                return failures.out_of_time(attempt, self._deadlines.seconds)
            return failures.sentence(error, attempt, self._complaints, self._guard.section)
        finally:
            ATTEMPT.reset(token)
            if attempt.wire is not None:
                attempt.wire.end(attempt)
        return None

    async def _go(self, attempt: Attempt, method: str, target: URL, body: bytes | None) -> None:
        try:
            response = await self._request(self._kept, attempt, method, target, body)
        except aiohttp.ClientConnectionError:
            if not attempt.may_be_stale:
                raise
            response = await self._request(self._fresh, attempt, method, target, body)
        try:
            await _read(response, attempt)
        finally:
            if not response.content.at_eof():
                response.close()

    async def _request(
        self, session: aiohttp.ClientSession, attempt: Attempt, method: str, target: URL, body: bytes | None
    ) -> aiohttp.ClientResponse:
        trust = await self._trust() if target.scheme == "https" else True
        return await session.request(
            method,
            target,
            headers=attempt.sent,  # of names that differ in case, aiohttp sends the last: the delivery's
            skip_auto_headers=None if USER_AGENT_HEADER in attempt.sent else (USER_AGENT_HEADER,),
            data=body,
            ssl=trust,
            proxy=self._proxy,
            allow_redirects=False,
        )

    async def _trust(self) -> ssl.SSLContext:
        """Return the TLS context, created at the first use. Raise AuthoritiesError if the authorities cannot be
        read.
        """
        if self._context is None:
            async with self._reading:
                if self._context is None:
                    context = await on_thread(lambda: dialling_context(self._ca_file, self._guard.section))
                    context.sslobject_class = Handshake
                    self._context = context
        return self._context

    def _session(self, *, keeps: bool) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=Connector(self._guard, self._resolver, keeps=keeps, has_proxy=self._proxy is not None),
            headers=OWN_HEADERS,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(),
            auto_decompress=False,
            read_bufsize=2 * self._wanted,
            # `Connection` limits the bytes, so aiohttp need not reject a long head and lose its status.
            max_line_size=most_bytes(self._wanted),
            max_field_size=most_bytes(self._wanted),
            max_headers=most_bytes(self._wanted),
        )

    def _new_target(self, url: str) -> tuple[URL | None, str | None]:
        errors = url_errors(url, self._guard)
        return (None, " ".join(errors)) if errors else (parse_url(url), None)


async def _read(response: aiohttp.ClientResponse, attempt: Attempt) -> None:
    attempt.status, attempt.headers, attempt.phase = response.status, response.headers, Phase.BODY
    while len(attempt.body) <= attempt.wanted and not response.content.at_eof():
        attempt.body += await response.content.read(attempt.wanted + 1 - len(attempt.body))
    attempt.is_whole = len(attempt.body) <= attempt.wanted


def _short() -> Problem:
    return unavailable(
        "wmsd has reached a limit of open files, threads or memory, so nothing was sent. Try again shortly.", 30
    )


def _refuse_framing(headers: Mapping[str, str]) -> None:
    if not (_is_harmless(tuple(headers)) and "".join(headers.values()).isprintable()):
        raise ValueError(
            f"wmsd cannot send one of the headers {', '.join(headers)}: choose another "
            "name, or remove control characters from its value"
        )


@lru_cache(REMEMBERED_URLS)
def _is_harmless(names: tuple[str, ...]) -> bool:
    return FRAMING.isdisjoint(map(str.lower, names)) and "".join(names).isprintable()
