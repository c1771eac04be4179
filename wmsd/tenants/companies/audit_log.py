"""The audit as the command line reads it."""

import json
from typing import Any, Final

from wmsd.db.engine.transaction import Transaction

FIND: Final = """
    SELECT id, at, actor, address, action, subject, details FROM audit
    WHERE (:who IS NULL OR instr(lower(actor), lower(:who)))
        AND (:what IS NULL OR substr(action, 1, length(:what)) = :what)
        AND (:subject IS NULL OR subject = :subject OR substr(subject, 1, length(:subject) + 1) = :subject || ' ')
        AND (:since IS NULL OR at >= :since) AND (:until IS NULL OR at < :until)
        AND id > :after
    ORDER BY id DESC LIMIT :limit
"""
"""A site's and a webhook's subject begins with the code of its company."""


def entries(tx: Transaction, **filters: str | int | None) -> list[dict[str, Any]]:
    """The last entries that fit, the oldest of them first. A filter that is None lets all through."""
    rows = tx.records(FIND, {"after": 0, **filters})
    return [{**row, "details": json.loads(row["details"]) if row["details"] else None} for row in reversed(rows)]
