"""The one-time link that opens the demo for whoever has started it, signed in as the demo's user."""

from datetime import timedelta
from typing import Final

from wmsd.contract.context import Actor, FromBrowser
from wmsd.contract.operation import operation
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import sessions, store
from wmsd.tenants.accounts.actions import SignInService, user_of_email
from wmsd.tenants.accounts.schema import BegunSession, LinkQuery, UsedLink
from wmsd.tenants.companies import store as companies
from wmsd.tenants.companies.schema import Message
from wmsd.tenants.one_time_links.store import OneTimeLink

CODE: Final = "DEMO"
"""Of the demo company."""
EMAIL: Final = "demo@example.com"
LINK: Final = OneTimeLink("demo", timedelta(hours=24))


@operation(tag="Sessions", answer="object", returns=Message, scope="platform", limit="open", signed_in=False)
def look_for_demo(tx: Transaction, query: LinkQuery) -> dict[str, object]:
    """Tell whether the link into the demo can be used."""
    LINK.check(tx, query.code)
    return {"message": "The demo is open to you."}


@operation(
    tag="Sessions",
    answer="object",
    returns=BegunSession,
    scope="platform",
    limit="sign-in",
    signed_in=False,
    max_body=16 * 1024,
)
async def open_demo(service: SignInService, body: UsedLink, call: FromBrowser) -> dict[str, object]:
    """Open the demo, signed in as its user."""

    def begin(tx: Transaction) -> str:
        LINK.check(tx, body.code)
        LINK.end(tx)
        user = user_of_email(tx, EMAIL)
        store.note_sign_in(tx, user.id, call.address)
        companies.write_audit(tx, "session.begin", user.email)
        return sessions.begin(tx, user.id, call.address, call.agent, None)

    return {"secret": await service.platform.write(begin, Actor(EMAIL, address=call.address))}
