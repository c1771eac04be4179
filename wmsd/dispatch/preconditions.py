"""ETag, If-Match and If-None-Match (RFC 9110, sections 8.8.3, 13.1.1 and 13.1.2): changes a record only as its
reader saw it, and sends nothing that its reader has.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from xxhash import xxh3_128_hexdigest

from wmsd.base.problems import Problem
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.call import Call, Reply

COMPRESSED: Final = "-gzip"
"""What the ETag of a compressed answer ends with: its bytes are others (section 8.8.3.3)."""


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


def _tags(header: str) -> list[str]:
    """The ETags in a header, each as if it had come without compression."""
    return [tag.strip().replace(f'{COMPRESSED}"', '"') for tag in header.split(",")]


def unchanged(if_none_match: str | None, reply: Reply) -> Reply | None:
    """304 when whoever reads has the answer already, with the ETag that it has; None otherwise. For reading, weak
    validators do (section 8.8.3.2).
    """
    if if_none_match is None or reply.status != 200 or "ETag" not in reply.headers:
        return None
    own = reply.headers["ETag"]
    for tag in (own, compressed_etag(own)):
        if tag.removeprefix("W/") in [each.strip().removeprefix("W/") for each in if_none_match.split(",")]:
            return Reply(304, b"", {**reply.headers, "ETag": tag})
    return Reply(304, b"", reply.headers) if if_none_match.strip() == "*" else None


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
    wanted = _tags(call.if_match)
    if current not in wanted and wanted != ["*"]:
        raise Problem(
            "PRECONDITION_FAILED",
            "The record has changed since it was read. Read it again and repeat the change.",
            headers={"ETag": current},
        )
