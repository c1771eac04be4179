"""The companies and people that cause most load now, by name."""

import json
from collections.abc import Mapping
from typing import Final

from wmsd.dispatch.limits.costs import REMEMBERED_SECONDS, Payer
from wmsd.installation.open_installation import Installation
from wmsd.server.figures.schema import CostFigures, PayerFigures
from wmsd.server.health import read_platform

MOST_NAMED: Final = 10
"""How many companies, and how many people, are named at most."""
EMAILS: Final = "SELECT id, email FROM users WHERE id IN (SELECT value FROM json_each(?))"


async def costs_now(installation: Installation) -> CostFigures:
    known = await installation.access.companies()
    asked = json.dumps([int(name) for name, _ in installation.dispatcher.costs.most("person", MOST_NAMED)])
    emails = await read_platform(installation, lambda tx: [*tx.rows(EMAILS, (asked,))])
    codes = {company.id: company.code for company in known.values()}
    people = _of(installation, "person", dict(emails or []))
    return CostFigures(companies=_of(installation, "company", codes), people=people)


def _of(installation: Installation, kind: Payer, names: Mapping[int, str]) -> list[PayerFigures]:
    """Return the highest costs of companies or people, as `kind` says. Leave out each company or person whose id
    is not in `names`, because it no longer exists.
    """
    return [
        PayerFigures(
            name=names[int(id)],
            id=int(id),
            lately=round(cost.lately / REMEMBERED_SECONDS, 4),
            seconds=round(cost.seconds, 3),
            requests=cost.requests,
            refused=cost.refused,
            sent_bytes=cost.sent,
        )
        for id, cost in installation.dispatcher.costs.most(kind, MOST_NAMED)
        if int(id) in names
    ]
