"""Changes the rights of a user. Existing sessions and tokens never get new rights.

Another person may have a session, a token or the password of a user. For example, the admin who created the user
may have chosen a password at the link before the user did. Therefore sessions and tokens keep their reach
(`reach.py`) when their user gets new rights.

The password sometimes keeps its reach too. An admin has created the link at which the password was chosen. If the
user gets rights in a company which this admin does not administer, the new rights wait. They wait until the user
signs in through a provider, or chooses another password at a new link. The new link must come from an admin who
may give all these rights.

If a user loses a right, all credentials of the user lose it immediately.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from wmsd.base.strict_json import dumps
from wmsd.contract.access import Role
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import invitations, store
from wmsd.tenants.accounts.reach import (
    Companies,
    LinkCreator,
    Reach,
    both_abilities,
    both_companies,
    companies_from_text,
    companies_to_text,
    covers,
)
from wmsd.tenants.accounts.rules import User

BOUND_PASSWORD: Final = """
    UPDATE users
    SET password_reach = :reach, waiting_since = iif(:reach IS NULL, NULL, coalesce(waiting_since, :now))
    WHERE id = :id AND password_reach IS NOT :reach
"""
TOKENS: Final = "SELECT id, abilities, company_ids FROM tokens WHERE user_id = ? AND revoked_at IS NULL"


def set_rights(
    tx: Transaction, before: User, role: Role, abilities: Sequence[str], company_ids: Iterable[int]
) -> None:
    """Give a user the rights `role`, `abilities` and `company_ids`. `before` is the user with the previous rights.

    An open link ends if the role or the companies change. It also ends if its creator may not give the new rights,
    because the creator may still know the link.
    """
    store.set_rights(tx, before.id, role, abilities, company_ids)
    after = store.known_user(tx, before.id)
    grown = after.reach.grown_since(before.reach)
    link = _creator_companies(tx, invitations.creator_of_link(tx, before.id))
    if (role, after.company_ids) != (before.role, before.company_ids) or not covers(link, grown):
        invitations.end(tx, before.id)
    if not after.reach.is_within(before.reach):
        _keep_tokens(tx, before)
        _bound_sessions(tx, after, before.reach)
    else:
        _bound_sessions(tx, after, None)
    opens_more = covers(_creator_companies(tx, before.password_link_creator), grown) or not before.password_hash
    _bound_password(tx, after, None if opens_more else before.reach)


def shrink(tx: Transaction, user_id: int) -> None:
    """Remove from the user's sessions and password all rights that the user no longer has. Rights that waited in
    lost companies end too.

    Call this function after the user has lost companies. `set_rights` does the same itself.
    """
    user = store.known_user(tx, user_id)
    _bound_sessions(tx, user, None)
    _bound_password(tx, user, None)


def _creator_companies(tx: Transaction, link_creator: LinkCreator) -> Companies:
    """Return the companies that the creator of a link administered when the link was created, and still
    administers.

    If no admin is stored as the creator, return all companies that are stored with the link.
    """
    if link_creator.user_id is None:
        return link_creator.companies
    maker = store.user_by_id(tx, link_creator.user_id)
    if maker is None or maker.disabled or maker.role == "member":
        return frozenset()
    return both_companies(link_creator.companies, maker.may_use)


def _keep_tokens(tx: Transaction, before: User) -> None:
    for id, names, ids in tx.rows(TOKENS, (before.id,)):
        abilities = dumps(both_abilities(json.loads(names), before.reach.abilities))
        companies = companies_to_text(both_companies(companies_from_text(ids), before.may_use))
        if (abilities, companies) != (names, ids):
            tx.execute("UPDATE tokens SET abilities = ?, company_ids = ? WHERE id = ?", (abilities, companies, id))


def _bound_sessions(tx: Transaction, after: User, to: Reach | None) -> None:
    for id, text in tx.rows("SELECT id, reach FROM sessions WHERE user_id = ?", (after.id,)):
        bound = _bound(Reach.from_json(text), to, after)
        tx.execute("UPDATE sessions SET reach = ? WHERE id = ? AND reach IS NOT ?", (bound, id, bound))


def _bound_password(tx: Transaction, after: User, to: Reach | None) -> None:
    is_covered_by_creator = covers(_creator_companies(tx, after.password_link_creator), after.may_use)
    bound = None if is_covered_by_creator else _bound(after.password_reach, to, after)
    tx.execute(BOUND_PASSWORD, {"reach": bound, "id": after.id, "now": tx.timestamp})


def _bound(had: Reach | None, to: Reach | None, after: User) -> str | None:
    """Return the new limit of a credential's rights as JSON. Return None if the credential has all rights of its
    user.

    `had` is the previous limit. If it is None, use the limit `to`. `after` is the user with the present rights.
    The new limit never contains more than these rights.
    """
    opened = had or to
    bound = None if opened is None else opened.both(after.reach)
    return None if bound is None or bound == after.reach else bound.to_json()
