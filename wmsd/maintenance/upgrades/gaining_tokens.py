"""Tokens that gain abilities in an upgrade: tokens with `*`, which includes every new ability."""

from typing import Final

from wmsd.contract.access import ABILITIES, ABILITIES_SINCE, EVERYTHING
from wmsd.db.engine.transaction import Transaction
from wmsd.maintenance.upgrades.check_release import version_parts
from wmsd.tenants.accounts.rules import caller_of
from wmsd.tenants.accounts.token_store import list_tokens, token_and_user
from wmsd.tenants.companies import store as companies

MOST_LISTED: Final = 100
"""How many tokens are listed. `wmsd token list` shows all of them."""


def new_abilities(from_version: str) -> list[str]:
    """Return the abilities that were added after `from_version`."""
    before = version_parts(from_version)
    return [
        name for name in ABILITIES if name in ABILITIES_SINCE and before < version_parts(ABILITIES_SINCE[name])
    ]


def gaining_tokens(tx: Transaction, from_version: str) -> list[str]:
    """Return lines of text about the tokens with `*` that gain an ability: a sentence, and a line for each token.
    Return an empty list if no token gains an ability.
    """
    new = new_abilities(from_version)
    codes = companies.codes(tx) if new else {}
    lines = []
    for row in list_tokens(tx) if new else ():
        found = token_and_user(tx, id=row["id"]) if EVERYTHING in row["abilities"] else None
        caller = None if found is None else caller_of(*found, tx.now)
        if caller is None or caller.abilities.isdisjoint(new):
            continue
        within = None if caller.company_ids is None else sorted(codes.get(each, "") for each in caller.company_ids)
        where = "every company" if within is None else ", ".join(filter(None, within)) or "no company"
        lines.append(f"  {where}: {row['name']}, of {row['user']}")
    if not lines:
        return []
    sentences = sorted(lines)[:MOST_LISTED]
    rest = [f"  and {len(lines) - MOST_LISTED} more: see `wmsd token list`"] if len(lines) > MOST_LISTED else []
    return [f"These tokens have `*`, so they gain {', '.join(new)}:", *sentences, *rest]
