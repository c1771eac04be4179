"""Which troubles become alerts, and when they are over. Pure decisions.

Of a kind that tenants or a broken disk can make many of, some are told one by one, and the rest by their number:
so a thousand companies on one disk are not a thousand messages.
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
"""The facts of an open alert that follow what is seen."""
SETTLED: Final = timedelta(minutes=2)
"""So long a trouble must be gone, so that one that comes and goes is told once."""
RISING: Final = timedelta(days=1)
MOST_WAITING: Final = 200
"""Notices of one way. Of more, the oldest are given up."""
TRIED_FOR: Final = timedelta(days=1)
DELAYS: Final = tuple(timedelta(minutes=minutes) for minutes in (1, 2, 5, 15))
"""Before the next attempts; the last one counts from then on."""


class Trouble(NamedTuple):
    kind: str
    subject: str
    facts: Mapping[str, str]


class Change(NamedTuple):
    """An alert that begins, or is over."""

    alert: OpenAlert
    is_over: bool


def next_alerts(
    known: Sequence[OpenAlert], troubles: Sequence[Trouble], unknown: Collection[str], now: datetime
) -> tuple[list[OpenAlert], list[Change]]:
    """The alerts that are open from now on, and what has changed. Kinds that are `unknown` at the moment stay."""
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
    """It is there still. The pages show why, and how many more there are, as it is now; the rest stays as it was
    when it began.
    """
    now = _short(trouble.facts)
    then = (
        {} if alert.subject == MORE else {name: text for name, text in alert.facts.items() if name not in AS_NOW}
    )
    return alert.model_copy(update={"gone_at": None, "facts": {**now, **then}})


def _short(facts: Mapping[str, str]) -> dict[str, str]:
    return {name: value[:LONGEST_FACT] for name, value in facts.items()}


def _bounded(troubles: Sequence[Trouble], known: Collection[tuple[str, str]]) -> Iterator[Trouble]:
    """Those that are known already come first, so that none is over because another one has begun."""
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
    """What is remembered of deliveries that were given up. A company whose figures are not known now stays."""
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
    """Also when the clock was set back meanwhile: nothing waits longer than the longest delay."""
    if waiting.next_at is None:
        return True
    left = timestamps.from_text(waiting.next_at) - now
    return left <= timedelta(0) or left > DELAYS[-1]


def after_failure(waiting: Waiting, now: datetime) -> Waiting | None:
    """The notice with its next attempt; None when it is given up."""
    if _since(waiting.notice.at, now) >= TRIED_FOR:
        return None
    delay = DELAYS[min(waiting.attempts, len(DELAYS) - 1)]
    return waiting.model_copy(
        update={"attempts": waiting.attempts + 1, "next_at": timestamps.to_text(now + delay)}
    )


def _since(moment: str, now: datetime) -> timedelta:
    return now - timestamps.from_text(moment)
