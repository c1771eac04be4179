"""The operations of test receivers."""

from typing import Any

from wmsd.base.problems import Problem, or_not_found
from wmsd.base.strict_json import dumps
from wmsd.base.vault import Vault
from wmsd.contract.context import Company
from wmsd.contract.results import Record
from wmsd.db.engine.transaction import Transaction
from wmsd.db.sql.statements import column_values
from wmsd.events.webhooks import receiver_rules
from wmsd.events.webhooks import store as subscriptions
from wmsd.events.webhooks.actions import check_subscription_limit, reading, rotate_secret, writing
from wmsd.events.webhooks.rules import off_because
from wmsd.events.webhooks.schema import Subscription
from wmsd.events.webhooks.test_receivers import store
from wmsd.events.webhooks.test_receivers.schema import NewReceiver, ReceivedDetail, Receiver, ReceiverAnswer


@writing(answer="record", returns=Subscription, creates=True)
def make_webhook_receiver(tx: Transaction, body: NewReceiver, company: Company) -> Record:
    """Create a test receiver.

    A test receiver is a webhook subscription whose deliveries wmsd itself receives and shows. After 7 days, the
    test receiver is deleted.
    """
    check_subscription_limit(tx)
    if store.count(tx) >= receiver_rules.MOST:
        raise Problem(
            "VALIDATION_FAILED",
            f"A company can have at most {receiver_rules.MOST} test receivers. Remove one first.",
        )
    values = {
        "name": body.name,
        "url": receiver_rules.ADDRESS,
        "events": body.events,
        "auth_type": "hmac",
        "active": True,
        "credentials": tx.service(Vault).seal(dumps({"secret": receiver_rules.new_secret()})),
        "has_short_secret": False,
    }
    id = subscriptions.insert(tx, column_values(values))
    store.insert_receiver(tx, id, body.answers)
    return subscriptions.one(tx, id, company)


@reading(answer="object", returns=Receiver)
def get_webhook_receiver(tx: Transaction, id: int, company: Company) -> dict[str, Any]:
    """Get a test receiver.

    The answer has the secret of the test receiver, and the requests that the test receiver has received, the
    newest first.
    """
    return {**or_not_found(store.one(tx, id), "test receiver"), "off_because": off_because(company)}


@reading(answer="object", returns=ReceivedDetail)
def get_webhook_received(tx: Transaction, id: int, received: int) -> dict[str, Any]:
    """Get a request that a test receiver has received."""
    return or_not_found(store.one_received(tx, id, received), "received request")


@writing(answer="object", returns=Receiver)
def change_webhook_receiver(tx: Transaction, id: int, body: ReceiverAnswer, company: Company) -> dict[str, Any]:
    """Change the answers of a test receiver.

    The change applies to all further deliveries.
    """
    store.change(tx, id, body.answers)
    return get_webhook_receiver.action(tx, id, company)  # type: ignore[no-any-return]


@writing(answer="object", returns=Receiver)
def rotate_webhook_receiver_secret(tx: Transaction, id: int, company: Company) -> dict[str, Any]:
    """Replace the secret of a test receiver.

    For 24 hours the deliveries are signed with the new and the old secret.
    """
    before = get_webhook_receiver.action(tx, id, company)["secret"]
    if before is None:
        raise Problem("VALIDATION_FAILED", "wmsd cannot decrypt the current secret. Create a new test receiver.")
    rotate_secret(tx, id, before, receiver_rules.new_secret())
    return get_webhook_receiver.action(tx, id, company)  # type: ignore[no-any-return]
