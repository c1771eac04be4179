"""The use cases of the second factor: the second step of signing in, and switching the second factor on and
off.
"""

import math
from collections import OrderedDict
from dataclasses import replace
from typing import Final

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.base.ids import Ids
from wmsd.base.problems import Problem, invalid, or_not_found
from wmsd.base.vault import Vault
from wmsd.contract.context import Actor, Caller, FromAddress, FromBrowser
from wmsd.contract.operation import operation
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import second_factors, sessions, store, totp
from wmsd.tenants.accounts.failed_sign_ins import SECOND_FACTOR, FailedSignIns
from wmsd.tenants.accounts.passwords import too_soon
from wmsd.tenants.accounts.rules import User
from wmsd.tenants.accounts.schema import (
    BegunSession,
    Enrolment,
    OneCode,
    RecoveryCodes,
    RecoveryCodesLeft,
    SecondStep,
)
from wmsd.tenants.accounts.sign_in_pauses import Key, Pauses
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.schema import Message
from wmsd.tenants.keys.bearers import secret_hash

SECONDS: Final = 300
MOST_TRIES: Final = 5
MOST_PENDING: Final = 10_000
WRONG: Final = "The code is wrong, or was already used. Wait for the next code."
AGAIN: Final = "The sign-in took too long, or there were too many wrong codes. Start again with the password."
CHANGED: Final = "Your password or your access has changed. Sign in again."


@dataclass(frozen=True, slots=True)
class Pending:
    user: User
    """The user's data at the time of the password check."""
    until: float
    tries: int = MOST_TRIES


def check_unchanged(tx: Transaction, known: User) -> User:
    """Return the current data of the user `known`, whose password was correct.

    The password check takes time. Raise Problem (401) if the user was deleted or disabled in this time, or got
    another password.
    """
    user = store.user_by_id(tx, known.id)
    if user is None or user.disabled or user.password_hash != known.password_hash:
        raise Problem("UNAUTHORIZED", CHANGED)
    return user


class SecondStepService:
    """The second step of signing in.

    After a correct password, the service remembers the user for five minutes. It does not store the password.
    """

    def __init__(self, platform: Database, clock: Clock, ids: Ids, vault: Vault, failed: FailedSignIns) -> None:
        self.platform = platform
        self.failed = failed
        self.vault = vault
        self._clock = clock
        self._ids = ids
        self._pending: OrderedDict[str, Pending] = OrderedDict()
        """The sign-ins that wait for the second step. The key is the hash of the secret that the browser received.
        """
        self._pauses = Pauses()

    def begin(self, user: User) -> str:
        """Remember the user, and return a secret. The browser sends this secret with the second step."""
        secret = self._ids.secret()
        self._pending[secret_hash(secret)] = Pending(user, self._clock.monotonic() + SECONDS)
        if len(self._pending) > MOST_PENDING:
            self._pending.popitem(last=False)
        return secret

    def take_a_try(self, secret: str) -> User:
        """Use up one try of the sign-in with this secret, and return its user. Raise Problem (401) if the secret
        is unknown or expired, or if no try is left.
        """
        hash_ = secret_hash(secret)
        found = self._pending.pop(hash_, None)
        if found is None or self._clock.monotonic() >= found.until or not found.tries:
            raise Problem("UNAUTHORIZED", AGAIN)
        self._pending[hash_] = replace(found, tries=found.tries - 1)
        return found.user

    def end(self, secret: str) -> None:
        self._pending.pop(secret_hash(secret), None)

    async def sign_in(self, known: User, call: FromBrowser) -> dict[str, object]:
        """Begin a session for the user `known`, who has sent the correct credentials. Return the fields of a
        BegunSession. Raise the same Problem (401) as `check_unchanged`.
        """

        def begin(tx: Transaction) -> str:
            reach = check_unchanged(tx, known).password_reach
            return sessions.sign_in(tx, known.id, known.email, call, reach)

        actor = Actor(known.email, known.id, address=call.address)
        return {"secret": await self.platform.write(begin, actor, is_quiet=True), "pending": None}

    async def check(self, user: User, address: str, code: str) -> None:
        """Check a code. Raise Problem: 401 for a wrong code, 429 during the pause after too many wrong codes.

        Each code is counted as a failure before it is checked, so simultaneous requests cannot bypass the pause. A
        correct code deletes the counted failures.
        """
        keys: tuple[Key, ...] = ((user.email, address), (user.email, None))
        now = self._clock.monotonic()
        pause = max(self._pauses.left(key, now) for key in keys)
        if pause > 0:
            raise too_soon("Too many wrong codes.", math.ceil(pause))
        for key in keys:
            self._pauses.note_failure(key, now)
        if not await self.platform.write(
            lambda tx: second_factors.accepts(tx, user.id, self.vault, code), is_quiet=True
        ):
            self.failed.note(SECOND_FACTOR, user.email, address)
            raise Problem("UNAUTHORIZED", WRONG)
        for key in keys:
            self._pauses.forget(key)


@operation(
    tag="Sessions",
    answer="object",
    returns=BegunSession,
    scope="platform",
    limit="sign-in",
    signed_in=False,
    codes=("UNAUTHORIZED",),
    max_body=16 * 1024,
)
async def finish_session(service: SecondStepService, body: SecondStep, call: FromBrowser) -> dict[str, object]:
    """Sign in with the second factor, after the password."""
    user = service.take_a_try(body.pending)
    await service.platform.read(lambda tx: check_unchanged(tx, user))
    await service.check(user, call.address, body.code)
    service.end(body.pending)
    return await service.sign_in(user, call)


@operation(
    tag="Sessions", answer="object", returns=Enrolment, scope="platform", codes=("INVALID_STATUS",), enrols=True
)
async def begin_enrolment(service: SecondStepService, caller: Caller) -> dict[str, object]:
    """Get a new secret for an authenticator app.

    wmsd uses the secret only after you have confirmed it with a code of the app.
    """

    def begin(tx: Transaction) -> dict[str, object]:
        user = person_of(tx, caller)
        if second_factors.is_on(tx, user.id):
            raise Problem(
                "INVALID_STATUS", "You already have a second factor. Switch it off before you set up another one."
            )
        secret = second_factors.begin(tx, user.id, service.vault)
        return {"secret": secret, "uri": totp.uri(secret, user.email)}

    return await service.platform.write(begin, is_quiet=True)


@operation(
    tag="Sessions",
    answer="object",
    returns=RecoveryCodes,
    scope="platform",
    codes=("INVALID_STATUS",),
    enrols=True,
)
async def confirm_enrolment(
    service: SecondStepService, body: OneCode, caller: Caller, call: FromAddress
) -> dict[str, object]:
    """Switch the second factor on, with a code of the app.

    The recovery codes are shown only once.
    """

    def confirm(tx: Transaction) -> dict[str, object]:
        user = person_of(tx, caller)
        if second_factors.is_on(tx, user.id):
            raise Problem("INVALID_STATUS", "You already have a second factor.")
        if not second_factors.accepts(tx, user.id, service.vault, body.code, may_recover=False):
            raise invalid({"code": ["is not the current code of the app; check the clock of your device"]})
        companies.write_audit(tx, "second-factor.on", user.email)
        return {"recovery_codes": second_factors.switch_on(tx, user.id)}

    return await service.platform.write(confirm, replace(caller.actor, address=call.address))


@operation(tag="Sessions", answer="object", returns=Message, scope="platform", codes=("UNAUTHORIZED",))
async def end_second_factor(
    service: SecondStepService, body: OneCode, caller: Caller, call: FromAddress
) -> dict[str, object]:
    """Switch the second factor off, with one of its codes."""
    user = await service.platform.read(lambda tx: person_of(tx, caller))
    await service.check(user, call.address, body.code)
    actor = replace(caller.actor, address=call.address)
    await service.platform.write(lambda tx: remove_second_factor(tx, user.email), actor)
    return {"message": "The second factor is off."}


@operation(tag="Sessions", answer="object", returns=RecoveryCodesLeft, scope="platform")
def count_recovery_codes(tx: Transaction, caller: Caller) -> dict[str, object]:
    """Count your remaining recovery codes."""
    return {"left": second_factors.codes_left(tx, person_of(tx, caller).id), "of": second_factors.RECOVERY_CODES}


@operation(
    tag="Sessions",
    answer="object",
    returns=RecoveryCodes,
    scope="platform",
    codes=("INVALID_STATUS", "UNAUTHORIZED"),
)
async def renew_recovery_codes(
    service: SecondStepService, body: OneCode, caller: Caller, call: FromAddress
) -> dict[str, object]:
    """Create new recovery codes, with a code of the second factor.

    The new codes are shown only once. The previous recovery codes are no longer valid.
    """

    def check_is_on(tx: Transaction) -> User:
        user = person_of(tx, caller)
        if not second_factors.is_on(tx, user.id):
            raise Problem("INVALID_STATUS", "You have no second factor. Set one up to get recovery codes.")
        return user

    user = await service.platform.read(check_is_on)
    await service.check(user, call.address, body.code)

    def renew(tx: Transaction) -> dict[str, object]:
        check_is_on(tx)  # the second factor may have been switched off meanwhile
        left = {"recovery_codes": second_factors.codes_left(tx, user.id)}
        codes = second_factors.renew_codes(tx, user.id)
        now = {"recovery_codes": len(codes)}
        companies.write_audit(
            tx, "second-factor.recovery-codes", user.email, companies.field_differences(left, now)
        )
        return {"recovery_codes": codes}

    return await service.platform.write(renew, replace(caller.actor, address=call.address), is_quiet=True)


def remove_second_factor(tx: Transaction, email: str) -> bool:
    """Remove the second factor of the user with this e-mail address. An admin does this if the user has lost it.
    Return True if it was on. Raise Problem (404) if there is no such user.
    """
    user = or_not_found(store.user_by_email(tx, email), f"user as {email}")
    companies.write_audit(tx, "second-factor.off", user.email)
    return second_factors.remove(tx, user.id)


def person_of(tx: Transaction, caller: Caller) -> User:
    """Return the signed-in user. Raise Problem (401) if the user was deleted after the session was checked."""
    user = None if caller.actor.user_id is None else store.user_by_id(tx, caller.actor.user_id)
    if user is None:  # the user was deleted after the session was checked
        raise Problem("UNAUTHORIZED", "You are no longer signed in.")
    return user
