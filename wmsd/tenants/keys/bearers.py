"""Secrets that let in whoever has them: links, sessions and bearer tokens. Only their hashes are kept.

A bearer token, of the platform or of a site, is accepted for another day after it was replaced.
"""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Final, Generic, TypeVar

from pydantic import Field

from wmsd.base import timestamps
from wmsd.base.dataclass import dataclass
from wmsd.contract.fields import Input
from wmsd.db.engine.transaction import Transaction

Owner = TypeVar("Owner")
GRACE: Final = timedelta(hours=24)
"""How long a replaced token is still accepted."""
NOTE_USE: Final = """
    UPDATE {} SET last_used_at = :at, last_used_from = :address
    WHERE id = :id AND coalesce(last_used_at, '') <= :at
"""


class Replacement(Input):
    at_once: Annotated[
        bool, Field(description="Refuse the one before from now on, as when it leaked. Else it works for a day.")
    ] = False


def secret_hash(secret: str) -> str:
    """The SHA-256 of a secret, in hexadecimal. 256 random bits need neither salt nor a slow hash."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Bearer(Generic[Owner]):
    """A stored token, as the process holds it in memory."""

    hash: str
    owner: Owner
    expires_at: datetime | None = None


def bearer_of(hash_: str, expires_at: str | None, owner: Owner) -> Bearer[Owner]:
    """The token of a row."""
    return Bearer(hash_, owner, None if expires_at is None else timestamps.from_text(expires_at))


def owner_of(token: str, known: Iterable[Bearer[Owner]], now: datetime) -> Owner | None:
    """Whose token it is; None for an unknown or expired one. It is compared with every known one, in constant
    time, so that the time tells nothing.
    """
    digest = secret_hash(token)
    same = [each for each in known if hmac.compare_digest(each.hash, digest)]
    return next((each.owner for each in same if each.expires_at is None or now < each.expires_at), None)


def end_of_replaced(tx: Transaction) -> str:
    """Until when a token is accepted that is replaced now."""
    return timestamps.to_text(tx.now + GRACE)


def note_uses(tx: Transaction, table: str, uses: Iterable[Mapping[str, object]]) -> None:
    """Each use has the token's `id` in this table, when it was (`at`), and its `address`."""
    tx.executemany(NOTE_USE.format(table), uses)
