"""The users of the demo, and the links that let a visitor sign in as one of them. Demo users have no password."""

from datetime import timedelta
from typing import Final

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import invalid
from wmsd.contract.access import OFFICE, WAREHOUSE, AbilitySet
from wmsd.contract.context import Actor, FromBrowser
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import sessions
from wmsd.tenants.accounts.actions import SignInService, user_of_email
from wmsd.tenants.accounts.schema import DemoEntry, DemoPeople, LinkQuery
from wmsd.tenants.one_time_links.actions import OneTimeLink, for_strangers, letting_in, refused_link

DEMO_CODE: Final = "DEMO"
"""The code of the demo company."""
DEMO_EMAIL: Final = "demo@example.com"
LIFETIME: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class DemoPerson:
    """A user of the demo. `work` is the set of abilities, or None for the admin."""

    email: str
    name: str
    work: AbilitySet | None
    link: OneTimeLink


ADMIN: Final = DemoPerson(DEMO_EMAIL, "Ana", None, OneTimeLink("demo", LIFETIME))
OFFICE_WORKER: Final = DemoPerson("demo-office@example.com", "Mihai", OFFICE, OneTimeLink("demo-office", LIFETIME))
WAREHOUSE_WORKER: Final = DemoPerson(
    "demo-warehouse@example.com", "Ioana", WAREHOUSE, OneTimeLink("demo-warehouse", LIFETIME)
)
PEOPLE: Final = (ADMIN, OFFICE_WORKER, WAREHOUSE_WORKER)


@for_strangers(returns=DemoPeople, limit="open")
def look_for_demo(tx: Transaction, query: LinkQuery) -> dict[str, object]:
    """List the demo users that the link offers."""
    people = _people(_owner(tx, query.code))
    return {
        "data": [{"email": each.email, "name": each.name, "work": each.work and each.work.name} for each in people]
    }


@letting_in()
async def open_demo(service: SignInService, body: DemoEntry, call: FromBrowser) -> dict[str, object]:
    """Open the demo, signed in as one of its users.

    The default is the user to whom the link belongs.
    """

    def begin(tx: Transaction) -> str:
        owner = _owner(tx, body.code)
        people = {each.email: each for each in _people(owner)}
        if body.email not in (None, *people):
            raise invalid({"email": ["is not one of the users of this demo link"]})
        owner.link.end(tx)
        user = user_of_email(tx, body.email or owner.email)
        return sessions.sign_in(tx, user.id, user.email, call)

    return {"secret": await service.platform.write(begin, Actor(body.email or DEMO_EMAIL, address=call.address))}


def _owner(tx: Transaction, code: str) -> DemoPerson:
    """Return the demo user whose link has this code. Raise Problem (404) if no valid link has this code."""
    for each in PEOPLE:
        if each.link.fits(tx, code):
            return each
    raise refused_link()


def _people(owner: DemoPerson) -> tuple[DemoPerson, ...]:
    """Return the demo users that a visitor with the link of `owner` can choose. The admin's link offers all demo
    users. Any other link offers only its owner.
    """
    return PEOPLE if owner is ADMIN else (owner,)
