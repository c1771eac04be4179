"""`wmsd webhook`, with a receiver that is there."""

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.cli.test_commands import imported
from tests.support.command import LONGEST, Done, Home, Tenant
from tests.support.mailbox import ALLOWED, Mailbox, open_mailbox
from wmsd.app.data_folder import DataFolder
from wmsd.app.settings import load
from wmsd.app.site import Site, open_site
from wmsd.base.validation import check
from wmsd.db.sqlite import connect
from wmsd.webhooks import actions
from wmsd.webhooks.schema import SubscriptionFields

SECRET = "a secret that nobody guesses, ever"
UNLIMITED = {"WMSD_LIMITS_DATA_PER_MINUTE": "100000"}


@dataclass
class Webhook:
    """One of a tenant's, and the receiver that it sends to."""

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
        """Of its deliveries, the newest first."""
        return [row["status"] for row in self.json("deliveries", "--limit", "500")]

    def wait_until_all_are(self, status: str) -> None:
        until = time.monotonic() + LONGEST
        while set(self.statuses) != {status}:
            assert time.monotonic() < until, self.statuses

    def change(self, sql: str) -> None:
        """What would take days, done to its file."""
        with closing(connect(self.file)) as connection:
            connection.execute(sql)
            connection.commit()

    def close(self, status: str, condition: str = "true") -> None:
        self.change(f"UPDATE webhook_deliveries SET status = '{status}', due_at = NULL WHERE {condition}")


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with open_mailbox() as opened:
        yield opened


@pytest.fixture
def site(shared: Home) -> Home:
    shared.environment |= ALLOWED
    return shared


def company_id(tenant: Tenant) -> int:
    rows = tenant.home.ok("company", "list", "--json").json
    return next(int(row["id"]) for row in rows if row["code"] == tenant.code)


def subscribe(tenant: Tenant, url: str, **fields: Any) -> Webhook:
    """A subscription as the API makes it."""
    company = company_id(tenant)
    body = check(SubscriptionFields, {"name": "Shop", "url": url, "events": ["*"], "secret": SECRET, **fields})

    async def work(site: Site) -> int:
        database = await site.files.get(company)
        return int((await database.write(lambda tx: actions.create_webhook.action(tx, body))).id)

    async def opened() -> int:
        folder = DataFolder(tenant.home.data)
        folder.open()
        async with open_site(load(environment=ALLOWED), folder) as site:
            return await work(site)

    file = tenant.home.data / "companies" / f"{company}.db"
    return Webhook(tenant, Mailbox(url), asyncio.run(opened()), file)


@pytest.fixture
def webhook(site: Home, tenant: Tenant, mailbox: Mailbox) -> Webhook:
    made = subscribe(tenant, mailbox.url)
    made.mailbox = mailbox
    return made


def make_events(webhook: Webhook, count: int, prefix: str = "A") -> None:
    rows = "".join(f"{prefix}{number},Article\n" for number in range(1, count + 1))
    webhook.tenant.take("articles", f"code,name\n{rows}")


# --- list -----------------------------------------------------------------------------------------------------


def test_no_webhook_yet(site: Home, tenant: Tenant) -> None:
    done = site.ok("webhook", "list", "--company", tenant.code)
    hint = f"{tenant.code} has no webhook yet: POST /api/webhooks makes one."
    assert (done.out, done.err.splitlines()[-1]) == ("", hint)
    assert site.ok("webhook", "list", "--company", tenant.code, "--json").json == []


def test_webhooks_are_listed_with_how_they_fare(webhook: Webhook) -> None:
    make_events(webhook, 3)
    webhook.close("exhausted", "id = (SELECT min(id) FROM webhook_deliveries)")
    webhook.ok("test")
    shown = webhook.shown
    assert {name: shown[name] for name in ("id", "name", "url", "events", "auth_type", "active")} == {
        "id": webhook.id,
        "name": "Shop",
        "url": webhook.mailbox.url,
        "events": ["*"],
        "auth_type": "hmac",
        "active": True,
    }
    assert (shown["open"], shown["exhausted"], shown["failing_since"]) == (2, 1, None)
    assert (shown["last_delivery"]["event"], shown["last_delivery"]["response_status"]) == ("webhook.test", 200)
    header, row = webhook.tenant.home.ok("webhook", "list", "--company", webhook.tenant.code).out.splitlines()
    assert header.split()[:8] == ["id", "name", "url", "events", "auth_type", "active", "open", "exhausted"]
    assert row.split()[:8] == [str(webhook.id), "Shop", webhook.mailbox.url, "*", "hmac", "yes", "2", "1"]
    assert row.endswith(": answered 200")
    assert SECRET not in json.dumps(shown)


def test_a_webhook_that_fails_and_one_that_was_switched_off(webhook: Webhook) -> None:
    webhook.mailbox.status = 500
    assert webhook.tenant.home.run(*webhook.arguments("test")).code == 1
    assert webhook.shown["failing_since"] is not None
    assert webhook.shown["active"] is True
    webhook.mailbox.status = 410
    assert webhook.tenant.home.run(*webhook.arguments("test")).code == 1
    assert webhook.shown["active"] is False
    listed = webhook.tenant.home.ok("webhook", "list", "--company", webhook.tenant.code).out
    assert "The receiver answered 410 Gone." in listed
    assert listed.splitlines()[1].endswith(": answered 410")


# --- test -----------------------------------------------------------------------------------------------------


def test_a_test_that_arrives(webhook: Webhook) -> None:
    done = webhook.ok("test")
    assert done.err.splitlines()[-1] == "The receiver took it."
    shown = dict(line.split(maxsplit=1) for line in done.out.splitlines())
    (letter,) = webhook.mailbox.letters
    assert shown["event_id"] == letter.headers["x-webhook-id"]
    assert (shown["status"], shown["answered"], shown["answer"]) == ("delivered", "200", "thank you")
    assert (letter.event, letter.json["data"]) == ("webhook.test", {"webhook_id": webhook.id})
    assert letter.headers["x-webhook-signature"].startswith("sha256=")
    assert webhook.json("test")["attempts"][0]["response_body"] == "thank you"
    assert webhook.statuses == ["delivered", "delivered"]


@pytest.mark.parametrize(
    ("status", "because"),
    [
        (500, "The receiver answered 500; only 200 to 299 is success."),
        (
            302,
            "The receiver answered 302. Redirects are not followed: subscribe with the address they lead to.",
        ),
        (410, "The receiver answered 410 Gone: it wants no more, and the subscription is off."),
    ],
)
def test_a_test_that_is_not_taken(webhook: Webhook, status: int, because: str) -> None:
    webhook.mailbox.status = status
    done = webhook.tenant.home.run(*webhook.arguments("test"))
    assert (done.code, done.wrong) == (1, [f"The test was not delivered. {because}"])
    assert f"answered      {status}\n" in done.out
    done = webhook.tenant.home.run(*webhook.arguments("test", "--json"))
    assert (done.code, done.json["status"]) == (1, "exhausted")
    assert len(webhook.mailbox.letters) == 2, "once for each"


def test_a_test_of_nobody(site: Home, tenant: Tenant) -> None:
    with closing(socket.socket()) as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        webhook = subscribe(tenant, f"http://127.0.0.1:{port}/hook")
        done = site.run(*webhook.arguments("test"))
    refused = f"The test was not delivered. 127.0.0.1 refused the connection at port {port}."
    assert (done.code, done.wrong) == (1, [refused])


def test_a_test_of_a_webhook_that_is_off(webhook: Webhook) -> None:
    webhook.ok("off")
    webhook.ok("test")
    assert len(webhook.mailbox.letters) == 1


def test_an_answer_does_not_steer_the_terminal(webhook: Webhook) -> None:
    webhook.mailbox.answer = b"\x1b]0;owned\x07 \xc2\x9b31m\nwmsd: all is well \xe2\x80\xae" + 300 * b"x"
    shown = webhook.ok("test").out + webhook.ok("deliveries", "--attempts").out
    assert all(letter.isprintable() or letter == "\n" for letter in shown)
    assert "\ufffd]0;owned\ufffd \ufffd31m wmsd: all is well \ufffdxxx" in shown
    assert "x …" in shown
    assert not any(line.startswith("wmsd:") for line in shown.splitlines())


# --- deliveries -----------------------------------------------------------------------------------------------


def test_deliveries_the_newest_first(webhook: Webhook) -> None:
    make_events(webhook, 3)
    webhook.ok("test")
    header, *rows = webhook.ok("deliveries").out.splitlines()
    assert header.split() == [
        *("id", "sequence", "event", "entity_id", "status", "queued", "due", "attempts", "last"),
    ]
    cells = [row.split() for row in rows]
    assert [(row[1], row[2], row[4]) for row in cells] == [
        ("4", "webhook.test", "delivered"),
        ("3", "article.created", "pending"),
        ("2", "article.created", "pending"),
        ("1", "article.created", "pending"),
    ]
    assert [row[7:] for row in cells] == [["1", "answered", "200"], *(3 * [["0", "-"]])]


def test_deliveries_are_chosen(webhook: Webhook) -> None:
    make_events(webhook, 6)
    webhook.close("exhausted", "sequence <= 3")
    webhook.change("UPDATE webhook_deliveries SET created_at = '2026-01-01T00:00:00.000Z' WHERE sequence <= 3")

    def sequences(*arguments: str) -> list[int]:
        return [row["sequence"] for row in webhook.json("deliveries", *arguments)]

    assert sequences() == [6, 5, 4, 3, 2, 1]
    assert sequences("--status", "exhausted") == [3, 2, 1]
    assert sequences("--status", "exhausted", "--status", "pending") == [6, 5, 4, 3, 2, 1]
    assert sequences("--status", "held") == []
    assert sequences("--since", "2026-01-01T02:00:00.001+02:00") == [6, 5, 4]
    assert sequences("--since", "2026-01-01T02:00:00+02:00") == [6, 5, 4, 3, 2, 1]
    assert sequences("--limit", "2") == [6, 5]
    last = webhook.json("deliveries", "--limit", "2")[-1]["id"]
    assert sequences("--limit", "2", "--before", str(last)) == [4, 3]
    assert webhook.ok("deliveries", "--limit", "2").err.splitlines()[-1] == (
        f"2 deliveries: more with --before {last}."
    )
    assert webhook.ok("deliveries", "--status", "held").err.splitlines()[-1] == "No such delivery."


def test_attempts_with_what_came_back(webhook: Webhook) -> None:
    webhook.mailbox.status, webhook.mailbox.answer = 503, b"<h1>Back\n soon</h1>"
    webhook.tenant.home.run(*webhook.arguments("test"))
    (delivery,) = webhook.json("deliveries")
    (attempt,) = delivery["attempts"]
    assert (attempt["response_status"], attempt["response_body"]) == (503, "<h1>Back\n soon</h1>")
    header, row = webhook.ok("deliveries", "--attempts").out.splitlines()
    assert header.split() == ["delivery", "event", "attempt", "at", "milliseconds", "outcome", "answer"]
    assert row.endswith("answered 503  <h1>Back soon</h1>")


# --- redeliver ------------------------------------------------------------------------------------------------


def test_one_delivery_again(webhook: Webhook) -> None:
    delivery = str(webhook.json("test")["id"])
    assert webhook.json("redeliver", delivery, "--dry-run") == {"deliveries": 1, "dry_run": True}
    assert webhook.statuses == ["delivered"]
    done = webhook.ok("redeliver", delivery)
    assert done.err.splitlines()[-1] == (
        "Queued. A running server begins to send within a second; without one it is sent when it runs next."
    )
    assert webhook.statuses == ["pending"]
    with webhook.tenant.home.serving(env=UNLIMITED):
        first, second = webhook.mailbox.wait_for(2)
    assert (first.body, first.headers["x-webhook-id"]) == (second.body, second.headers["x-webhook-id"])
    assert [letter.headers["x-webhook-attempt"] for letter in (first, second)] == ["1", "2"]


def test_an_outage_is_made_up_for_beside_a_running_server(webhook: Webhook) -> None:
    make_events(webhook, 4)
    with webhook.tenant.home.serving(env=UNLIMITED):
        assert {letter.event for letter in webhook.mailbox.wait_for(4)} == {"article.created"}
        webhook.wait_until_all_are("delivered")
        webhook.close("exhausted", "sequence = 2")
        webhook.close("skipped", "sequence = 3")
        failed = ("--since", "2026-01-01T00:00:00Z", "--failed")
        assert webhook.json("redeliver", *failed, "--dry-run") == {"deliveries": 2, "dry_run": True}
        assert webhook.statuses == ["delivered", "skipped", "exhausted", "delivered"]
        assert webhook.json("redeliver", *failed) == {"deliveries": 2, "dry_run": False}
        webhook.mailbox.wait_for(6)
        again = [letter.headers["x-webhook-sequence"] for letter in webhook.mailbox.letters[4:]]
        assert sorted(again) == ["2", "3"]
        assert webhook.json("redeliver", "--since", "2026-01-01T00:00:00Z")["deliveries"] >= 2
        webhook.mailbox.wait_for(8)
        assert webhook.tenant.home.ok(*webhook.arguments("test")).err.splitlines()[-1] == "The receiver took it."


def test_a_range_ends_where_it_is_told(webhook: Webhook) -> None:
    make_events(webhook, 3)
    webhook.close("delivered")
    webhook.change("UPDATE webhook_deliveries SET created_at = '2026-01-0' || sequence || 'T00:00:00.000Z'")

    def count(*arguments: str) -> int:
        return int(webhook.json("redeliver", *arguments, "--dry-run")["deliveries"])

    assert count("--since", "2026-01-02T00:00:00Z") == 2
    assert count("--since", "2026-01-01T00:00:00Z", "--until", "2026-01-02T00:00:00Z") == 2
    assert count("--since", "2026-01-01T00:00:00Z", "--until", "2026-01-02T00:59:59+01:00") == 1
    nothing = webhook.ok("redeliver", "--since", "2026-01-01T00:00:00Z", "--failed")
    assert nothing.err.splitlines()[-1] == "There is nothing to send again in this range."
    assert nothing.out.split() == ["deliveries", "0", "dry_run", "no"]


def test_tests_of_an_outage_are_not_sent_again(webhook: Webhook) -> None:
    webhook.mailbox.status = 500
    webhook.tenant.home.run(*webhook.arguments("test"))
    make_events(webhook, 1)
    webhook.close("exhausted")
    assert webhook.json("redeliver", "--since", "2026-01-01T00:00:00Z", "--failed")["deliveries"] == 1
    assert webhook.statuses == ["pending", "exhausted"]


def test_many_are_queued_some_at_a_time(webhook: Webhook) -> None:
    make_events(webhook, 6001)
    webhook.close("exhausted")
    done = webhook.ok("redeliver", "--since", "2026-01-01T00:00:00Z", "--failed", "--json")
    assert done.json == {"deliveries": 6001, "dry_run": False}
    assert done.err.splitlines()[1:3] == ["5000 of 6001 …", "6001 of 6001 …"]
    assert webhook.shown["open"] == 6001


def test_what_is_queued_for_a_webhook_that_is_off_waits(webhook: Webhook) -> None:
    make_events(webhook, 1)
    webhook.close("exhausted")
    webhook.ok("off")
    done = webhook.ok("redeliver", "--since", "2026-01-01T00:00:00Z")
    way = f"`wmsd webhook on {webhook.id} --company {webhook.tenant.code}`"
    assert done.err.splitlines()[-1] == f"Queued, but webhook {webhook.id} is off: it is sent after {way}."


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Say what to send again: one DELIVERY by its id, or --since for all that are over."),
        (
            ["1", "--since", "2026-01-01T00:00:00Z"],
            "Say what to send again: one DELIVERY by its id, or --since for all that are over.",
        ),
        (["1", "--failed"], "--until and --failed go with --since."),
        (["1", "--until", "2026-01-01T00:00:00Z"], "--until and --failed go with --since."),
        (
            ["--since", "2026-01-02T00:00:00Z", "--until", "2026-01-01T00:00:00Z"],
            "--until must not be before --since.",
        ),
    ],
)
def test_a_choice_that_is_none(shared: Home, arguments: list[str], says: str) -> None:
    assert shared.misunderstood("webhook", "redeliver", "1", *arguments, "--company", "ACME") == f"Error: {says}"


@pytest.mark.parametrize("moment", ["2026-11-20", "2026-11-20T00:00:00", "yesterday", "9999-12-31T23:59:59-12:00"])
@pytest.mark.parametrize("command", ["deliveries", "redeliver"])
def test_a_moment_that_is_none(shared: Home, command: str, moment: str) -> None:
    assert shared.misunderstood("webhook", command, "1", "--since", moment, "--company", "ACME") == (
        "Error: Invalid value for '--since': must be a date and a time with its offset from UTC, such as "
        "2026-11-20T13:25:00Z or 2026-11-20T15:25:00+02:00"
    )


# --- on and off -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [("test", "{}"), ("deliveries", "{}"), ("deliveries", "1", "--before", "{}"), ("redeliver", "1", "{}")],
)
def test_an_id_that_none_can_have(shared: Home, arguments: tuple[str, ...]) -> None:
    given = (argument.format(10**20) for argument in arguments)
    assert "is not in the range" in shared.misunderstood("webhook", *given, "--company", "ACME")


def test_a_webhook_is_switched(webhook: Webhook) -> None:
    name = f"Webhook {webhook.id}"
    assert webhook.ok("off").err.splitlines()[-1] == (
        f"{name} is off. What is queued for it waits until it is on again."
    )
    make_events(webhook, 2)
    assert (webhook.shown["active"], webhook.statuses) == (False, [])
    assert webhook.ok("off").err.splitlines()[-1] == f"{name} was off already."
    assert webhook.ok("on").err.splitlines()[-1] == (
        f"{name} is on. What happened while it was off was not queued: GET /api/v2/events has it."
    )
    make_events(webhook, 1, "B")
    assert (webhook.shown["active"], webhook.statuses) == (True, ["pending"])
    assert webhook.ok("on").err.splitlines()[-1] == f"{name} was on already."


def test_switching_on_forgives(webhook: Webhook) -> None:
    webhook.mailbox.status = 410
    webhook.tenant.home.run(*webhook.arguments("test"))
    assert webhook.shown["switched_off_because"] == "The receiver answered 410 Gone."
    webhook.ok("on")
    shown = webhook.shown
    assert (shown["active"], shown["switched_off_because"], shown["failing_since"]) == (True, None, None)


# --- what is not there, and who may not -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "command", ["test", "deliveries", "redeliver 5", "redeliver --since 2026-01-01T00:00:00Z", "on", "off"]
)
def test_a_webhook_that_is_not_there(webhook: Webhook, command: str) -> None:
    name, *arguments = command.split()
    code, home = webhook.tenant.code, webhook.tenant.home
    assert home.refused("webhook", name, "77", *arguments, "--company", code) == (
        f"{code} has no webhook 77: `wmsd webhook list --company {code}` lists those that there are."
    )
    nobody = home.refused("webhook", name, "1", *arguments, "--company", "NOBODY")
    assert nobody == "There is no such company as NOBODY."


def test_a_delivery_that_is_not_there(webhook: Webhook) -> None:
    other = subscribe(webhook.tenant, webhook.mailbox.url, name="Other")
    delivery = webhook.json("test")["id"]
    way = f"`wmsd webhook deliveries {other.id} --company {webhook.tenant.code}`"
    assert webhook.tenant.home.refused(*other.arguments("redeliver", str(delivery))) == (
        f"Webhook {other.id} has no delivery {delivery}: {way} lists those that there are."
    )


def test_nothing_is_sent_without_the_module(webhook: Webhook) -> None:
    code, home = webhook.tenant.code, webhook.tenant.home
    delivery = webhook.json("test")["id"]
    home.ok("module", "disable", code, "webhooks")
    says = (
        f"Nothing is sent for {code}: the module webhooks is off. "
        f"To change that: wmsd module enable {code} api webhooks"
    )
    assert home.refused(*webhook.arguments("test")) == says
    assert home.refused(*webhook.arguments("redeliver", str(delivery))) == says
    assert home.ok("webhook", "list", "--company", code).err.splitlines()[-1] == says
    assert len(webhook.mailbox.letters) == 1


def test_a_sandbox_sends_when_its_operator_allows_it(site: Home, mailbox: Mailbox) -> None:
    site.ok("operator", "create", "SANDS", "--name", "Sands", "--sandbox")
    site.ok("company", "create", "BEACH", "--name", "Beach", "--operator", "SANDS", "--all-modules")
    webhook = subscribe(Tenant(site, "BEACH"), mailbox.url)
    assert site.refused(*webhook.arguments("test")) == (
        "Nothing is sent for BEACH: it is a sandbox, and its operator SANDS does not allow webhooks. "
        "To change that: wmsd operator change SANDS --webhooks"
    )
    site.ok("operator", "change", "SANDS", "--webhooks")
    webhook.ok("test")
    (letter,) = mailbox.letters
    assert letter.headers["x-threepl-sandbox"] == "true"


def test_a_sandbox_of_nobody_sends_nothing(site: Home, mailbox: Mailbox) -> None:
    site.ok("company", "create", "DESERT", "--name", "Desert", "--sandbox", "--all-modules")
    webhook = subscribe(Tenant(site, "DESERT"), mailbox.url)
    assert site.refused(*webhook.arguments("test")) == (
        "Nothing is sent for DESERT: it is a sandbox without an operator who allows webhooks. "
        "To change that: wmsd company change DESERT --no-sandbox"
    )


@pytest.mark.parametrize(
    "arguments", [("webhook", "list", "--company", "ACME"), ("billing", "ACME")], ids=lambda it: it[0]
)
def test_who_sends_nothing_does_not_import_http(shared: Home, arguments: tuple[str, ...]) -> None:
    names = imported(Home(shared.program, shared.folder), *arguments)
    assert "wmsd.companies.actions" in names
    assert not names & {"aiohttp", "uvloop", "apscheduler", "wmsd.webhooks.client"}
