"""Compression of answers for clients that accept gzip (RFC 9110, section 12.5.3)."""

from typing import Final

from wmsd.dispatch.preconditions import compressed_etag
from wmsd.dispatch.prepared_answers import Kept
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.negotiation import weights_in

LEAST: Final = 1000
"""Answers with fewer bytes are not compressed. Such an answer fits in one packet anyway."""
LONGEST_AT_ONCE: Final = 16 * 1024
"""The maximum number of bytes that are compressed in the event loop. A longer answer is compressed in a thread."""
GZIP: Final = ("gzip", "x-gzip")


def compress(request: web.Request, answer: web.StreamResponse) -> None:
    """Mark the answer for compression if the client accepts gzip and the body is long enough."""
    if "Accept-Encoding" not in request.headers or not isinstance(answer, web.Response):
        return
    body = answer.body
    if not isinstance(body, bytes) or len(body) < LEAST or "Content-Encoding" in answer.headers:
        return
    if not accepts_gzip(request.headers["Accept-Encoding"]):
        return
    if isinstance(body, Kept):
        answer.body = body.compressed
        answer.headers["Content-Encoding"] = "gzip"
    else:
        answer.enable_compression(web.ContentCoding.gzip)
    if "ETag" in answer.headers:
        answer.headers["ETag"] = compressed_etag(answer.headers["ETag"])


def accepts_gzip(header: str) -> bool:
    """Return True if the header Accept-Encoding accepts gzip.

    A coding with the weight 0 is refused. The name `*` stands for all codings that the header does not name.
    """
    weights = weights_in(header)
    named = [weights[name] for name in GZIP if name in weights]
    return max(named, default=weights.get("*", 0.0)) > 0
