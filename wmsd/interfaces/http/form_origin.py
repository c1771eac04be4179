"""Checks that a form was sent from a page of this service. If the cause of a refusal is probably a wrong proxy
setting, the log says how to correct it.
"""

import logging
import time
from functools import lru_cache
from typing import Final

from wmsd.base.origins import written_origin
from wmsd.base.problems import Problem
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.reached_origin import FORWARDED
from wmsd.interfaces.http.request_log import REQUEST_ID
from wmsd.log.sampling import TokenBucket

LOG: Final = logging.getLogger("wmsd.pages")
TOLD: Final = ("Origin", "Sec-Fetch-Site", "Host", *FORWARDED)
"""The headers of a refused form that are logged."""
LONGEST_TRANSLATED: Final = 200
UNSAID: Final = (None, "null")
"""The values of the Origin header that do not name an origin: "null", which hides the origin, and None, a missing
header.
"""
_lines = TokenBucket(1.0, 20, time.monotonic())
"""The limit of log lines: 20 immediately, then one per second. Anyone can send forms that are refused."""


class FormOfAnotherOrigin(Problem):
    def __init__(self, own: str = "", sent: str = "") -> None:
        """Create the error.

        `own` is the origin of this service if a setting fixes it, otherwise "". `sent` is the origin that the
        browser has sent, if this is probably another address of this service. Otherwise `sent` is "".
        """
        super().__init__(
            "FORBIDDEN",
            (
                "This form was not sent from a page of this service, so nothing was changed. Open the page again, "
                "and send the form from there."
            ),
        )
        self.own, self.sent = own, sent


def check_form_origin(request: web.Request, own: str, is_fixed: bool) -> None:
    """Raise Problem (403) unless a page of the origin `own` has sent the form.

    `is_fixed` means that a setting fixes the origin.
    """
    sent, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
    if site is None:
        is_own = sent == own != ""
    else:
        is_own = site == "same-origin" and (not is_fixed or sent in UNSAID or sent == own)
    if is_own:
        if sent not in UNSAID and sent != own:
            _log_difference(str(sent)[:LONGEST_TRANSLATED], own)
        return
    _log_refusal(request, own, is_fixed)
    scheme, _, host = (sent or "").partition("://")
    is_origin = site is None and sent == written_origin(scheme, host) != own
    raise FormOfAnotherOrigin(own if is_fixed else "", sent if is_origin and sent else "")


def _log_refusal(request: web.Request, own: str, is_fixed: bool) -> None:
    if not _lines.take(time.monotonic()):
        return
    LOG.warning(
        "refused a form, because it did not come from %s (%s): the request had the headers %s. See "
        "/docs/reverse-proxies.",
        own or "a readable address",
        "the address in server.public_url"
        if is_fixed
        else "the address of the request; server.public_url is not set",
        ", ".join(f"{name} {_quoted(request.headers.get(name))}" for name in TOLD),
        extra={"request_id": request.get(REQUEST_ID)},
    )


@lru_cache(maxsize=64)
def _log_difference(sent: str, own: str) -> None:
    """Log that browsers send the origin `sent`, but the service uses the origin `own`.

    A cache on this function prevents a second line for the same origins.
    """
    if _lines.take(time.monotonic()):
        LOG.warning(
            "forms come from %s, but wmsd uses %s as its own address. If the first address is right, set "
            "server.public_url to it. See /docs/reverse-proxies.",
            *(_quoted(sent), _quoted(own)),
        )


def _quoted(value: str | None) -> str:
    return "none" if value is None else repr(value[:LONGEST_TRANSLATED])
