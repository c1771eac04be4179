"""Keeps the list of tasks after a restore up to date. The list names the webhooks whose credentials must be set
again.

The file of each company records which of its webhooks lack credentials. This module copies these records to the
list in `platform.db`.
"""

import logging
from functools import partial
from typing import Final

from wmsd.base.problems import Problem
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.base.strict_json import dumps
from wmsd.contract.context import Company
from wmsd.db.engine.database import Database
from wmsd.db.engine.failures import STORAGE_FAILURES
from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks import missing_credentials
from wmsd.events.webhooks.missing_credentials import MissingCredentials
from wmsd.installation.open_installation import Installation
from wmsd.tenants.recovery import store

LOG = logging.getLogger("wmsd.recovery")
BEGIN: Final = (
    "INSERT INTO recoveries (began_at, is_listed) SELECT ?, 1 WHERE NOT EXISTS (SELECT 1 FROM recoveries)"
)
ADD: Final = """
    INSERT INTO recovery_entries
        (recovery_id, kind, key, company_id, record_id, subject, name, host, found_at)
    SELECT (SELECT max(id) FROM recoveries), 'webhook', :company_id || '/' || :id, :company_id, :id, :code, :name,
        :host, :since
    WHERE NOT EXISTS (
        SELECT 1 FROM recovery_entries
        WHERE kind = 'webhook' AND company_id = :company_id AND record_id = :id AND done_as = 'dismissed'
            AND found_at = :since
    )
    ON CONFLICT (kind, key) WHERE done_at IS NULL DO UPDATE SET name = excluded.name, host = excluded.host
"""
"""The SQL that adds a webhook to the list of tasks. If an admin has dismissed the webhook, it is added only if its
credentials were lost again later.
"""
RENEWED: Final = """
    UPDATE recovery_entries SET done_at = :now, done_as = 'renewed'
    WHERE done_at IS NULL AND kind = 'webhook' AND company_id = :company_id
        AND record_id NOT IN (SELECT value FROM json_each(:missing))
"""
LOOKED_AT: Final = """
    UPDATE recovery_entries SET done_at = :now, done_as = 'gone'
    WHERE done_at IS NULL AND kind = 'company' AND company_id = :company_id
"""


def follow(tx: Transaction, company_id: int, code: str, missing: list[MissingCredentials]) -> None:
    """Update the list of tasks for one company. Add the webhooks in `missing`. Mark the company's entries for all
    other webhooks as done.

    `missing` must have every webhook of the company that lacks credentials. `code` is the company's code.
    """
    if missing:
        tx.execute(BEGIN, (tx.timestamp,))
    for each in missing:
        tx.execute(
            ADD,
            {
                "company_id": company_id,
                "id": each.subscription_id,
                "code": code,
                "name": each.name,
                "host": each.host,
                "since": each.since,
            },
        )
    ids = dumps([each.subscription_id for each in missing])
    tx.execute(RENEWED, {"now": tx.timestamp, "company_id": company_id, "missing": ids})


async def note_missing(platform: Database, company: Company, missing: list[MissingCredentials]) -> None:
    """Update the list of tasks in `platform.db`. `missing` must have every webhook of the company that lacks
    credentials.
    """
    await platform.write(lambda tx: follow(tx, company.id, company.code, missing), is_quiet=True)


class LostCredentials:
    """Tests the credentials of webhooks again, for the companies that have open entries in the list of tasks."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        self._complaints = RepeatedFailures(LOG, STORAGE_FAILURES)

    async def look(self) -> None:
        """Test the credentials, and update the list. A company whose file cannot be used stays in the list."""
        platform, files = self._installation.platform, self._installation.files
        waiting = await platform.read(store.companies_with_open_entries)
        if not waiting:
            return
        known = await self._installation.access.companies()
        for company_id in waiting:
            if company_id in known and company_id not in files.failed:
                await self._try_to_look(known[company_id])

    async def _try_to_look(self, company: Company) -> None:
        what = f"the webhook credentials of {company.code} cannot be checked yet"
        with self._complaints.trying(what, Problem, *STORAGE_FAILURES):
            await self._installation.files.visit(company.id, partial(self._look, company))

    async def _look(self, company: Company, database: Database) -> None:
        await database.write(missing_credentials.note_missing_credentials)
        missing = await database.read(missing_credentials.missing)

        def note(tx: Transaction) -> None:
            follow(tx, company.id, company.code, missing)
            tx.execute(LOOKED_AT, {"now": tx.timestamp, "company_id": company.id})

        await self._installation.platform.write(note, is_quiet=True)
