"""What a request asks for beforehand.

ETag, If-Match and If-None-Match (RFC 9110, sections 8.8.3, 13.1.1 and 13.1.2): changes a record only as its reader
saw it, and sends nothing that its reader has. A list since a moment: the moment must have come.
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
"""What the ETag of a compressed answer ends with: its bytes are others (section 8.8.3.3)."""
TAG: Final = re.compile(r'(?:W/)?"?([0-9a-f]+)(?:[-;](?:gzip|br|zstd|deflate))?"?')
"""An ETag of ours, also as a proxy or a client passes it on: nginx makes it weak where it compresses an answer,
Apache adds how, and some clients leave the quotation marks out. Each still names the one state of the record.
"""
CHANGED: Final = "The record has changed since it was read. Read it again and repeat the change."
UNKNOWN: Final = "If-Match has no ETag of this server. Send the ETag that came with the record."


def etag(text: str) -> str:
    """A strong validator of the record's bytes."""
    return etag_of(text.encode())


def etag_of(body: bytes) -> str:
    return f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'


def weak_etag(text: str) -> str:
    """A weak validator of a list. Nothing is changed by it, so its hash need not withstand whoever makes up a list
    to have the tag of another; that makes it fifty times as fast.
    """
    return f'W/"{xxh3_128_hexdigest(text.encode())}"'


def compressed_etag(tag: str) -> str:
    """A weak one stays: its bytes may differ anyway."""
    return tag if tag.startswith("W/") else f'{tag.removesuffix(chr(34))}{COMPRESSED}"'


def _digests(header: str) -> list[str]:
    """What tells one state from another in each ETag of ours in a header."""
    return [found[1] for tag in header.split(",") if (found := TAG.fullmatch(tag.strip()))]


def unchanged(if_none_match: str | None, reply: Reply) -> Reply | None:
    """304 when whoever reads has the answer already, with the ETag that it has; None otherwise. For reading, weak
    validators do (section 8.8.3.2).
    """
    if if_none_match is None or reply.status != 200 or "ETag" not in reply.headers:
        return None
    own = reply.headers["ETag"]
    if compressed_etag(own) in if_none_match:
        return Reply(304, b"", {**reply.headers, "ETag": compressed_etag(own)})
    is_known = if_none_match.strip() == "*" or _digests(own)[0] in _digests(if_none_match)
    return Reply(304, b"", reply.headers) if is_known else None


def check(tx: Transaction, call: Call, inputs: Mapping[str, Any]) -> None:
    """Raises Problem: 412 when the record's ETag is none of those in If-Match, 404 when there is no such record.

    The record is found by the path and, for a site's operation, by the site.
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
    """Raises Problem (422) for a list since a moment in the future: whoever keeps a copy would miss what happens
    until then. The last change of a company may be ahead of the clock.
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
