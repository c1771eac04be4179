"""Idempotency-Key: the answer of a writing request, kept in its own transaction and given again.

Decisions, section 8. Because answer and document are one transaction, a crash keeps both or neither; because the
writer takes one unit after the other, a concurrent duplicate meets the answer of the first. A flow waits for
something before its last unit of work: until then it claims its key, so that a duplicate waits too.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from wmsd.app.call import Call, Reply
from wmsd.base.context import Actor
from wmsd.base.problems import invalid
from wmsd.base.strict_json import canonical, dumps
from wmsd.db import retention
from wmsd.db.database import Database
from wmsd.db.transaction import Transaction

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotent-Replayed"
METHODS: Final = frozenset({"POST", "PUT", "PATCH"})
KEPT: Final = timedelta(days=7)
Unit = Callable[[Transaction], Reply]
VISIBLE: Final = re.compile(r"[\x21-\x7e]{1,255}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Key:
    scope: str
    request_hash: bytes


def read(text: str) -> str:
    """The key in the header, bare or quoted. Raises Problem (422)."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    if not VISIBLE.fullmatch(text):
        raise invalid({HEADER: ["must be 1 to 255 visible characters"]})
    return text


def has_key(call: Call) -> bool:
    """Whether the request has a key, and is of a kind that has one."""
    return call.idempotency_key is not None and call.method in METHODS


def key_of(call: Call, who: int | str | None, document: dict[str, object]) -> Key:
    """Of a request that has one. `who` sends it: a user by its id, or another caller by a name that no user has.

    Raises Problem (422).
    """
    text = read(call.idempotency_key or "")
    request_hash = hashlib.blake2b(canonical(document), digest_size=16).digest()
    return Key(f"{who} {call.method} {call.target} {text}{call.key_suffix}", request_hash)


FIND: Final = "SELECT request_hash, status, headers, body FROM idempotency_keys WHERE scope = ?"


def find(tx: Transaction, key: Key) -> Reply | None:
    """The answer that was given before, as long as it is kept: a clock that jumps makes no answer old.

    Raises Problem (422) when it was to another body.
    """
    found = tx.row(FIND, (key.scope,))
    if found is None:
        return None
    request_hash, status, headers, body = found
    if request_hash != key.request_hash:
        raise invalid({HEADER: ["was used before with another body; send a new key with a new request"]})
    return Reply(status, body, {**json.loads(headers), REPLAYED: "true"})


KEEP: Final = """
    INSERT OR REPLACE INTO idempotency_keys (scope, request_hash, status, headers, body, created_at)
    VALUES (?, ?, ?, ?, ?, ?)
"""


def keep(tx: Transaction, key: Key, reply: Reply) -> None:
    headers = dumps(reply.headers)
    tx.execute(KEEP, (key.scope, key.request_hash, reply.status, headers, reply.body, tx.timestamp))


def once(tx: Transaction, key: Key | None, unit: Unit) -> Reply:
    """A repetition is answered as before; a new answer is kept in the transaction that it tells of."""
    if key is None:
        return unit(tx)
    kept = find(tx, key)
    if kept is not None:
        return kept
    reply = unit(tx)
    keep(tx, key, reply)
    return reply


class Claims:
    """The keys of flows that are under way.

    They are in memory: a server has its files alone. A crash ends all of them, with neither what a flow would have
    written at its end nor its answer kept, so its repetition is done anew.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[Path, str], asyncio.Lock] = WeakValueDictionary()
        """As long as somebody holds them or waits for them."""

    async def once(
        self, database: Database, key: Key | None, flow: Callable[[], Awaitable[Unit]], actor: Actor
    ) -> Reply:
        """As `once`, of a flow, which hands back its last unit of work. Repetitions wait for its answer."""
        if key is None:
            return await database.write(await flow(), actor)
        async with self._locks.setdefault((database.path, key.scope), asyncio.Lock()):
            kept = await database.read(lambda tx: find(tx, key))
            if kept is not None:
                return kept
            unit = await flow()
            return await database.write(lambda tx: once(tx, key, unit), actor)


def forget_old(tx: Transaction) -> int:
    """Some of those that are older than is kept; answers how many."""
    return retention.forget_old(tx, "idempotency_keys", "id", "created_at", KEPT)
