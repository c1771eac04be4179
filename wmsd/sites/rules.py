"""A site's bearer, and whose one is. Pure (decisions, section 4)."""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from wmsd.base.context import Actor, Caller, TransportSite

PREFIX: Final = "wmsds_"
KEPT: Final = timedelta(hours=24)
"""How long a token is good beside the one that replaced it."""


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a token: its SHA-256, whose it is, and when it ends, if it does."""

    token_hash: bytes
    site: TransportSite
    expires_at: datetime | None = None


def hash_of(token: str) -> bytes:
    """256 random bits need no salt, and no slow hash."""
    return hashlib.sha256(token.encode(errors="surrogateescape")).digest()


def caller_of(keys: Iterable[Key], token: str, now: datetime) -> Caller | None:
    """Who the token is; None when it is none of these. Every key is compared, so time tells nothing."""
    token_hash = hash_of(token)
    found = [key for key in keys if hmac.compare_digest(key.token_hash, token_hash)]
    for key in found:
        if key.expires_at is None or now < key.expires_at:
            site = key.site
            return Caller(Actor(f"site {site.name}"), frozenset(), frozenset({site.company_id}), site=site)
    return None
