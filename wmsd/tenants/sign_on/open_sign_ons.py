"""Sign-ons that are in progress. A sign-on begins when the user clicks the button, and ends when the provider
sends the browser back.

The browser stores the data of its sign-on in an encrypted cookie, which only this process can read. Therefore an
attacker cannot fill the memory by beginning many sign-ons.

Each sign-on can be finished once, within ten minutes, in the browser that began it. A restart ends all sign-ons.
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
"""The maximum number of finished sign-ons that are remembered. A remembered sign-on cannot be finished again.
Providers also accept each code only once.
"""


@dataclass(frozen=True, slots=True)
class SignOn:
    """A sign-on that is in progress.

    `state`, `nonce` and `verifier` (of PKCE, RFC 7636) are random. `back_to` is the URL to which the provider
    sends the browser. `next_path` is the page that the user wanted to open. `session_id` and `user_id` are the
    session and the user that the browser had when the sign-on began, or None.
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
    """The time when the sign-on ends, in seconds of monotonic time."""
    stays: bool = False
    """Whether the browser should keep the session after it is closed."""

    @property
    def challenge(self) -> str:
        """The code challenge of PKCE, by the method S256."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


class OpenSignOn:
    def __init__(self, clock: Clock, ids: Ids) -> None:
        self._clock = clock
        self._ids = ids
        self._vault = Vault(ids.secret())
        self._used: OrderedDict[str, int] = OrderedDict()
        """The `state` of each finished sign-on, with the time until which it is remembered, in seconds of
        monotonic time.
        """

    def begin(
        self,
        provider: str,
        back_to: str,
        next_path: str,
        session_id: int | None,
        user_id: int | None,
        stays: bool = False,
    ) -> tuple[SignOn, str]:
        """Begin a sign-on. Return two values: the sign-on, and its data as an encrypted (sealed) text, which the
        browser stores.
        """
        state, nonce = self._ids.secret(), self._ids.secret()
        verifier = self._ids.secret() + self._ids.secret()  # at least 43 characters
        until = math.ceil(self._clock.monotonic()) + SECONDS
        begun = SignOn(provider, state, nonce, verifier, back_to, next_path, session_id, user_id, until, stays)
        return begun, self._vault.seal(dumps(asdict(begun)))

    def end(self, kept: str, provider: str, state: str) -> SignOn | None:
        """End the sign-on in the sealed text `kept`, and return it.

        Return None if the sign-on has expired or has already ended. Also return None if its provider is not
        `provider`, or its state is not `state`.
        """
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
