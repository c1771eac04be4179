"""ETag and If-Match (RFC 9110, sections 8.8.3 and 13.1.1): changes a record only as its reader saw it."""

import hashlib
from collections.abc import Mapping
from typing import Any

from wmsd.app.call import Call
from wmsd.base.problems import Problem
from wmsd.db.transaction import Transaction


def etag(text: str) -> str:
    """A strong validator of the record's bytes."""
    return f'"{hashlib.blake2b(text.encode(), digest_size=12).hexdigest()}"'


def check(tx: Transaction, call: Call, inputs: Mapping[str, Any]) -> None:
    """Raises Problem: 412 when the record's ETag is none of those in If-Match, 404 when there is no such record.

    The record is found by the path and, for a site's operation, by the site.
    """
    precondition = call.operation.precondition
    if call.if_match is None or precondition is None:
        return
    by = {name: inputs[name] for name in (*call.operation.path_types, "site") if name in inputs}
    current = etag(precondition(tx, **by).json)
    wanted = [tag.strip() for tag in call.if_match.split(",")]
    if current not in wanted and wanted != ["*"]:
        raise Problem(
            "PRECONDITION_FAILED",
            "The record has changed since it was read. Read it again and repeat the change.",
            headers={"ETag": current},
        )
