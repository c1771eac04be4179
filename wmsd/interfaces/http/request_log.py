"""The log of requests. Each request has one line, which names the sender. If very many requests are refused, only
some of them are logged.
"""

import asyncio
import logging
import re
import time
from collections.abc import Sequence
from typing import Any, Final

from wmsd.base.client_addresses import Network
from wmsd.base.clock import Clock
from wmsd.base.machine.shortages import is_shortage
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.dispatch.call import Call
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http import requests
from wmsd.interfaces.http.aiohttp_web import AbstractAccessLogger, HttpProcessingError, web
from wmsd.log.line_writer import REQUESTS, RequestLine, log_request
from wmsd.log.sampling import REPORT_SECONDS, TRACES, LogSampling, TokenBucket

LOG = REQUESTS
REQUEST_ID: Final = web.RequestKey("request_id", str)
CALL: Final = web.RequestKey("call", Call)
LONGEST_PATH: Final = 500
REASON: Final = re.compile(r"[A-Z][a-z]+( [\w/-]+)+", re.ASCII)
"""The start of aiohttp's message about a malformed request.

The rest is not logged, because it may contain data of the request, such as a token.
"""


class RequestLog:
    def __init__(self, installation: Installation, trusted: Sequence[Network]) -> None:
        self._is_on = installation.settings.log.requests
        self._trusted = trusted
        self._clock = installation.clock
        self._sampling = LogSampling(installation.clock)
        self._left_out_later: asyncio.TimerHandle | None = None
        self._failures = RepeatedFailures(LOG, monotonic=installation.clock.monotonic)
        self.shortages = RepeatedFailures(LOG, (RuntimeError,), monotonic=installation.clock.monotonic)

    def write(
        self, request: web.BaseRequest, call: Call | None, status: int, seconds: float, reason: str = ""
    ) -> None:
        """Log an answered request, which has become `call` if it was understood. If logging fails, the request is
        answered in any case.
        """
        try:
            self._write(request, call, status, seconds, reason)
        except Exception as error:
            self._failures.failed("requests are answered, but not logged", error)

    def write_call(self, call: Call, path: str, status: int, seconds: float) -> None:
        """Log a call that is not an HTTP request itself, such as a try-out on a page of the reference."""
        try:
            if self._admits(call, status):
                extra = {"request_id": call.request_id, "status": status, **_sender(call)}
                line = RequestLine(
                    time.time(), call.method, path[:LONGEST_PATH], status, seconds * 1000, "", extra
                )
                log_request(line)
        except Exception as error:
            self._failures.failed("requests are answered, but not logged", error)

    def _admits(self, call: Call | None, status: int) -> bool:
        """Return True if the request must be logged now.

        If too many requests are refused, some of them are only counted. A later log line then says how many.
        """
        if not self._is_on or not LOG.isEnabledFor(logging.INFO):
            return False
        if self._sampling.admits(status, call is not None and call.caller is not None):
            return True
        self._log_later()
        return False

    def _write(
        self, request: web.BaseRequest, call: Call | None, status: int, seconds: float, reason: str
    ) -> None:
        if not self._admits(call, status):
            return
        extra: dict[str, Any] = {"request_id": request.get(REQUEST_ID), "status": status}
        if call is None:
            extra["address"] = requests.client_address(request, self._trusted)
        else:
            extra |= _sender(call)
        path = request.rel_url.raw_path[:LONGEST_PATH] or "-"
        log_request(RequestLine(time.time(), request.method, path, status, seconds * 1000, reason, extra))

    def _log_later(self) -> None:
        if self._left_out_later is None:
            self._left_out_later = asyncio.get_running_loop().call_later(REPORT_SECONDS, self._log_dropped)

    def _log_dropped(self) -> None:
        self._left_out_later = None
        if sentence := self._sampling.left_out():
            LOG.warning(sentence)

    async def close(self, _: web.Application) -> None:
        """Log how many requests were not logged since the last line about such requests."""
        if self._left_out_later is not None:
            self._left_out_later.cancel()
        self._log_dropped()

    def for_aiohttp(self) -> dict[str, Any]:
        """Return the arguments for aiohttp's server. With them, the answers that aiohttp creates itself are
        written to this log too.
        """
        return {
            "access_log": self,
            "access_log_class": _OwnAnswers,
            "logger": _ServerLogger(self._clock, self.shortages),
        }


def _sender(call: Call) -> dict[str, Any]:
    """Return the client address, company and user of a call, as fields of a log line."""
    found: dict[str, Any] = {"address": call.address}
    if call.tenant is not None:
        found["company_id"] = str(call.tenant.id)
    if call.caller is not None:
        found["user_id"], found["token_id"] = call.caller.actor.user_id, call.caller.actor.token_id
    return found


class _OwnAnswers(AbstractAccessLogger):
    def __init__(self, log: RequestLog, _: str) -> None:
        self._log = log

    def log(self, request: web.BaseRequest, response: web.StreamResponse, time: float) -> None:
        if REQUEST_ID not in request:
            self._log.write(request, None, response.status, time)


def reason_of(sentence: str) -> str:
    """Return the reason in aiohttp's sentence about a malformed request. The result is a space and the reason in
    parentheses, or "" if the sentence does not begin like REASON.
    """
    found = REASON.match(sentence)
    return f" ({found[0]})" if found else ""


class _ServerLogger(logging.LoggerAdapter[logging.Logger]):
    """A filter for aiohttp's error log. It limits the number of tracebacks, and drops errors about malformed
    requests.

    Malformed requests are not errors of wmsd. They are logged as requests.
    """

    def __init__(self, clock: Clock, shortages: RepeatedFailures) -> None:
        super().__init__(logging.getLogger("aiohttp.server"), {})
        self._shortages = shortages
        self._clock = clock
        self._traces = TokenBucket(*TRACES, clock.monotonic())

    def log(self, level: int, msg: object, *args: object, exc_info: Any = None, **more: Any) -> None:
        if isinstance(exc_info, HttpProcessingError | web.RequestPayloadError):
            return
        if isinstance(exc_info, Exception) and is_shortage(exc_info):
            self._shortages.failed("requests are interrupted", exc_info)
            return
        if exc_info is None or self._traces.take(self._clock.monotonic()):
            super().log(level, msg, *args, exc_info=exc_info, **more)
