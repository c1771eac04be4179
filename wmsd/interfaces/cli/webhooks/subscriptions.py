"""`wmsd webhook`."""

import json

import click

from wmsd.base.problems import Problem, forbidden
from wmsd.contract.context import Company
from wmsd.contract.fields import MAX_ID
from wmsd.contract.validation import validate_model
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.freezes import check_not_frozen
from wmsd.dispatch.record_audit import Entry, act_and_audit
from wmsd.dispatch.record_audit import write_audit_entry as write_audit
from wmsd.events.webhooks import actions, store
from wmsd.events.webhooks.deliveries import store as log
from wmsd.events.webhooks.rules import MOST_SUBSCRIPTIONS, NEEDED_MODULES, off_because
from wmsd.events.webhooks.schema import SubscriptionChanges, SubscriptionQuery
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, fail, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.company_data import company_database, company_option, options_of
from wmsd.interfaces.cli.webhooks.webhook_rows import Row, in_a_line, subscription_row, why_not
from wmsd.tenants.companies import actions as companies

one_webhook = options_of(click.argument("webhook", metavar="ID", type=click.IntRange(1, MAX_ID)), company_option)


@click.group()
def webhook_command() -> None:
    """List, test and switch webhooks, read their log, and send deliveries again.

    They are made at the pages, or over the API. A running server follows within a second what you switch or queue
    here.
    """


@webhook_command.command("list")
@company_option
@json_option
@with_installation
def list_webhooks(command_line: CommandLine, code: str, as_json: bool) -> None:
    """List the webhooks, and how their deliveries succeed.

    open: deliveries that are still to be sent. exhausted: deliveries of the last 30 days that were given up.
    """

    def read(tx: Transaction, company: Company) -> list[Row]:
        found = store.page(tx, SubscriptionQuery(per_page=MOST_SUBSCRIPTIONS), company)
        counts = log.counts(tx)
        rows: list[Row] = []
        for record in json.loads(f"[{found.records}]"):
            open_deliveries, exhausted = counts.get(record["id"], (0, 0))
            shown = {**record, "open": open_deliveries, "exhausted": exhausted}
            rows.append(shown if as_json else subscription_row(record, open_deliveries, exhausted))
        return rows

    async def work(installation: Installation) -> tuple[Company, list[Row]]:
        company, database = await open_webhooks(installation, code)
        return company, await database.read_long(lambda tx: read(tx, company))

    company, rows = command_line.run(work)
    say(rows, as_json, f"{code} has no webhook yet. They are made at the pages, and by programs over the API.")
    if rows and off_because(company) is not None:
        note(_why_off(company))


@webhook_command.command("test")
@one_webhook
@json_option
@with_installation
def test_webhook(command_line: CommandLine, webhook: int, code: str, as_json: bool) -> None:
    """Send webhook ID a test event.

    The command itself sends `webhook.test` once, now, and shows the answer. The webhook may be on or off, and a
    server may run or not. Without success the command exits with 1, and says why.
    """

    async def work(installation: Installation) -> Row:
        from wmsd.events.webhooks.sending.test_event import send_test
        from wmsd.server.webhook_sender import new_client  # imported only when something is sent

        installation.folder.check_room(is_move=True)
        company, database = await open_webhooks(installation, code)
        check_is_on(company)
        client = new_client(installation)
        try:
            sent = await send_test(
                database, client, installation.clock, installation.vault, webhook, company.sandbox
            )
        finally:
            await client.close()
        if sent is None:
            raise no_webhook(webhook, code)
        delivery: Row = json.loads(sent.json)
        return delivery

    delivery = command_line.run(work)
    attempt = delivery["attempts"][-1]
    shown = {
        "delivery": delivery["id"],
        "event_id": delivery["event_id"],
        "status": delivery["status"],
        "answered": attempt["response_status"],
        "milliseconds": attempt["milliseconds"],
        "answer": in_a_line(attempt["response_body"]),
    }
    say(delivery if as_json else shown, as_json)
    if delivery["status"] != "delivered":
        fail([f"The test was not delivered. {why_not(attempt)}"])
    note("The receiver took it.")


@webhook_command.command("on")
@one_webhook
@with_installation
def switch_on(command_line: CommandLine, webhook: int, code: str) -> None:
    """Switch webhook ID on.

    Deliveries that were queued before are sent, and earlier failures are forgotten.
    """
    if _switch(command_line, webhook, code, True):
        note(
            f"Webhook {webhook} is on. Events from the time when it was off were not queued: the event log of the "
            "API has them (see /docs/webhooks)."
        )
    else:
        note(f"Webhook {webhook} was on already.")


@webhook_command.command("off")
@one_webhook
@with_installation
def switch_off(command_line: CommandLine, webhook: int, code: str) -> None:
    """Switch webhook ID off.

    Nothing more is queued for it. Deliveries that are queued already wait until it is on again.
    """
    if _switch(command_line, webhook, code, False):
        note(f"Webhook {webhook} is off. Deliveries queued for it wait until it is on again.")
    else:
        note(f"Webhook {webhook} was off already.")


def _switch(command_line: CommandLine, webhook: int, code: str, active: bool) -> bool:
    """Switches a webhook on or off. Returns whether that changed anything."""

    def write(tx: Transaction, company: Company) -> tuple[bool, Entry | None]:
        before = bool(subscription_of(tx, webhook, code)["active"])
        given = {
            "id": webhook,
            "body": validate_model(SubscriptionChanges, {"active": active}),
            "company": company,
        }
        _, entry = act_and_audit(tx, actions.update_webhook, code, given)
        return before != active, entry

    async def work(installation: Installation) -> bool:
        installation.folder.check_room(is_move=True)
        company, database = await open_webhooks(installation, code)
        check_not_frozen(company)
        has_changed, entry = await database.write(lambda tx: write(tx, company))
        if entry is not None:
            await write_audit(installation.platform, entry)
        return has_changed

    return command_line.run(work)


async def open_webhooks(installation: Installation, code: str) -> tuple[Company, Database]:
    database = await company_database(installation, code)
    company = await installation.platform.read(lambda tx: companies.company_of_code(tx, code))
    return company, database


def subscription_of(tx: Transaction, webhook: int, code: str) -> Row:
    """The fields of a subscription, as they are stored."""
    found = store.columns(tx, webhook)
    if found is None:
        raise no_webhook(webhook, code)
    return found


def no_webhook(webhook: int, code: str) -> Problem:
    way = f"`wmsd webhook list --company {code}` lists its webhooks"
    return Problem("NOT_FOUND", f"{code} has no webhook {webhook}: {way}.")


def check_is_on(company: Company) -> None:
    """Raises Problem when nothing is sent for the company now."""
    check_not_frozen(company)
    if off_because(company) is not None:
        raise forbidden(_why_off(company))


def _why_off(company: Company) -> str:
    """Why nothing is sent, and the command that changes it."""
    off = [module for module in NEEDED_MODULES if module not in company.modules]
    if off:
        because = f"the module {off[0]} is off" if len(off) == 1 else f"the modules {' and '.join(off)} are off"
        way = f"wmsd module enable {company.code} {' '.join(off)}"
    elif company.operator is not None:
        operator = company.operator.code
        because = f"it is a sandbox, and its operator {operator} does not allow webhooks"
        way = f"wmsd operator change {operator} --webhooks"
    else:
        because = "it is a sandbox without an operator who allows webhooks"
        way = f"wmsd company change {company.code} --no-sandbox"
    return f"Nothing is sent for {company.code}: {because}. To change that: {way}"
