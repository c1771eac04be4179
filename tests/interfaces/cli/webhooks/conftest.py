from collections.abc import Iterator

import pytest

from tests.interfaces.cli.webhooks.scene import Webhook, subscribe
from tests.support.command import Home, Tenant
from tests.support.mailbox import ALLOWED, Mailbox, open_mailbox


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with open_mailbox() as opened:
        yield opened


@pytest.fixture
def installation(tenant: Tenant) -> Home:
    tenant.home.environment |= ALLOWED
    return tenant.home


@pytest.fixture
def webhook(installation: Home, tenant: Tenant, mailbox: Mailbox) -> Webhook:
    made = subscribe(tenant, mailbox.url)
    made.mailbox = mailbox
    return made
