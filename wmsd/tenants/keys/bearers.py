"""Secrets that let in anyone who has them: links, sessions and bearer tokens. wmsd stores only their hashes.

The platform and the sites have bearer tokens. If such a token is replaced, it is still accepted for another day.
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
        bool,
        Field(
            description="Refuse the previous token from now on, for example because it leaked. "
            "Otherwise it works for another day."
        ),
    ] = False


def secret_hash(secret: str) -> str:
    """Return the SHA-256 of a secret, in hexadecimal. The secrets have 256 random bits, so they need neither a
    salt nor a slow hash function.
    """
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Bearer(Generic[Owner]):
    """A stored token, in the form in which it is kept in memory."""

    hash: str
    owner: Owner
    expires_at: datetime | None = None


def bearer_of(hash_: str, expires_at: str | None, owner: Owner) -> Bearer[Owner]:
    """Create a `Bearer` from the values of a database row."""
    return Bearer(hash_, owner, None if expires_at is None else timestamps.from_text(expires_at))


def owner_of(token: str, known: Iterable[Bearer[Owner]], now: datetime) -> Owner | None:
    """Return the owner of the token, or None if the token is unknown or expired.

    The token is compared with every token in `known`, in constant time. So the response time does not show whether
    a token matches.
    """
    digest = secret_hash(token)
    same = [each for each in known if hmac.compare_digest(each.hash, digest)]
    return next((each.owner for each in same if each.expires_at is None or now < each.expires_at), None)


def end_of_replaced(tx: Transaction) -> str:
    """Return the time until which the old token is still accepted, if a token is replaced now."""
    return timestamps.to_text(tx.now + GRACE)


def note_uses(tx: Transaction, table: str, uses: Iterable[Mapping[str, object]]) -> None:
    """Store the time and the client address of the last use of tokens. Each item of `uses` has the token's `id` in
    the table `table`, the time (`at`) and the client address (`address`).
    """
    tx.executemany(NOTE_USE.format(table), uses)
