"""The rules of alerts: when they start and end, how many there are, and how long wmsd tries to send them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from wmsd.base import timestamps
from wmsd.server.alerts.alerts_file import Notice, OpenAlert, Rise, Waiting
from wmsd.server.alerts.kinds import BACKUP, COMPANY_DOWN, KINDS, MORE, alert_pattern, alert_sentence
from wmsd.server.alerts.rules import (
    DELAYS,
    LONGEST_FACT,
    MOST_OF_KIND,
    RISING,
    SETTLED,
    TRIED_FOR,
    Change,
    Trouble,
    after_failure,
    is_due,
    is_rising,
    next_alerts,
    risen,
)

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LATE = Trouble(BACKUP.name, "", {"why": "no backup since 02:30"})


def down(*companies: int) -> list[Trouble]:
    return [Trouble(COMPANY_DOWN.name, str(each), {"company": f"C{each}", "why": "gone."}) for each in companies]


def told(changes: Sequence[Change]) -> list[tuple[str, str, bool]]:
    return [(each.alert.kind, each.alert.subject, each.is_over) for each in changes]


def test_a_trouble_begins_once_and_is_over_once() -> None:
    known, changes = next_alerts([], [LATE], (), NOW)
    assert told(changes) == [("backup", "", False)]
    known, changes = next_alerts(known, [LATE], (), NOW + SECOND)
    assert changes == []
    known, changes = next_alerts(known, [], (), NOW + 2 * SECOND)
    assert changes == []
    known, changes = next_alerts(known, [], (), NOW + 2 * SECOND + SETTLED)
    assert (known, told(changes)) == ([], [("backup", "", True)])


def test_what_comes_and_goes_is_told_once() -> None:
    known, _ = next_alerts([], [LATE], (), NOW)
    for minute in range(1, 60):
        there = [LATE] if minute % 2 else []
        known, changes = next_alerts(known, there, (), NOW + timedelta(minutes=minute))
        assert changes == []


def test_what_nobody_can_tell_of_now_is_not_over() -> None:
    known, _ = next_alerts([], [LATE], (), NOW)
    for hour in range(1, 4):
        known, changes = next_alerts(known, [], {"backup"}, NOW + timedelta(hours=hour))
        assert changes == []
        assert known[0].gone_at is None


def test_a_thousand_companies_are_twenty_messages_and_a_number() -> None:
    known, changes = next_alerts([], down(*range(1, 1001)), (), NOW)
    assert len(changes) == MOST_OF_KIND + 1
    assert changes[-1].alert.subject == MORE
    assert changes[-1].alert.facts == {"number": str(1000 - MOST_OF_KIND)}
    known, changes = next_alerts(known, down(*range(1, 2001)), (), NOW + SECOND)
    assert changes == []
    assert [each.facts for each in known if each.subject == MORE] == [{"number": str(2000 - MOST_OF_KIND)}]


def test_a_new_one_does_not_end_a_known_one() -> None:
    known, _ = next_alerts([], down(*range(100, 100 + MOST_OF_KIND)), (), NOW)
    known, changes = next_alerts(known, down(*range(1, 200)), (), NOW + SECOND)
    assert told(changes) == [("company-down", MORE, False)]
    assert {each.subject for each in known} == {*map(str, range(100, 100 + MOST_OF_KIND)), MORE}


def test_why_it_is_so_follows_what_is_seen_and_figures_stay_as_they_began() -> None:
    fills = Trouble("disk-fills", "", {"free": "900"})
    known, _ = next_alerts([], [LATE, fills], (), NOW)
    seen = [Trouble("backup", "", {"why": "the newest is damaged"}), Trouble("disk-fills", "", {"free": "100"})]
    known, changes = next_alerts(known, seen, (), NOW + SECOND)
    assert changes == [], "it is the same alert, and told already"
    assert [each.facts for each in known] == [{"why": "the newest is damaged"}, {"free": "900"}]


def test_facts_are_bounded() -> None:
    known, _ = next_alerts([], [Trouble("backup", "", {"why": "x" * 10_000})], (), NOW)
    assert len(known[0].facts["why"]) == LONGEST_FACT


def test_deliveries_are_told_while_more_are_given_up() -> None:
    rises = risen({}, {1: 3, 2: 0}, {1, 2}, NOW)
    assert rises == {1: Rise(count=3, at=timestamps.to_text(NOW))}
    later = NOW + RISING
    assert is_rising(rises[1], later - SECOND)
    assert not is_rising(rises[1], later)
    assert risen(rises, {1: 2}, {1, 2}, later)[1] == Rise(count=2, at=timestamps.to_text(NOW))
    assert risen(rises, {1: 4}, {1, 2}, later)[1] == Rise(count=4, at=timestamps.to_text(later))
    assert risen(rises, {1: 0}, {1, 2}, later) == {}


def test_a_company_whose_figures_are_not_known_stays_and_one_that_is_gone_goes() -> None:
    rises = {1: Rise(count=3, at=timestamps.to_text(NOW)), 2: Rise(count=1, at=timestamps.to_text(NOW))}
    assert risen(rises, {}, {1}, NOW) == {1: rises[1]}
    assert risen({}, {9: 5}, {1}, NOW) == {}


def waiting(at: datetime = NOW) -> Waiting:
    moment = timestamps.to_text(at)
    return Waiting(notice=Notice(id="a", number=1, event="alert.begun", kind="backup", begun_at=moment, at=moment))


def test_a_notice_is_tried_for_a_day_and_then_given_up() -> None:
    now, each, attempts = NOW, waiting(), 0
    assert is_due(each, now)
    while again := after_failure(each, now):
        assert not is_due(again, now)
        now, each, attempts = timestamps.from_text(again.next_at or ""), again, attempts + 1
        assert is_due(each, now)
    assert TRIED_FOR <= now - NOW <= TRIED_FOR + DELAYS[-1]
    assert attempts == len(DELAYS) + (TRIED_FOR - sum(DELAYS, timedelta())) // DELAYS[-1] + 1


def test_a_clock_that_was_set_back_holds_nothing_up() -> None:
    again = after_failure(waiting(), NOW)
    assert again is not None
    assert is_due(again, NOW - timedelta(days=300))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_sentence_can_be_said_without_its_facts(kind: object) -> None:
    """A file of another version may lack the facts."""
    name = getattr(kind, "name", "")
    for is_over in (False, True):
        assert "%" not in alert_sentence(name, "1", {}, is_over)
    assert alert_sentence("of a later version", "", {}) == "of a later version"


def test_kinds_of_which_there_are_many_have_a_sentence_for_the_rest() -> None:
    many = {"company-down", "company-fills", "deliveries-given-up", "token-expires"}
    assert {kind.name for kind in KINDS if alert_pattern(kind, MORE, False)} == many
    assert {kind.name for kind in KINDS if alert_pattern(kind, MORE, True)} == many
    assert OpenAlert(kind="x", begun_at="").subject == ""
