"""Every command accepts a time in the same forms."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.command import Home
from wmsd.interfaces.cli.kit import moments

NOW = datetime(2026, 11, 25, 12, 30, tzinfo=UTC)
READ = {
    "90s": NOW - timedelta(seconds=90),
    "30m": NOW - timedelta(minutes=30),
    "1h": NOW - timedelta(hours=1),
    "2d": NOW - timedelta(days=2),
    "1w": NOW - timedelta(days=7),
    "2026-11-20": datetime(2026, 11, 20, tzinfo=UTC),
    "2026-11-20T13:25:00Z": datetime(2026, 11, 20, 13, 25, tzinfo=UTC),
    "2026-11-20T15:25:00+02:00": datetime(2026, 11, 20, 13, 25, tzinfo=UTC),
}
NONE = (
    "",
    "1x",
    "-1h",
    "yesterday",
    "2026",
    "2026-13-01",
    "2026-11-24T08:00:00",
    "99999999999d",
    "999999w",
    "1h\n",
)
COMMANDS = (
    ("audit", "--since"),
    ("audit", "--until"),
    ("logs", "--since"),
    ("webhook", "deliveries", "1", "--company", "ACME", "--since"),
    ("webhook", "redeliver", "1", "--company", "ACME", "--until"),
    ("packaging", "movements", "--company", "ACME", "--since"),
)


@pytest.mark.parametrize("text", READ)
def test_each_form_is_read(text: str) -> None:
    assert moments.read(text, NOW) == READ[text]


@pytest.mark.parametrize("text", NONE)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        moments.read(text, NOW)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_says_the_forms(shared: Home, command: tuple[str, ...]) -> None:
    told = " ".join(shared.misunderstood(*command, "yesterday").split())
    assert "'yesterday' is not a time. Give how long ago, such as 90s, 30m, 1h, 2d or 1w; a day" in told


def test_the_audit_takes_each_form(shared: Home) -> None:
    everything = shared.ok("audit", "--json").json
    assert everything
    for since in ("1d", "1w", "2020-01-01", "2020-01-01T00:00:00+02:00"):
        assert shared.ok("audit", "--since", since, "--json").json == everything
        assert shared.ok("audit", "--until", since, "--json").json == []
