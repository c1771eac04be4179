"""Idempotency-Key: stores the answer of a writing request, and returns it when the client repeats the request.

Decisions, section 8. The answer is stored in the same transaction as the change. So after a crash, either both are
in the file or neither. The writer runs units of work one by one. Therefore a repetition that arrives during the
first request finds the stored answer.

A flow is an operation that waits for something outside the database before its last unit of work. Until this unit
ends, the flow locks its key, so that a repetition waits too.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from wmsd.base import timestamps
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem, invalid
from wmsd.base.strict_json import canonical, dumps
from wmsd.contract.context import Actor
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql import epochs, retention
from wmsd.dispatch.call import Call, Reply

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"
CUT: Final = "X-History-Cut"
METHODS: Final = frozenset({"POST", "PUT", "PATCH"})
KEPT: Final = timedelta(days=7)
Unit = Callable[[Transaction], Reply]
VISIBLE: Final = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Key:
    scope: str
    request_hash: bytes


def read(text: str) -> str:
    """Return the key in the text of the header, which may have quotes. Raise Problem (422) if the key is
    malformed.
    """
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    if not VISIBLE.fullmatch(text):
        raise invalid({HEADER: ["must be 1 to 255 visible characters"]})
    return text


def has_key(call: Call) -> bool:
    """Return True if the request has a key, and its method is one for which keys are used."""
    return call.idempotency_key is not None and call.method in METHODS


def key_of(call: Call, who: int | str | None, document: dict[str, object]) -> Key:
    """Return the key of a request. `who` is the sender: a user's id, or a text such as `site:3`. `document` is the
    body.

    Raise Problem (422) if the key is malformed.
    """
    text = read(call.idempotency_key or "")
    request_hash = hashlib.blake2b(canonical(document), digest_size=16).digest()
    return Key(f"{who} {call.method} {call.target} {text}{call.key_suffix}", request_hash)


FIND: Final = "SELECT request_hash, status, headers, body FROM idempotency_keys WHERE scope = ?"


def find(tx: Transaction, key: Key) -> Reply | None:
    """Return the stored answer, or None. An answer is valid as long as it is stored. The age of the answer is not
    checked, because the clock may jump.

    Raise Problem (422) if the key was used with another body. The details of the Problem have the id of the record
    in the stored answer.
    """
    found = tx.row(FIND, (key.scope,))
    if found is None:
        return None
    request_hash, status, headers, body = found
    if request_hash != key.request_hash:
        raise Problem(
            "IDEMPOTENCY_KEY_REUSED",
            "This Idempotency-Key was used before with another body.",
            errors={HEADER: ["was used before with another body; send a new key with a new request"]},
            details=_answered(body),
        )
    return Reply(status, body, {**json.loads(headers), REPLAYED: "true"})


def _answered(body: bytes) -> dict[str, object] | None:
    """Return details for a Problem: the id of the record in a stored answer. Return None if the answer has no such
    id.
    """
    record = json.loads(body) if body else None
    return {"id": record["id"]} if isinstance(record, dict) and "id" in record else None


KEEP: Final = """
    INSERT OR REPLACE INTO idempotency_keys (scope, request_hash, status, headers, body, created_at)
    VALUES (?, ?, ?, ?, ?, ?)
"""


def keep(tx: Transaction, key: Key, reply: Reply) -> None:
    headers = dumps(reply.headers)
    tx.execute(KEEP, (key.scope, key.request_hash, reply.status, headers, reply.body, tx.timestamp))


def once(tx: Transaction, key: Key | None, unit: Unit) -> Reply:
    """Return the stored answer if the request is a repetition. Otherwise run `unit`, and store its answer in the
    same transaction.
    """
    if key is None:
        return unit(tx)
    reply = find(tx, key)
    if reply is None:
        reply = unit(tx)
        keep(tx, key, reply)
    return with_cut(tx, reply)


def with_cut(tx: Transaction, reply: Reply) -> Reply:
    """Return the answer. If it has created a record, and the company's history was cut recently, add the header
    X-History-Cut.

    The header has the time up to which the history was kept. Keys that were used after that time are lost. If a
    client repeats a request with such a key, wmsd may create the record again (decisions, section 11).
    """
    if reply.status != 201:
        return reply
    epoch = epochs.current(tx)
    if epoch.began_at is None or timestamps.from_text(epoch.began_at) < tx.now - KEPT:
        return reply
    return Reply(reply.status, reply.body, {**reply.headers, CUT: epoch.kept_up_to or epoch.began_at})


class Claims:
    """The idempotency keys of running flows. A flow is an operation that waits for something outside the database.

    The keys are in memory, because only one server uses the files. A flow stores its change and its answer only at
    its end. So after a crash, a repetition starts from the beginning.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[Path, str], asyncio.Lock] = WeakValueDictionary()
        """The lock of each key. A lock is removed when no flow holds it or waits for it."""

    async def once(
        self, database: Database, key: Key | None, flow: Callable[[], Awaitable[Unit]], actor: Actor
    ) -> Reply:
        """Return the stored answer to the key. If there is no stored answer, await `flow`, and run the unit of
        work that it returns.

        Repetitions of the request wait for the answer.
        """
        if key is None:
            return await database.write(await flow(), actor)
        async with self._locks.setdefault((database.path, key.scope), asyncio.Lock()):
            kept = await database.read(lambda tx: find(tx, key))
            if kept is not None:
                return await database.read(lambda tx: with_cut(tx, kept))
            unit = await flow()
            return await database.write(lambda tx: once(tx, key, unit), actor)


def forget_old(tx: Transaction) -> int:
    """Delete expired keys, a limited number per call. Return how many were deleted."""
    return retention.forget_old(tx, "idempotency_keys", "id", "created_at", KEPT)
