"""One-time links that let a user in, for example to become the first admin. Only the hash of a link's code is
stored.
"""

import asyncio
import hmac
from datetime import timedelta
from functools import partial
from typing import Final

from wmsd.base import timestamps
from wmsd.base.dataclass import dataclass
from wmsd.base.problems import Problem, refuse_errors
from wmsd.contract.context import Actor, FromBrowser
from wmsd.contract.operation import operation
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import sessions, store
from wmsd.tenants.accounts.actions import SignInService, create_user
from wmsd.tenants.accounts.password_strength import chosen_password_errors
from wmsd.tenants.accounts.schema import BegunSession, FirstAdmin, LinkQuery, NewUser, SetupNeeded
from wmsd.tenants.companies.schema import Message
from wmsd.tenants.keys import key_store
from wmsd.tenants.keys.bearers import secret_hash


@dataclass(frozen=True, slots=True)
class OneTimeLink:
    """A one-time link. The hash of its code is stored in the table of secrets under `name`."""

    name: str
    lifetime: timedelta

    def offer(self, tx: Transaction) -> str:
        """Create a new code for the link, and return it. The code replaces any earlier code."""
        code = tx.ids.secret()
        key_store.set_secret(tx, self.name, f"{timestamps.to_text(tx.now + self.lifetime)} {secret_hash(code)}")
        return code

    def is_offered(self, tx: Transaction) -> bool:
        """Return True if a code for the link was created and not used yet. It may have expired."""
        return key_store.secret(tx, self.name) is not None

    def fits(self, tx: Transaction, code: str) -> bool:
        """Return True if the code opens the link now."""
        until, _, digest = (key_store.secret(tx, self.name) or "").partition(" ")
        return tx.timestamp < until and hmac.compare_digest(digest, secret_hash(code))

    def check(self, tx: Transaction, code: str) -> None:
        """Raise Problem (404) if the code does not open the link now."""
        if not self.fits(tx, code):
            raise refused_link()

    def end(self, tx: Transaction) -> None:
        """End the link, so that it can no longer be used."""
        key_store.drop_secret(tx, self.name)


def refused_link() -> Problem:
    return Problem("NOT_FOUND", "This link was used already or is no longer valid.")


FIRST_ADMIN: Final = OneTimeLink("first-admin", timedelta(hours=24))
for_strangers = partial(operation, tag="Sessions", answer="object", scope="platform", signed_in=False)
letting_in = partial(for_strangers, returns=BegunSession, limit="sign-in", max_body=16 * 1024)


def offer_first_admin(tx: Transaction) -> str | None:
    """Create a new code for the link with which a user becomes the first admin, and return it. The code replaces
    any earlier code. Return None if there is already an admin.
    """
    if store.has_admin(tx):
        FIRST_ADMIN.end(tx)
        return None
    return FIRST_ADMIN.offer(tx)


@for_strangers(returns=Message, limit="open")
def look_for_first_admin(tx: Transaction, query: LinkQuery) -> dict[str, object]:
    """Check a link with which a person can become the first admin."""
    _check_first_admin(tx, query.code)
    return {"message": "This installation has no admin yet."}


@for_strangers(returns=SetupNeeded, limit="open")
def is_first_admin_wanted(tx: Transaction) -> dict[str, object]:
    """Tell whether the first admin is missing."""
    return {"wanted": FIRST_ADMIN.is_offered(tx) and not store.has_admin(tx)}


def _check_first_admin(tx: Transaction, code: str) -> None:
    """Raise Problem (404) if the code of the link is used, expired or wrong, or if there is already an admin."""
    if store.has_admin(tx):
        raise Problem("NOT_FOUND", "This installation has an admin already.")
    FIRST_ADMIN.check(tx, code)


@letting_in()
async def make_first_admin(service: SignInService, body: FirstAdmin, call: FromBrowser) -> dict[str, object]:
    """Become the first admin, and sign in."""
    await service.platform.read(lambda tx: _check_first_admin(tx, body.code))
    refuse_errors(
        await asyncio.to_thread(chosen_password_errors, body.password, body.again, body.email, body.name)
    )
    password_hash = await service.passwords.hash(body.password)
    new = NewUser(email=body.email, name=body.name, role="platform-admin")

    def make(tx: Transaction) -> str:
        _check_first_admin(tx, body.code)  # another person may have used the link first
        user_id = create_user(tx, new, password_hash)
        FIRST_ADMIN.end(tx)
        return sessions.sign_in(tx, user_id, body.email, call)

    return {"secret": await service.platform.write(make, Actor(body.email, address=call.address))}
