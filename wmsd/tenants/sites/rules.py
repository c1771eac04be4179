"""Bearer tokens of sites: finds the site of a token. Pure (decisions, section 4)."""

import hashlib
import hmac
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.contract.context import Actor, Caller, TransportSite

PREFIX: Final = "wmsds_"
KEPT: Final = timedelta(hours=24)
"""How long a replaced token stays valid."""

NEEDED_MODULES: Final = ("api", "outbound")
"""Of its company: without them a site's bearer opens nothing."""


@dataclass(frozen=True, slots=True)
class Key:
    """A stored token: its SHA-256, its site, and when it expires, if it does."""

    token_hash: bytes
    site: TransportSite
    expires_at: datetime | None = None


def hash_of(token: str) -> bytes:
    """The SHA-256 of the token. 256 random bits need neither salt nor a slow hash."""
    return hashlib.sha256(token.encode(errors="surrogateescape")).digest()


def caller_of(keys: Iterable[Key], token: str, now: datetime) -> Caller | None:
    """The caller with this token; None for an unknown or expired one. Every key is compared, so that the time
    tells nothing.
    """
    token_hash = hash_of(token)
    found = [key for key in keys if hmac.compare_digest(key.token_hash, token_hash)]
    for key in found:
        if key.expires_at is None or now < key.expires_at:
            site = key.site
            return Caller(Actor(f"site {site.name}"), frozenset(), frozenset({site.company_id}), site=site)
    return None
