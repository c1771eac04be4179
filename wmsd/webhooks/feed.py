"""What a subscription is to be sent, as the sender has it in memory; what counts stands in the company's file."""

import json
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from wmsd.base.vault import Vault
from wmsd.webhooks.deliveries import Due, Target
from wmsd.webhooks.slots import PER_SUBSCRIPTION


@dataclass(frozen=True, slots=True)
class Opened:
    """A target with its credentials unsealed; they are None when this installation has not sealed them."""

    subscription_id: int
    url: str
    host: str
    auth_type: str
    credentials: dict[str, Any] | None
    previous_secret: str | None
    previous_secret_expires_at: str | None


@dataclass(slots=True)
class Feed:
    """`allowed` grows by one with each success, up to the bound, and falls to one with a failure."""

    company_id: int
    subscription_id: int
    target: Opened | None = None
    ready: deque[Due] = field(default_factory=deque)
    size: int = 0
    """Characters of the bodies that are ready."""
    reserved: int = 0
    """Characters that the load which is under way may add."""
    taken: set[int] = field(default_factory=set)
    """Deliveries that are ready, under way, or done and not written down yet."""
    in_flight: int = 0
    allowed: int = 1
    is_proven: bool = False
    is_told_to_fail: bool = False
    """Whether that is the last that the log was told of it."""
    silent_until: float = 0.0
    """By the monotonic clock: a receiver that fails now and then must not fill the log."""
    is_loading: bool = False
    is_runnable: bool = False
    may_have_more: bool = True
    _is_dropped: bool = False
    """Whether what is being loaded was read before it was dropped."""
    _sealed: Target | None = None
    _written: set[int] = field(default_factory=set)
    """Of the taken those that were written down while it was loading: what is read may still show them as due."""

    @property
    def can_send(self) -> bool:
        return bool(self.ready) and self.in_flight < self.allowed

    @property
    def is_at_rest(self) -> bool:
        """Whether there is nothing that it would be missed for."""
        return not (self.taken or self.in_flight or self.is_loading or self.is_runnable)

    @property
    def wants_more(self) -> bool:
        return self.may_have_more and not self.is_loading and len(self.ready) < self.allowed

    def take(self, target: Target, found: Iterable[Due], vault: Vault) -> None:
        """Of what was found due, that which it has not got yet."""
        if target != self._sealed:
            self.target, self._sealed = opened(target, vault), target
        new = [due for due in found if due.id not in self.taken and not self._is_dropped]
        self.ready.extend(new)
        self.size += sum(_size(due) for due in new)
        self.taken.update(due.id for due in new)

    def next(self) -> Due:
        """What is to be sent next; it is ready no longer."""
        due = self.ready.popleft()
        self.size -= _size(due)
        return due

    def drop(self) -> None:
        """What is not under way yet is not sent now; it stays due."""
        self.taken.difference_update(due.id for due in self.ready)
        self.ready.clear()
        self.size = 0
        self.may_have_more = False
        self._is_dropped = self.is_loading

    def written(self, delivery_ids: set[int]) -> None:
        """What came of them stands in the file."""
        if self.is_loading:
            self._written |= delivery_ids
        else:
            self.taken -= delivery_ids

    def loaded(self) -> None:
        """The load is over, whatever came of it."""
        self.is_loading = self._is_dropped = False
        self.reserved = 0
        self.taken -= self._written
        self._written.clear()

    def succeeded(self) -> None:
        self.is_proven = True
        self.allowed = min(self.allowed + 1, PER_SUBSCRIPTION)

    def failed(self) -> None:
        self.is_proven = False
        self.allowed = 1


def opened(target: Target, vault: Vault) -> Opened:
    text = vault.unseal(target.credentials)
    return Opened(
        subscription_id=target.subscription_id,
        url=target.url,
        host=urlsplit(target.url).netloc.lower(),
        auth_type=target.auth_type,
        credentials=None if text is None else json.loads(text),
        previous_secret=vault.unseal(target.previous_secret) if target.previous_secret else None,
        previous_secret_expires_at=target.previous_secret_expires_at,
    )


def _size(due: Due) -> int:
    return len(due.body or "")
