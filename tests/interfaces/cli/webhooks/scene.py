"""A webhook of a tenant, created as by the API, and its receiver."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.borrowing import borrowed
from tests.support.command import Tenant
from tests.support.forked import LONGEST, Done
from tests.support.mailbox import ALLOWED, Mailbox
from tests.support.read_settings import load_settings
from wmsd.contract.validation import validate_model
from wmsd.data_folder.folder import DataFolder
from wmsd.events.webhooks import actions
from wmsd.events.webhooks.schema import SubscriptionFields
from wmsd.installation.open_installation import Installation, open_installation

SECRET = "a secret that nobody guesses, ever"


@dataclass
class Webhook:
    """A webhook of a tenant, and its receiver."""

    tenant: Tenant
    mailbox: Mailbox
    id: int
    file: Path

    def arguments(self, command: str, *arguments: str) -> tuple[str, ...]:
        return ("webhook", command, str(self.id), *arguments, "--company", self.tenant.code)

    def ok(self, command: str, *arguments: str) -> Done:
        return self.tenant.home.ok(*self.arguments(command, *arguments))

    def json(self, command: str, *arguments: str) -> Any:
        return self.ok(command, *arguments, "--json").json

    @property
    def shown(self) -> dict[str, Any]:
        found: list[dict[str, Any]] = self.tenant.home.ok(
            "webhook", "list", "--company", self.tenant.code, "--json"
        ).json
        return next(row for row in found if row["id"] == self.id)

    @property
    def statuses(self) -> list[str]:
        """The statuses of the webhook deliveries, the newest first."""
        return [row["status"] for row in self.json("deliveries", "--limit", "500")]

    def wait_until_all_are(self, status: str) -> None:
        until = time.monotonic() + LONGEST
        while set(self.statuses) != {status}:
            assert time.monotonic() < until, self.statuses

    def change(self, sql: str) -> None:
        """Change the company's file by SQL, to simulate what would take days."""
        with borrowed(self.tenant.home.data, f"companies/{self.file.name}") as connection:
            connection.execute(sql)
            connection.commit()

    def close(self, status: str, condition: str = "true") -> None:
        self.change(f"UPDATE webhook_deliveries SET status = '{status}', due_at = NULL WHERE {condition}")


def company_id(tenant: Tenant) -> int:
    rows = tenant.home.ok("company", "list", "--json").json
    return next(int(row["id"]) for row in rows if row["code"] == tenant.code)


def subscribe(tenant: Tenant, url: str, **fields: Any) -> Webhook:
    """Create a subscription as the API does."""
    company = company_id(tenant)
    body = validate_model(
        SubscriptionFields, {"name": "Shop", "url": url, "events": ["*"], "secret": SECRET, **fields}
    )

    async def work(installation: Installation) -> int:
        database = await installation.files.get(company)
        known = (await installation.access.companies())[company]
        return int((await database.write(lambda tx: actions.create_webhook.action(tx, body, known))).id)

    async def opened() -> int:
        folder = DataFolder(tenant.home.data)
        folder.open()
        async with open_installation(load_settings(environment=ALLOWED), folder) as installation:
            return await work(installation)

    file = tenant.home.data / "companies" / f"{company}.db"
    return Webhook(tenant, Mailbox(url), asyncio.run(opened()), file)


def make_events(webhook: Webhook, count: int, prefix: str = "A") -> None:
    rows = "".join(f"{prefix}{number},Article\n" for number in range(1, count + 1))
    webhook.tenant.take("articles", f"code,name\n{rows}")
