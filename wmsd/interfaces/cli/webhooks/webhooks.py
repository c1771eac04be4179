"""The command `wmsd webhook`."""

import json
from functools import partial
from typing import Final

import click

from wmsd.base import timestamps
from wmsd.base.plurals import count_of
from wmsd.base.problems import Problem, forbidden
from wmsd.contract.context import Company
from wmsd.contract.fields import MAX_ID
from wmsd.contract.results import Record
from wmsd.contract.validation import validate_model
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.dispatch.freezes import check_not_frozen
from wmsd.dispatch.record_audit import Entry, act_and_audit
from wmsd.events.webhooks import actions, store
from wmsd.events.webhooks.deliveries import redelivery
from wmsd.events.webhooks.deliveries import store as log
from wmsd.events.webhooks.deliveries.filters import DeliveryFilter
from wmsd.events.webhooks.deliveries.redelivery import AT_ONCE, FAILED
from wmsd.events.webhooks.deliveries.schema import CLOSED_STATUSES, DeliveryQuery
from wmsd.events.webhooks.rules import MOST_SUBSCRIPTIONS, NEEDED_MODULES, off_because
from wmsd.events.webhooks.schema import DELIVERY_STATUSES, SubscriptionChanges, SubscriptionQuery
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, fail, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.company_data import (
    company_in_use,
    company_option,
    options_of,
    read_company,
    write_audited,
)
from wmsd.interfaces.cli.kit.moments import moment_option
from wmsd.interfaces.cli.webhooks.webhook_rows import (
    Row,
    attempt_rows,
    delivery_row,
    in_a_line,
    subscription_row,
    why_not,
)

one_webhook = options_of(click.argument("webhook", metavar="ID", type=click.IntRange(1, MAX_ID)), company_option)


@click.group()
def webhook_command() -> None:
    """List and test webhooks, switch them on and off, read their log, and send webhook deliveries again.

    Webhooks are created in the browser or over the API. A running server applies changes within a second.
    """


@webhook_command.command("list")
@company_option
@json_option
@with_installation
def list_webhooks(command_line: CommandLine, code: str, as_json: bool) -> None:
    """List the webhooks, and the state of their deliveries.

    open: deliveries that are still to be sent. exhausted: deliveries of the last 30 days that failed at every
    attempt.
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
        company, database = await company_in_use(installation, code)
        return company, await database.read_long(lambda tx: read(tx, company))

    company, rows = command_line.run(work)
    say(rows, as_json, f"{code} has no webhooks yet. Create webhooks in the browser or over the API.")
    if rows and off_because(company) is not None:
        note(_why_off(company))


@webhook_command.command("test")
@one_webhook
@json_option
@with_installation
def test_webhook(command_line: CommandLine, webhook: int, code: str, as_json: bool) -> None:
    """Send webhook ID a test event.

    The command itself sends `webhook.test` once, now, and shows the answer. The webhook may be on or off, and a
    server may run or not. If the delivery fails, the command exits with 1, and says why.
    """

    async def work(installation: Installation) -> Record:
        from wmsd.events.webhooks.sending.test_event import send_test
        from wmsd.server.webhook_sender import new_client  # imported only when the command sends

        installation.folder.check_space(is_move=True)
        company, database = await company_in_use(installation, code)
        check_is_on(company)
        client = new_client(installation)
        try:
            note_result = await send_test(database, client, installation.clock, webhook, company)
            sent = None if note_result is None else await database.write(note_result)
        finally:
            await client.close()
        if sent is None:
            raise no_webhook(webhook, code)
        return sent

    delivery = json.loads(command_line.run(work).json)
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
        fail([f"The test event was not delivered. {why_not(attempt)}"])
    note("The receiver accepted the test event.")


@webhook_command.command("on")
@one_webhook
@with_installation
def switch_on(command_line: CommandLine, webhook: int, code: str) -> None:
    """Switch webhook ID on.

    Deliveries that were queued before are sent, and earlier failures are no longer counted.
    """
    now = (
        "Events from the time when the webhook was off were not queued. The event log of the API has "
        "these events (see /docs/webhooks)."
    )
    _switch(command_line, webhook, code, True, now)


@webhook_command.command("off")
@one_webhook
@with_installation
def switch_off(command_line: CommandLine, webhook: int, code: str) -> None:
    """Switch webhook ID off.

    No more deliveries are queued for it. Deliveries that are already queued wait until the webhook is on again.
    """
    _switch(command_line, webhook, code, False, "Queued webhook deliveries wait until the webhook is on again.")


def _switch(command_line: CommandLine, webhook: int, code: str, active: bool, now: str) -> None:
    """Switch a webhook on if `active`, otherwise off. If the webhook was not in this state before, print the
    sentence `now`.
    """

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
        installation.folder.check_space(is_move=True)
        company, database = await company_in_use(installation, code)
        check_not_frozen(company)
        return await write_audited(installation, database, lambda tx: write(tx, company))

    has_changed, state = command_line.run(work), "on" if active else "off"
    note(f"Webhook {webhook} is {state}. {now}" if has_changed else f"Webhook {webhook} was already {state}.")


def subscription_of(tx: Transaction, webhook: int, code: str) -> Row:
    """Return the stored fields of the webhook with the id `webhook`. Raise Problem (404) if the company has no
    such webhook.

    `code` is the company's code, for the error.
    """
    try:
        return store.columns(tx, webhook)
    except Problem:
        raise no_webhook(webhook, code) from None


def no_webhook(webhook: int, code: str) -> Problem:
    way = f"wmsd webhook list --company {code}"
    return Problem("NOT_FOUND", f"{code} has no webhook {webhook}. To list the webhooks: {way}")


def check_is_on(company: Company) -> None:
    """Raise Problem if no webhooks are sent for the company now."""
    check_not_frozen(company)
    if off_because(company) is not None:
        raise forbidden(_why_off(company))


def _why_off(company: Company) -> str:
    """Return a sentence that says why wmsd sends no webhooks for the company, and which command changes this."""
    off = [module for module in NEEDED_MODULES if module not in company.modules]
    if off:
        because = f"the module {off[0]} is off" if len(off) == 1 else f"the modules {' and '.join(off)} are off"
        way = f"wmsd module enable {company.code} {' '.join(off)}"
    elif company.operator is not None:
        operator = company.operator.code
        because = f"the company is a sandbox, and its operator {operator} does not allow webhooks"
        way = f"wmsd operator change {operator} --webhooks"
    else:
        because = "the company is a sandbox, and has no operator who allows webhooks"
        way = f"wmsd company change {company.code} --no-sandbox"
    return f"wmsd sends no webhooks for {company.code}: {because}. To change this: {way}"


MOST_SHOWN: Final = 500


@webhook_command.command("deliveries")
@one_webhook
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(DELIVERY_STATUSES),
    help="Only with this status; repeat the option for several.",
)
@moment_option("--since", "Only deliveries queued at this time or later")
@click.option(
    "--before", type=click.IntRange(1, MAX_ID), metavar="ID", help="Only deliveries before this delivery."
)
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_SHOWN),
    default=50,
    show_default=True,
    help="Number of deliveries to list.",
)
@click.option("--attempts", is_flag=True, help="Show a line for each attempt, with the receiver's answer.")
@json_option
@with_installation
def list_deliveries(
    command_line: CommandLine,
    webhook: int,
    code: str,
    statuses: tuple[str, ...],
    since: str | None,
    before: int | None,
    limit: int,
    attempts: bool,
    as_json: bool,
) -> None:
    """List the deliveries of webhook ID, the newest first.

    The log keeps 30 days. --json shows every attempt in full.
    """
    given = {"status": ",".join(statuses) or None, "since": since, "per_page": limit}
    query = validate_model(DeliveryQuery, {name: value for name, value in given.items() if value is not None})

    def read(tx: Transaction) -> tuple[list[Row], bool]:
        subscription_of(tx, webhook, code)
        found = log.before(tx, webhook, query, before or 0)
        return json.loads(f"[{found.records}]"), found.has_more

    records, has_more = read_company(command_line, code, read)
    if as_json:
        say(records, as_json)
    elif attempts:
        say([row for record in records for row in attempt_rows(record)], as_json, "No attempts found.")
    else:
        say([delivery_row(record) for record in records], as_json, "No webhook deliveries found.")
    if has_more and not as_json:
        note(f"Listed {count_of(limit, 'delivery', 'deliveries')}: continue with --before {records[-1]['id']}.")


@webhook_command.command("redeliver")
@one_webhook
@click.argument("delivery", metavar="[DELIVERY]", type=click.IntRange(1, MAX_ID), required=False)
@moment_option("--since", "All deliveries queued at this time or later")
@moment_option("--until", "With --since: only deliveries queued at this time or earlier (default: now)")
@click.option("--failed", is_flag=True, help="With --since: only exhausted and skipped deliveries.")
@click.option("--dry-run", is_flag=True, help="Only count the deliveries.")
@json_option
@with_installation
def redeliver(
    command_line: CommandLine,
    webhook: int,
    code: str,
    delivery: int | None,
    since: str | None,
    until: str | None,
    failed: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Send deliveries of webhook ID again.

    Name one DELIVERY, or give --since for all deliveries from this time on that were delivered, exhausted or
    skipped. Each delivery keeps its id, its sequence and its body, and gets five new attempts. Deliveries about
    the same record are sent in their order. After an outage, give --since with the start of the outage, and
    --failed.
    """
    _check_choice(delivery, since, until, failed)

    async def work(installation: Installation) -> tuple[int, bool]:
        if not dry_run:
            installation.folder.check_space(is_move=True)
        company, database = await company_in_use(installation, code)
        check_is_on(company)
        subscription = await database.read(lambda tx: subscription_of(tx, webhook, code))
        if delivery is not None:
            await database.write(lambda tx: _send_one(tx, webhook, delivery, code, dry_run))
            return 1, subscription["active"]
        assert since is not None
        end = until or timestamps.to_text(installation.clock.now())
        chosen = DeliveryFilter(webhook, FAILED if failed else CLOSED_STATUSES, since=since, until=end)
        count, _ = await database.read_long(lambda tx: redelivery.count(tx, chosen))
        return count if dry_run else await _send_range(database, chosen, count), subscription["active"]

    count, is_active = command_line.run(work)
    say({"deliveries": count, "dry_run": dry_run}, as_json)
    note(_what_now(count, dry_run, is_active, webhook, code))


def _check_choice(delivery: int | None, since: str | None, until: str | None, failed: bool) -> None:
    if (delivery is None) == (since is None):
        raise click.UsageError("Give one DELIVERY by its id, or --since for all finished deliveries.")
    if delivery is not None and (until or failed):
        raise click.UsageError("Use --until and --failed only with --since.")
    if since is not None and until is not None and until < since:
        raise click.UsageError("--until must not be before --since.")


def _send_one(tx: Transaction, webhook: int, delivery: int, code: str, dry_run: bool) -> None:
    if log.one(tx, webhook, delivery) is None:
        way = f"wmsd webhook deliveries {webhook} --company {code}"
        raise Problem("NOT_FOUND", f"Webhook {webhook} has no delivery {delivery}. To list the deliveries: {way}")
    if not dry_run:
        redelivery.send_now(tx, delivery)


async def _send_range(database: Database, chosen: DeliveryFilter, expected: int) -> int:
    """Queue the deliveries that match `chosen`, and return their number. `expected` is the total in the progress
    output.

    Each transaction queues only a part of the deliveries, so that other writers do not wait long.
    """
    after, sent, is_more = 0, 0, True
    while is_more:
        ids, after, is_more = await database.write(partial(redelivery.send_range, chosen=chosen, after=after))
        sent += len(ids)
        if expected > AT_ONCE:
            note(f"{sent} of {expected} …")
    return sent


def _what_now(count: int, dry_run: bool, is_active: bool, webhook: int, code: str) -> str:
    if not count:
        return "No finished webhook deliveries match, so nothing is sent again."
    if dry_run:
        return "Nothing was changed: this was a dry run."
    if not is_active:
        way = f"wmsd webhook on {webhook} --company {code}"
        return f"Queued, but webhook {webhook} is off. To send, switch the webhook on: {way}"
    return (
        "Queued. A running server starts to send within a second. If no server is running, wmsd sends "
        "when the server runs again."
    )
