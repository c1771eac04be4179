"""Sign-ons that are under way, from the button until the provider sends the browser back.

What belongs to one is kept by its browser, in a cookie that only this process can seal and read: an attacker who
begins very many takes no memory. Each comes back once, within ten minutes, to the browser that began it. A restart
ends all of them.
"""

import base64
import hashlib
import hmac
import json
import math
from collections import OrderedDict
from dataclasses import asdict
from typing import Final

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.base.ids import Ids
from wmsd.base.strict_json import dumps
from wmsd.base.vault import Vault

SECONDS: Final = 600
MOST_USED: Final = 10_000
"""Of those that came back, so many are remembered. A provider takes no code twice either."""


@dataclass(frozen=True, slots=True)
class SignOn:
    """`state`, `nonce` and `verifier` (of PKCE, RFC 7636) nobody can guess. `back_to` is where the provider sends
    the browser, `next_path` where the person wanted to go, `session_id` the session that the browser had, of
    which user.
    """

    provider: str
    state: str
    nonce: str
    verifier: str
    back_to: str
    next_path: str
    session_id: int | None
    user_id: int | None
    until: int
    """By the monotonic clock, in seconds."""
    stays: bool = False
    """Whether the browser is to keep the session when somebody closes it."""

    @property
    def challenge(self) -> str:
        """Of PKCE, by the method S256."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


class UnderWay:
    def __init__(self, clock: Clock, ids: Ids) -> None:
        self._clock = clock
        self._ids = ids
        self._vault = Vault(ids.secret())
        self._used: OrderedDict[str, int] = OrderedDict()
        """States that came back, and until when they are remembered."""

    def begin(
        self,
        provider: str,
        back_to: str,
        next_path: str,
        session_id: int | None,
        user_id: int | None,
        stays: bool = False,
    ) -> tuple[SignOn, str]:
        """A new one, and what its browser keeps."""
        state, nonce = self._ids.secret(), self._ids.secret()
        verifier = self._ids.secret() + self._ids.secret()  # 43 characters at least
        until = math.ceil(self._clock.monotonic()) + SECONDS
        begun = SignOn(provider, state, nonce, verifier, back_to, next_path, session_id, user_id, until, stays)
        return begun, self._vault.seal(dumps(asdict(begun)))

    def end(self, kept: str, provider: str, state: str) -> SignOn | None:
        """The one that comes back, the first time. None for any other."""
        text = self._vault.unseal(kept) if kept.isascii() else None
        if text is None:
            return None
        begun = SignOn(**json.loads(text))
        now = self._clock.monotonic()
        is_this = hmac.compare_digest(begun.state.encode(), state.encode()) and begun.provider == provider
        if not is_this or now >= begun.until or begun.state in self._used:
            return None
        self._note(begun, now)
        return begun

    def _note(self, begun: SignOn, now: float) -> None:
        self._used[begun.state] = begun.until
        while self._used and (len(self._used) > MOST_USED or next(iter(self._used.values())) <= now):
            self._used.popitem(last=False)
