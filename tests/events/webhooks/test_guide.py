"""Tests of the guide's page on webhooks: its receivers verify what the sender really sends, and its tables are
true.
"""

import base64
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from tests.events.webhooks.hooks import SECRET, Hooks
from tests.support.programs import program
from tests.support.receivers import Received
from wmsd import docs
from wmsd.base import strict_json
from wmsd.contract.route import RouteTable
from wmsd.contract.validation import validate_model
from wmsd.events.outbox.deliveries import ATTEMPTS
from wmsd.events.outbox.events import EVENTS
from wmsd.events.webhooks.rules import CREDENTIALS, MOST_SUBSCRIPTIONS, WAITS
from wmsd.events.webhooks.schema import DeliveryStatus
from wmsd.events.webhooks.sending.throttle import PER_SUBSCRIPTION
from wmsd.events.webhooks.signing import headers
from wmsd.interfaces.cli.main import wmsd
from wmsd.interfaces.service import ROUTES
from wmsd.settings.all_settings import Settings

GUIDE = (Path(docs.__file__).parent / "webhooks.md").read_text(encoding="utf-8")
PLAIN_SECRET = "a secret of letters, without a prefix"
NEW_SECRET = "whsec_" + base64.b64encode(b"the new secret, of 32 bytes, yes").decode()
STALE = timedelta(minutes=6)
LIBRARY_HEAD = "language | one line; it raises an error when the delivery is not genuine"


def block(language: str) -> str:
    """Return the only block of the guide in this language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    return str(found)


def table(head: str) -> list[list[str]]:
    """Return the cells of the rows of the table with this head."""
    rows = GUIDE.split(f"| {head} |\n", 1)[1].split("\n\n", 1)[0].splitlines()[1:]
    return [[cell.strip() for cell in row.strip("| ").split(" | ")] for row in rows]


def names(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", cell))


# --- the receivers --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Language:
    """A language of the guide.

    `harness` reads cases as JSON from standard input, and prints the verdict of the guide's function on each.
    """

    block: str
    program: str
    file: str
    before: str
    harness: str


LANGUAGES = {
    "Python": Language(
        "python",
        sys.executable,
        "receiver.py",
        "",
        """
import json, sys
cases = json.load(sys.stdin)
print(json.dumps([is_from_wmsd(c["secret"], c["headers"], base64.b64decode(c["body"])) for c in cases]))
""",
    ),
    "PHP": Language(
        "php",
        "php",
        "receiver.php",
        "<?php\n",
        """
$found = [];
foreach (json_decode(stream_get_contents(STDIN), true) as $case) {
    $found[] = is_from_wmsd($case['secret'], $case['headers'], base64_decode($case['body']));
}
echo json_encode($found);
""",
    ),
    "Node": Language(
        "js",
        "node",
        "receiver.js",
        "",
        """
const cases = JSON.parse(require('node:fs').readFileSync(0))
const found = cases.map((c) => isFromWmsd(c.secret, c.headers, Buffer.from(c.body, 'base64')))
console.log(JSON.stringify(found))
""",
    ),
}


@dataclass(frozen=True)
class Case:
    says: str
    secret: str
    headers: Mapping[str, str]
    body: bytes
    is_genuine: bool = False


def verdicts(language: Language, folder: Path, cases: list[Case]) -> list[bool]:
    """Run the guide's receiver in a separate process, and return its verdict on each case."""
    file = folder / language.file
    file.write_text(language.before + block(language.block) + language.harness, encoding="utf-8")
    given = [
        {"secret": case.secret, "headers": dict(case.headers), "body": base64.b64encode(case.body).decode()}
        for case in cases
    ]
    done = subprocess.run(
        [program(language.program), file], input=json.dumps(given), capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    found: list[bool] = json.loads(done.stdout)
    return found


async def at(hooks: Hooks, moment: datetime) -> None:
    """Set the installation's clock, because the receivers check the time with a real clock."""
    hooks.world.clock.wall = moment
    hooks.world.token = await hooks.world.new_token("admin@example.com")


async def next_one(hooks: Hooks) -> Received:
    count = len(hooks.received)
    await hooks.world.send("POST", "/api/articles", {"code": f"R{count}", "name": 'Café "32 ½", 漆器 🚚'})
    await hooks.received_count(count + 1)
    return hooks.received[-1]


async def real_cases(hooks: Hooks) -> list[Case]:
    """Return deliveries that were received over HTTP, and forgeries of them."""
    await at(hooks, datetime.now(UTC))
    webhook = await hooks.subscribe("article.created")
    real = await next_one(hooks)
    await hooks.change(webhook, secret=PLAIN_SECRET)
    plain = await next_one(hooks)
    await hooks.world.call("POST", f"/api/v2/webhooks/{webhook}/rotate-secret", {"secret": NEW_SECRET})
    rotated = await next_one(hooks)
    await at(hooks, datetime.now(UTC) - STALE)
    stale = await next_one(hooks)
    await at(hooks, datetime.now(UTC) + STALE)
    early = await next_one(hooks)
    now = real.headers["webhook-timestamp"]
    return [
        Case("it is genuine", SECRET, real.headers, real.body, True),
        Case("its secret is plain", PLAIN_SECRET, plain.headers, plain.body, True),
        Case("it is signed with the new secret", NEW_SECRET, rotated.headers, rotated.body, True),
        Case("and with the one before", PLAIN_SECRET, rotated.headers, rotated.body, True),
        Case("but with no other", SECRET, rotated.headers, rotated.body),
        Case("its body was changed", SECRET, real.headers, real.body.replace(b"32", b"33")),
        Case("something was added", SECRET, real.headers, real.body + b" "),
        Case("the secret is another", PLAIN_SECRET, real.headers, real.body),
        Case("the secret is like it", SECRET[:-1] + "x", real.headers, real.body),
        Case("the plain secret is another", PLAIN_SECRET + ".", plain.headers, plain.body),
        Case("it is of another event", SECRET, {**real.headers, "webhook-id": "0"}, real.body),
        Case("it is old", NEW_SECRET, stale.headers, stale.body),
        Case("it is made new", NEW_SECRET, {**stale.headers, "webhook-timestamp": now}, stale.body),
        Case("it is from the future", NEW_SECRET, early.headers, early.body),
        Case("it says no time", SECRET, {**real.headers, "webhook-timestamp": "soon"}, real.body),
        Case("its signature is short", SECRET, {**real.headers, "webhook-signature": "v1,"}, real.body),
        Case("its signature is empty", SECRET, {**real.headers, "webhook-signature": ""}, real.body),
        Case("it has no headers", SECRET, {}, real.body),
        Case("it is nothing at all", SECRET, {}, b""),
    ]


@pytest.mark.parametrize("name", LANGUAGES)
async def test_a_receiver_of_the_guide_takes_what_is_genuine_and_nothing_else(
    hooks: Hooks, tmp_path: Path, name: str
) -> None:
    cases = await real_cases(hooks)
    found = verdicts(LANGUAGES[name], tmp_path, cases)
    assert dict(zip([case.says for case in cases], found, strict=True)) == {
        case.says: case.is_genuine for case in cases
    }


async def test_the_library_line_of_the_guide_does_the_same(hooks: Hooks) -> None:
    lines = {language: line.strip("`") for language, line in table(LIBRARY_HEAD)}
    assert list(lines) == list(LANGUAGES)
    for case in await real_cases(hooks):
        if not case.secret.startswith("whsec_"):
            continue
        given = {"Webhook": Webhook, "secret": case.secret, "headers": case.headers, "body": case.body}
        if case.is_genuine:
            assert eval(lines["Python"], given) == json.loads(case.body)
        else:
            with pytest.raises(WebhookVerificationError):
                eval(lines["Python"], given)


# --- the tables -----------------------------------------------------------------------------------------------


def test_the_events_are_those_that_there_are() -> None:
    assert [event.strip("`") for event, _ in table("event | `data`")] == list(EVENTS)


def test_the_headers_are_those_that_are_sent() -> None:
    sent = headers(
        auth_type="hmac",
        credentials={"secret": SECRET},
        previous_secret=None,
        event_id="1",
        event="stock.low",
        attempt=1,
        sequence=1,
        seconds=0,
        body=b"{}",
        is_sandbox=True,
        epoch="2-5f3a9c07",
        sequence_gap="13-28",
    )
    told = {header.strip("`"): value for header, value in table("header | value")}
    assert told.keys() == sent.keys()
    for name in ("Content-Type", "User-Agent"):
        assert told[name] == f"`{sent[name]}`"


def test_the_ways_of_authentication_and_statuses_are_those_that_there_are() -> None:
    ways = {way.strip("`"): names(takes) for way, takes, _ in table("`auth_type` | takes | what is sent")}
    assert ways == {way: set(needed) for way, needed in CREDENTIALS.items()}
    assert [status.strip("`") for status, _ in table("status | means")] == list(get_args(DeliveryStatus))


def test_the_waits_and_limits_are_those_that_hold() -> None:
    waits = [f"{wait // 60_000} minutes" if wait >= 60_000 else f"{wait // 1000} seconds" for wait in WAITS]
    told = [when for _, when in table("attempt | comes")]
    assert len(told) == ATTEMPTS
    assert told[0] == "immediately"
    assert [when.split(" after ")[0] for when in told[1:]] == waits
    limits = dict(table("what | how much"))
    assert limits["webhooks of a company"] == str(MOST_SUBSCRIPTIONS)
    assert limits["attempts at a delivery"] == f"{ATTEMPTS}, each of at most 10 seconds"
    assert limits["deliveries to a receiver at the same time"] == str(PER_SUBSCRIPTION)


# --- the examples ---------------------------------------------------------------------------------------------


def test_the_requests_are_such_as_the_api_takes() -> None:
    example = re.compile(r"curl -X ([A-Z]+) \S*?(/api/\S+)[^`]*?<<END\n(.*?)\nEND", re.DOTALL)
    taken = set()
    for method, path, text in example.findall(GUIDE):
        route, _ = RouteTable(ROUTES).find(method, path)
        assert route.operation.body is not None
        document, errors = strict_json.parse_json(re.sub(r"\$[A-Z]+", SECRET, text).encode())
        validate_model(route.operation.body, document, errors)
        taken.add(route.operation.name)
    assert taken == {"create_webhook", "rotate_webhook_secret"}


def test_every_address_of_the_table_is_served() -> None:
    requests = [re.findall(r"`((?:[A-Z]+)? ?/?[^`]*)`", request) for request, _ in table("request | does")]
    for method, path in (each.split() for cell in requests for each in cell if "/" in each):
        RouteTable(ROUTES).find(method, path.replace("{id}", "1").replace("{delivery}", "2"))


def test_the_settings_are_such_as_there_are() -> None:
    settings = Settings.model_validate(tomllib.loads(block("toml")), strict=True)
    assert settings.webhooks.allow_http
    told = {name.strip("`") for name, _ in table("setting | allows")}
    assert told == set(type(settings.webhooks).model_fields)


def commands() -> list[str]:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    plain = "".join(text for language, text in blocks if not language)
    return re.findall(r"^wmsd (.+)$", plain, re.MULTILINE) + re.findall(r"`wmsd ([^`]+)`", GUIDE)


@pytest.mark.parametrize("line", commands())
def test_the_commands_are_understood(line: str) -> None:
    command: Any = wmsd
    arguments = shlex.split(line)
    context = click.Context(command, **wmsd.context_settings)
    while isinstance(command, click.Group):
        command = command.get_command(context, arguments.pop(0))
        assert command is not None
    command.make_context("wmsd", arguments, parent=context)
