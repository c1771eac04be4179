"""`wmsd webhook deliveries` and `redeliver`."""

import json
from functools import partial
from typing import Final

import click

from wmsd.base import timestamps
from wmsd.base.plurals import count_of
from wmsd.base.problems import Problem
from wmsd.contract.fields import MAX_ID
from wmsd.contract.validation import validate_model
from wmsd.db.engine.database import Database
from wmsd.db.engine.transaction import Transaction
from wmsd.events.webhooks.deliveries import redelivery
from wmsd.events.webhooks.deliveries import store as log
from wmsd.events.webhooks.deliveries.redelivery import AT_ONCE, CLOSED, FAILED, Range
from wmsd.events.webhooks.deliveries.schema import DeliveryQuery
from wmsd.events.webhooks.schema import DELIVERY_STATUSES
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.cli.kit.command_line import CommandLine, json_option, note, say, with_installation
from wmsd.interfaces.cli.kit.company_data import read_company
from wmsd.interfaces.cli.kit.moments import moment_option
from wmsd.interfaces.cli.webhooks.subscriptions import (
    check_is_on,
    one_webhook,
    open_webhooks,
    subscription_of,
    webhook_command,
)
from wmsd.interfaces.cli.webhooks.webhook_rows import Row, attempt_rows, delivery_row

MOST_SHOWN: Final = 500


@webhook_command.command("deliveries")
@one_webhook
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(DELIVERY_STATUSES),
    help="Only with this status; repeat it for several.",
)
@moment_option("--since", "Only those queued then or later")
@click.option("--before", type=click.IntRange(1, MAX_ID), metavar="ID", help="Only deliveries before this one.")
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_SHOWN),
    default=50,
    show_default=True,
    help="At most so many deliveries.",
)
@click.option("--attempts", is_flag=True, help="A line for each attempt, with the receiver's answer.")
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
        say([row for record in records for row in attempt_rows(record)], as_json, "No such attempt.")
    else:
        say([delivery_row(record) for record in records], as_json, "No such delivery.")
    if has_more and not as_json:
        note(f"{count_of(limit, 'delivery', 'deliveries')}: more with --before {records[-1]['id']}.")


@webhook_command.command("redeliver")
@one_webhook
@click.argument("delivery", metavar="[DELIVERY]", type=click.IntRange(1, MAX_ID), required=False)
@moment_option("--since", "All that were queued then or later")
@moment_option("--until", "With --since: only those queued then or before; without it, until now")
@click.option("--failed", is_flag=True, help="With --since: only those that were exhausted or skipped.")
@click.option("--dry-run", is_flag=True, help="Only count them.")
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

    Name one DELIVERY, or give --since for all that were delivered, exhausted or skipped. Each keeps its id, its
    sequence and its body, and gets five new attempts. Deliveries about the same record go in their order. After an
    outage, give --since with its beginning, and --failed.
    """
    _check_choice(delivery, since, until, failed)

    async def work(installation: Installation) -> tuple[int, bool]:
        if not dry_run:
            installation.folder.check_room(is_move=True)
        company, database = await open_webhooks(installation, code)
        check_is_on(company)
        subscription = await database.read(lambda tx: subscription_of(tx, webhook, code))
        if delivery is not None:
            await database.write(lambda tx: _send_one(tx, webhook, delivery, code, dry_run))
            return 1, subscription["active"]
        assert since is not None
        end = until or timestamps.to_text(installation.clock.now())
        chosen = Range(webhook, since, end, FAILED if failed else CLOSED)
        count = (await database.read_long(lambda tx: redelivery.count(tx, chosen))).number
        return count if dry_run else await _send_range(database, chosen, count), subscription["active"]

    count, is_active = command_line.run(work)
    say({"deliveries": count, "dry_run": dry_run}, as_json)
    note(_what_now(count, dry_run, is_active, webhook, code))


def _check_choice(delivery: int | None, since: str | None, until: str | None, failed: bool) -> None:
    if (delivery is None) == (since is None):
        raise click.UsageError("Say what to send again: one DELIVERY by its id, or --since for all that are over.")
    if delivery is not None and (until or failed):
        raise click.UsageError("--until and --failed go with --since.")
    if since is not None and until is not None and until < since:
        raise click.UsageError("--until must not be before --since.")


def _send_one(tx: Transaction, webhook: int, delivery: int, code: str, dry_run: bool) -> None:
    if log.one(tx, webhook, delivery) is None:
        way = f"`wmsd webhook deliveries {webhook} --company {code}` lists its deliveries"
        raise Problem("NOT_FOUND", f"Webhook {webhook} has no delivery {delivery}: {way}.")
    if not dry_run:
        redelivery.send_now(tx, delivery)


async def _send_range(database: Database, chosen: Range, expected: int) -> int:
    """Queues some at a time, so that orders do not wait long."""
    after, sent, is_more = 0, 0, True
    while is_more:
        after, some, is_more = await database.write(partial(redelivery.send_range, chosen=chosen, after=after))
        sent += some
        if expected > AT_ONCE:
            note(f"{sent} of {expected} …")
    return sent


def _what_now(count: int, dry_run: bool, is_active: bool, webhook: int, code: str) -> str:
    if not count:
        return "There is nothing to send again in this range."
    if dry_run:
        return "Nothing was changed: this was a dry run."
    if not is_active:
        way = f"`wmsd webhook on {webhook} --company {code}`"
        return f"Queued, but webhook {webhook} is off: it is sent after {way}."
    return "Queued. A running server begins to send within a second; without one it is sent when it runs next."
