"""Checks the conditions that a request states in its headers or its query.

The headers are If-Match and If-None-Match, which contain ETags (RFC 9110, sections 8.8.3, 13.1.1 and 13.1.2). With
If-Match, wmsd changes a record only if the record has not changed since the client read it. With If-None-Match,
wmsd does not send an answer that the client already has.

A query may ask for the changes since a time. This time must not be in the future.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

from xxhash import xxh3_128_hexdigest

from wmsd.base.problems import Problem, invalid
from wmsd.contract.context import Company
from wmsd.contract.list_queries import Query
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.change_sequence import last_moment
from wmsd.dispatch.call import Call, Reply

COMPRESSED: Final = "-gzip"
"""The suffix of a compressed answer's ETag. Its ETag must differ from that of the uncompressed answer, because the
bytes differ (section 8.8.3.3).
"""
TAG: Final = re.compile(r'(?:W/)?"?([0-9a-f]+)(?:[-;](?:gzip|br|zstd|deflate))?"?')
"""A pattern for an ETag of wmsd, also in the forms that proxies and clients send back. nginx makes the ETag weak
when it compresses an answer. Apache adds the name of the compression. Some clients leave out the quotation marks.
All these forms identify the same state of the record.
"""
CHANGED: Final = "The record has changed since it was read. Read it again and repeat the change."
UNKNOWN: Final = "If-Match has no ETag of this server. Send the ETag that came with the record."


def etag(text: str) -> str:
    """Return the strong ETag of a record. `text` is the record as JSON."""
    return etag_of(text.encode())


def etag_of(body: bytes) -> str:
    return f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'


def weak_etag(text: str) -> str:
    """Return the weak ETag of a list. Its hash function is fifty times faster than that of `etag`, but is not safe
    against forgery: an attacker can create lists with the same hash. This does no harm, because no write depends
    on this ETag.
    """
    return f'W/"{xxh3_128_hexdigest(text.encode())}"'


def compressed_etag(tag: str) -> str:
    """Return the ETag of a compressed answer. `tag` is the ETag of the uncompressed answer. A weak ETag stays the
    same, because it does not promise the same bytes.
    """
    return tag if tag.startswith("W/") else f'{tag.removesuffix(chr(34))}{COMPRESSED}"'


def _digests(header: str) -> list[str]:
    """Return the digest of each wmsd ETag in a header. The digest identifies a state of the record."""
    return [found[1] for tag in header.split(",") if (found := TAG.fullmatch(tag.strip()))]


def unchanged(if_none_match: str | None, reply: Reply) -> Reply | None:
    """If the client already has this answer, return an answer with the status 304. Otherwise return None.

    The 304 answer has the ETag that the client has sent. For reads, it is enough that weak ETags match (section
    8.8.3.2).
    """
    if if_none_match is None or reply.status != 200 or "ETag" not in reply.headers:
        return None
    own = reply.headers["ETag"]
    if compressed_etag(own) in if_none_match:
        return Reply(304, b"", {**reply.headers, "ETag": compressed_etag(own)})
    is_known = if_none_match.strip() == "*" or _digests(own)[0] in _digests(if_none_match)
    return Reply(304, b"", reply.headers) if is_known else None


def check(tx: Transaction, call: Call, inputs: Mapping[str, Any]) -> None:
    """Check the If-Match header. Raise Problem (412) if the header does not contain the record's current ETag.
    Raise Problem (404) if the record does not exist.

    The record is found by the path parameters of the request. For operations on the installation, the caller is
    used too. For other operations, the site and the company are used too, if the operation takes them.
    """
    precondition = call.operation.precondition
    if call.if_match is None or precondition is None:
        return
    context = ("caller",) if call.operation.scope == "installation" else ("site", "company")
    by = {name: inputs[name] for name in (*call.operation.path_types, *context) if name in inputs}
    current = etag(precondition(tx, **by).json)
    wanted = _digests(call.if_match)
    if call.if_match.strip() != "*" and _digests(current)[0] not in wanted:
        raise Problem("PRECONDITION_FAILED", CHANGED if wanted else UNKNOWN, headers={"ETag": current})


def check_since(tx: Transaction, query: object, company: Company | None) -> None:
    """Raise Problem (422) if the list asks for changes since a time in the future.

    Otherwise a client that keeps a copy of the list would miss all changes until that time. A time up to the
    company's last change is always allowed, even if the clock was set back after that change.
    """
    if not isinstance(query, Query) or not (sent := query.model_fields_set & Query.SINCE):
        return
    latest = tx.timestamp if company is None else max(tx.timestamp, last_moment(tx))
    errors = {
        name: [f"is in the future: the server's clock says {tx.timestamp}"]
        for name in sent
        if query.moment_of(name) > latest
    }
    if errors:
        raise invalid(errors)
