"""The rules that decide which problems become alerts, and when alerts are over.

Tenants or a broken disk can cause many alerts of one kind. wmsd sends only the first of them. One additional alert
gives the number of the others, so a thousand companies on a broken disk do not cause a thousand messages.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.server.alerts.alerts_file import OpenAlert, Rise, Waiting
from wmsd.server.alerts.kinds import MORE

MOST_OF_KIND: Final = 20
LONGEST_FACT: Final = 300
AS_NOW: Final = frozenset({"why"})
"""The names of the facts that are updated while an alert is open. All other facts keep their first values."""
SETTLED: Final = timedelta(minutes=2)
"""A problem must be gone for this time before its alert is over. This way, a problem that comes and goes causes
only one alert.
"""
RISING: Final = timedelta(days=1)
MOST_WAITING: Final = 200
"""How many notices may wait for a channel. If there are more, the oldest notices are dropped."""
TRIED_FOR: Final = timedelta(days=1)
DELAYS: Final = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 5, 15))
"""How long wmsd waits before each further attempt to send a notice. The last delay applies to all later attempts.
"""


class Trouble(NamedTuple):
    kind: str
    subject: str
    facts: Mapping[str, str]


class Change(NamedTuple):
    """An alert that begins or is over."""

    alert: OpenAlert
    is_over: bool


def next_alerts(
    known: Sequence[OpenAlert], troubles: Sequence[Trouble], unknown: Collection[str], now: datetime
) -> tuple[list[OpenAlert], list[Change]]:
    """Return the alerts that are open now, and the changes: alerts that have just begun or are just over. `known`
    are the alerts that were open before. An open alert whose kind is in `unknown` stays open.
    """
    at = timestamps.to_text(now)
    by_key = {(each.kind, each.subject): each for each in known}
    there = {(each.kind, each.subject): each for each in _bounded(troubles, by_key)}
    still: list[OpenAlert] = []
    changes: list[Change] = []
    for key, alert in by_key.items():
        if key in there:
            still.append(_seen(alert, there[key]))
        elif alert.kind in unknown:
            still.append(alert)
        elif alert.gone_at is None or _since(alert.gone_at, now) < SETTLED:
            still.append(alert.model_copy(update={"gone_at": alert.gone_at or at}))
        else:
            changes.append(Change(alert, is_over=True))
    for key, trouble in there.items():
        if key not in by_key:
            begun = OpenAlert(kind=key[0], subject=key[1], facts=_short(trouble.facts), begun_at=at)
            still.append(begun)
            changes.append(Change(begun, is_over=False))
    return still, changes


def _seen(alert: OpenAlert, trouble: Trouble) -> OpenAlert:
    """Return `alert` with the present facts of its problem, which still exists.

    Only the facts in `AS_NOW` change, and the number in the additional alert of a kind. All other facts keep their
    first values.
    """
    now = _short(trouble.facts)
    then = (
        {} if alert.subject == MORE else {name: text for name, text in alert.facts.items() if name not in AS_NOW}
    )
    return alert.model_copy(update={"gone_at": None, "facts": {**now, **then}})


def _short(facts: Mapping[str, str]) -> dict[str, str]:
    return {name: value[:LONGEST_FACT] for name, value in facts.items()}


def _bounded(troubles: Sequence[Trouble], known: Collection[tuple[str, str]]) -> Iterator[Trouble]:
    """Yield at most `MOST_OF_KIND` problems of each kind. If a kind has more problems, also yield one problem with
    the number of the others.

    Problems with an open alert come first. So a new problem never ends the alert of another problem.
    """
    by_kind: dict[str, list[Trouble]] = {}
    for each in troubles:
        by_kind.setdefault(each.kind, []).append(each)
    for kind, found in by_kind.items():
        ordered = sorted(found, key=lambda each: (each.kind, each.subject) not in known)
        yield from ordered[:MOST_OF_KIND]
        if len(ordered) > MOST_OF_KIND:
            yield Trouble(kind, MORE, {"number": str(len(ordered) - MOST_OF_KIND)})


def risen(
    before: Mapping[int, Rise], counts: Mapping[int, int], companies: Collection[int], now: datetime
) -> dict[int, Rise]:
    """Return a `Rise` for each company: the number of webhook deliveries whose last attempt has failed, and when
    this number last grew.

    `before` is the previous result, and `counts` has the present numbers. A company that is missing in `counts`
    keeps its previous `Rise`. Companies that are not in `companies` are left out.
    """
    found = {company: rise for company, rise in before.items() if company in companies and company not in counts}
    for company, count in counts.items():
        rise = before.get(company)
        if count and company in companies:
            grows = rise is None or count > rise.count
            found[company] = Rise(count=count, at=timestamps.to_text(now) if grows or rise is None else rise.at)
    return found


def is_rising(rise: Rise, now: datetime) -> bool:
    return _since(rise.at, now) < RISING


def is_due(waiting: Waiting, now: datetime) -> bool:
    """Return True if the next attempt is due.

    If the clock was set back, the remaining wait may be longer than the longest delay. In this case, the attempt
    is due too.
    """
    if waiting.next_at is None:
        return True
    left = timestamps.from_text(waiting.next_at) - now
    return left <= timedelta(0) or left > DELAYS[-1]


def after_failure(waiting: Waiting, now: datetime) -> Waiting | None:
    """Return the notice with the time of its next attempt. Return None if wmsd stops trying to send the notice."""
    if _since(waiting.notice.at, now) >= TRIED_FOR:
        return None
    delay = DELAYS[min(waiting.attempts, len(DELAYS) - 1)]
    return waiting.model_copy(
        update={"attempts": waiting.attempts + 1, "next_at": timestamps.to_text(now + delay)}
    )


def _since(moment: str, now: datetime) -> timedelta:
    return now - timestamps.from_text(moment)
