"""`wmsd webhook list`, `test`, `on` and `off`, with a running receiver."""

import json
import socket
from contextlib import closing

import pytest

from tests.interfaces.cli.test_commands import imported
from tests.interfaces.cli.webhooks.scene import SECRET, Webhook, make_events, subscribe
from tests.support.command import Home, Tenant
from tests.support.mailbox import Mailbox

# --- list -----------------------------------------------------------------------------------------------------


def test_no_webhook_yet(installation: Home, tenant: Tenant) -> None:
    done = installation.ok("webhook", "list", "--company", tenant.code)
    hint = f"{tenant.code} has no webhooks yet. Create webhooks in the browser or over the API."
    assert (done.out, done.err.splitlines()[-1]) == ("", hint)
    assert installation.ok("webhook", "list", "--company", tenant.code, "--json").json == []


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
    assert done.err.splitlines()[-1] == "The receiver accepted the test event."
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
        (500, "The receiver answered 500. Only 200 to 299 means success."),
        (
            302,
            "The receiver answered 302. wmsd does not follow redirects: set the target of the redirect as "
            "the address of the webhook.",
        ),
        (410, "The receiver answered 410 Gone: it wants no more webhooks. wmsd has switched the webhook off."),
    ],
)
def test_a_test_that_is_not_taken(webhook: Webhook, status: int, because: str) -> None:
    webhook.mailbox.status = status
    done = webhook.tenant.home.run(*webhook.arguments("test"))
    assert (done.code, done.wrong) == (1, [f"The test event was not delivered. {because}"])
    assert f"answered      {status}\n" in done.out
    done = webhook.tenant.home.run(*webhook.arguments("test", "--json"))
    assert (done.code, done.json["status"]) == (1, "exhausted")
    assert len(webhook.mailbox.letters) == 2, "once for each"


def test_a_test_of_nobody(installation: Home, tenant: Tenant) -> None:
    with closing(socket.socket()) as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        webhook = subscribe(tenant, f"http://127.0.0.1:{port}/hook")
        done = installation.run(*webhook.arguments("test"))
    refused = f"The test event was not delivered. 127.0.0.1 refused the connection at port {port}."
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
        f"{name} is off. Queued webhook deliveries wait until the webhook is on again."
    )
    make_events(webhook, 2)
    assert (webhook.shown["active"], webhook.statuses) == (False, [])
    assert webhook.ok("off").err.splitlines()[-1] == f"{name} was already off."
    assert webhook.ok("on").err.splitlines()[-1] == (
        f"{name} is on. Events from the time when the webhook was off were not queued. The event log of "
        "the API has these events (see /docs/webhooks)."
    )
    make_events(webhook, 1, "B")
    assert (webhook.shown["active"], webhook.statuses) == (True, ["pending"])
    assert webhook.ok("on").err.splitlines()[-1] == f"{name} was already on."


def test_switching_on_forgives(webhook: Webhook) -> None:
    webhook.mailbox.status = 410
    webhook.tenant.home.run(*webhook.arguments("test"))
    assert webhook.shown["switched_off_because"] == "The receiver answered 410 Gone."
    webhook.ok("on")
    shown = webhook.shown
    assert (shown["active"], shown["switched_off_because"], shown["failing_since"]) == (True, None, None)


# --- unknown webhooks and missing rights ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "command", ["test", "deliveries", "redeliver 5", "redeliver --since 2026-01-01T00:00:00Z", "on", "off"]
)
def test_a_webhook_that_is_not_there(webhook: Webhook, command: str) -> None:
    name, *arguments = command.split()
    code, home = webhook.tenant.code, webhook.tenant.home
    assert home.refused("webhook", name, "77", *arguments, "--company", code) == (
        f"{code} has no webhook 77. To list the webhooks: wmsd webhook list --company {code}"
    )
    nobody = home.refused("webhook", name, "1", *arguments, "--company", "NOBODY")
    assert nobody == "There is no such company as NOBODY."


def test_a_delivery_that_is_not_there(webhook: Webhook) -> None:
    other = subscribe(webhook.tenant, webhook.mailbox.url, name="Other")
    delivery = webhook.json("test")["id"]
    way = f"wmsd webhook deliveries {other.id} --company {webhook.tenant.code}"
    assert webhook.tenant.home.refused(*other.arguments("redeliver", str(delivery))) == (
        f"Webhook {other.id} has no delivery {delivery}. To list the deliveries: {way}"
    )


def test_nothing_is_sent_without_the_module(webhook: Webhook) -> None:
    code, home = webhook.tenant.code, webhook.tenant.home
    delivery = webhook.json("test")["id"]
    home.ok("module", "disable", code, "webhooks")
    says = (
        f"wmsd sends no webhooks for {code}: the module webhooks is off. To change this: wmsd module "
        f"enable {code} webhooks"
    )
    assert home.refused(*webhook.arguments("test")) == says
    assert home.refused(*webhook.arguments("redeliver", str(delivery))) == says
    assert home.ok("webhook", "list", "--company", code).err.splitlines()[-1] == says
    assert len(webhook.mailbox.letters) == 1


def test_a_sandbox_sends_when_its_operator_allows_it(installation: Home, mailbox: Mailbox) -> None:
    installation.ok("operator", "create", "SANDS", "--name", "Sands", "--sandbox")
    installation.ok("company", "create", "BEACH", "--name", "Beach", "--operator", "SANDS", "--all-modules")
    webhook = subscribe(Tenant(installation, "BEACH"), mailbox.url)
    assert installation.refused(*webhook.arguments("test")) == (
        "wmsd sends no webhooks for BEACH: the company is a sandbox, and its operator SANDS does not "
        "allow webhooks. To change this: wmsd operator change SANDS --webhooks"
    )
    installation.ok("operator", "change", "SANDS", "--webhooks")
    webhook.ok("test")
    (letter,) = mailbox.letters
    assert letter.headers["x-threepl-sandbox"] == "true"


def test_a_sandbox_of_nobody_sends_nothing(installation: Home, mailbox: Mailbox) -> None:
    installation.ok("company", "create", "DESERT", "--name", "Desert", "--sandbox", "--all-modules")
    webhook = subscribe(Tenant(installation, "DESERT"), mailbox.url)
    assert installation.refused(*webhook.arguments("test")) == (
        "wmsd sends no webhooks for DESERT: the company is a sandbox, and has no operator who allows "
        "webhooks. To change this: wmsd company change DESERT --no-sandbox"
    )


@pytest.mark.parametrize(
    "arguments", [("webhook", "list", "--company", "ACME"), ("billing", "ACME")], ids=lambda it: it[0]
)
def test_who_sends_nothing_does_not_import_http(shared: Home, arguments: tuple[str, ...]) -> None:
    names = imported(Home(shared.program, shared.folder), *arguments)
    assert "wmsd.tenants.companies.actions" in names
    assert not names & {"aiohttp", "uvloop", "apscheduler", "wmsd.http_client.client"}
