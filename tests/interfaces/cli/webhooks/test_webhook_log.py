"""`wmsd webhook deliveries` and `redeliver`, with a running receiver."""

import pytest

from tests.interfaces.cli.webhooks.scene import Webhook, make_events
from tests.support.command import Home

UNLIMITED = {"WMSD_LIMITS_DATA_PER_MINUTE": "100000"}


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
        f"Listed 2 deliveries: continue with --before {last}."
    )
    assert webhook.ok("deliveries", "--status", "held").err.splitlines()[-1] == "No webhook deliveries found."


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
        "Queued. A running server starts to send within a second. If no server is running, wmsd sends "
        "when the server runs again."
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
        assert webhook.tenant.home.ok(*webhook.arguments("test")).err.splitlines()[-1] == (
            "The receiver accepted the test event."
        )


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
    assert nothing.err.splitlines()[-1] == "No finished webhook deliveries match, so nothing is sent again."
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
    way = f"wmsd webhook on {webhook.id} --company {webhook.tenant.code}"
    assert done.err.splitlines()[-1] == (
        f"Queued, but webhook {webhook.id} is off. To send, switch the webhook on: {way}"
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Give one DELIVERY by its id, or --since for all finished deliveries."),
        (
            ["1", "--since", "2026-01-01T00:00:00Z"],
            "Give one DELIVERY by its id, or --since for all finished deliveries.",
        ),
        (["1", "--failed"], "Use --until and --failed only with --since."),
        (["1", "--until", "2026-01-01T00:00:00Z"], "Use --until and --failed only with --since."),
        (
            ["--since", "2026-01-02T00:00:00Z", "--until", "2026-01-01T00:00:00Z"],
            "--until must not be before --since.",
        ),
    ],
)
def test_a_choice_that_is_none(shared: Home, arguments: list[str], says: str) -> None:
    assert shared.misunderstood("webhook", "redeliver", "1", *arguments, "--company", "ACME") == f"Error: {says}"


@pytest.mark.parametrize("moment", ["2026-11-31", "2026-11-20T00:00:00", "yesterday", "9999-12-31T23:59:59-12:00"])
@pytest.mark.parametrize("command", ["deliveries", "redeliver"])
def test_a_moment_that_is_none(shared: Home, command: str, moment: str) -> None:
    assert shared.misunderstood("webhook", command, "1", "--since", moment, "--company", "ACME").startswith(
        f"Error: Invalid value for '--since': '{moment}' is not a time. Give how long ago, such as "
    )
