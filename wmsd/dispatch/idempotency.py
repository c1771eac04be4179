"""Idempotency-Key: keeps the answer of a writing request and gives it again to repetitions.

Decisions, section 8. The answer is kept in the transaction of the change, so a crash keeps both or neither. The
writer runs one unit of work after the other, so a concurrent repetition finds the answer of the first request. A
flow waits before its last unit of work; until then it claims its key, so that a repetition waits too.
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
    """The key in the header, with or without quotes. Raises Problem (422)."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    if not VISIBLE.fullmatch(text):
        raise invalid({HEADER: ["must be 1 to 255 visible characters"]})
    return text


def has_key(call: Call) -> bool:
    """Whether the request has a key and a method that keys apply to."""
    return call.idempotency_key is not None and call.method in METHODS


def key_of(call: Call, who: int | str | None, document: dict[str, object]) -> Key:
    """The key of a request that has one. `who` is the sender: a user's id, or a name that no user can have.

    Raises Problem (422).
    """
    text = read(call.idempotency_key or "")
    request_hash = hashlib.blake2b(canonical(document), digest_size=16).digest()
    return Key(f"{who} {call.method} {call.target} {text}{call.key_suffix}", request_hash)


FIND: Final = "SELECT request_hash, status, headers, body FROM idempotency_keys WHERE scope = ?"


def find(tx: Transaction, key: Key) -> Reply | None:
    """The kept answer. Its age is not compared with the clock, which may jump.

    Raises Problem (422) when it answered another body: its details have the id of the record in that answer.
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
    """The id of the record in a kept answer, if it has one."""
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
    """Answers a repetition as before. Keeps a new answer in the transaction of its change."""
    if key is None:
        return unit(tx)
    reply = find(tx, key)
    if reply is None:
        reply = unit(tx)
        keep(tx, key, reply)
    return with_cut(tx, reply)


def with_cut(tx: Transaction, reply: Reply) -> Reply:
    """Says in the answer that created something until when the company's history was kept, if it was cut: a key
    that was used after that moment is not known any more (decisions, section 11).
    """
    if reply.status != 201:
        return reply
    epoch = epochs.current(tx)
    if epoch.began_at is None or timestamps.from_text(epoch.began_at) < tx.now - KEPT:
        return reply
    return Reply(reply.status, reply.body, {**reply.headers, CUT: epoch.kept_up_to or epoch.began_at})


class Claims:
    """The keys of flows that are under way.

    They are in memory, because a server has its files alone. A crash ends all flows before they have written
    anything or kept an answer, so a repetition begins anew.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[Path, str], asyncio.Lock] = WeakValueDictionary()
        """Each lock lives as long as somebody holds it or waits for it."""

    async def once(
        self, database: Database, key: Key | None, flow: Callable[[], Awaitable[Unit]], actor: Actor
    ) -> Reply:
        """As `once`, for a flow that returns its last unit of work. Repetitions wait for its answer."""
        if key is None:
            return await database.write(await flow(), actor)
        async with self._locks.setdefault((database.path, key.scope), asyncio.Lock()):
            kept = await database.read(lambda tx: find(tx, key))
            if kept is not None:
                return await database.read(lambda tx: with_cut(tx, kept))
            unit = await flow()
            return await database.write(lambda tx: once(tx, key, unit), actor)


def forget_old(tx: Transaction) -> int:
    """Deletes some of the keys that are too old. Returns how many."""
    return retention.forget_old(tx, "idempotency_keys", "id", "created_at", KEPT)
