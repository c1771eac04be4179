"""The metrics of a running server as text, for `wmsd status`."""

import shlex
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from wmsd.base.byte_sizes import size_text
from wmsd.data_folder.clock_verdict import REMEDY
from wmsd.dispatch.freezes import LONG, age, freeze_sentence
from wmsd.server.figures.schema import ServerFigures

SLOW_LOOP_SECONDS: Final = 1.0
MOST_NAMED: Final = 5
WORTH_NAMING: Final = 0.01
"""The least use of a processor that is listed: 0.01 is one percent."""
NONE_RUNS: Final = "no server answers"


def figure_rows(figures: ServerFigures) -> dict[str, Any]:
    """Return the lines of the output as a dict. The keys are the names of the lines."""
    minute, logs, waiting = figures.last_minute, figures.logs, figures.deliveries
    seconds, number = waiting.oldest_seconds, waiting.without_credentials
    oldest = "" if seconds is None else f", the oldest for {timedelta(seconds=int(seconds))}"
    without = f", {number} wait for webhook credentials" if number else ""
    return {
        "up": str(timedelta(seconds=int(figures.up_seconds))),
        "requests": f"{minute.requests} in the last {minute.seconds:.0f} s{_times(figures)}",
        "event loop": f"{_milliseconds(figures.loop.lag_seconds)} late, at most "
        f"{_milliseconds(figures.loop.most_lag_seconds)}",
        "open companies": figures.companies.open,
        "deliveries": f"{waiting.waiting} waiting{oldest}, {waiting.given_up} no longer tried{without}",
        "logs": f"write-ahead logs (-wal) of open files: {size_text(logs.bytes)}, "
        f"the largest {size_text(logs.largest_bytes)}"
        + ("" if logs.largest_of is None else f" ({logs.largest_of})"),
        "memory": size_text(figures.process.memory_bytes),
        "open files": f"{figures.process.open_files} of {figures.process.most_open_files}",
        "most work": _most_work(figures),
        "signed in": f"{figures.sessions}, {figures.event_streams} with a live page",
    }


def _most_work(figures: ServerFigures) -> str:
    """Return the companies and users that used at least 1 % of a processor in the last minute.

    The text also says how many requests of each were refused.
    """
    named = [
        f"{each.name} {each.lately * 100:.0f} percent{f' ({each.refused} refused)' if each.refused else ''}"
        for payers in (figures.costs.companies, figures.costs.people)
        for each in payers
        if each.lately >= WORTH_NAMING
    ]
    return ", ".join(named[:MOST_NAMED]) or "no one above 1 percent"


def companies(figures: ServerFigures) -> dict[str, Any]:
    """Return the lines about companies whose files cannot be used or cannot be written, as a dict. The keys are
    the names of the lines.
    """
    found = {"cannot be used": figures.companies.unavailable, "cannot be written": figures.companies.read_only}
    return {name: _named(codes) for name, codes in found.items() if codes}


def frozen(figures: ServerFigures | None, known: Mapping[str, str]) -> dict[str, Any]:
    """Return the line about frozen companies: which companies, and how long they have been frozen. Return an empty
    dict if no company is frozen.

    `figures` are the metrics of the running server. If no server runs, `figures` is None, and `known` is used: the
    start of each freeze by company code, from platform.db.
    """
    found, now = _frozen(figures, known), datetime.now(UTC)
    return (
        {"frozen": _named([freeze_sentence(code, since, now) for code, since in found.items()])} if found else {}
    )


def suspended(figures: ServerFigures | None, known: Mapping[str, str]) -> dict[str, Any]:
    """Return the line about suspended companies, which nobody may use. Return an empty dict if there are none.

    `known` has the start of each suspension by company code, and is used if `figures` is None.
    """
    found = known if figures is None else {each.code: each.since for each in figures.companies.suspended}
    return {"suspended": _named([f"{code} since {since}" for code, since in found.items()])} if found else {}


def _frozen(figures: ServerFigures | None, known: Mapping[str, str]) -> Mapping[str, str]:
    return known if figures is None else {each.code: each.since for each in figures.companies.frozen}


def forgotten(figures: ServerFigures | None, known: Mapping[str, str]) -> list[str]:
    """Return a sentence for each company that has been frozen for a long time. For `known`, see `frozen`."""
    now = datetime.now(UTC)
    return [
        f"{code} has been frozen since {since} and accepts no changes. Finish the move and delete the "
        f"company here, or end the freeze: wmsd company thaw {shlex.quote(code)}"
        for code, since in _frozen(figures, known).items()
        if age(since, now) >= LONG
    ]


def conditions_of_server(figures: ServerFigures) -> list[str]:
    """Return a sentence for each problem of the server that needs a person."""
    companies, off, lag = figures.companies, figures.deliveries.switched_off, figures.loop.lag_seconds
    found = (
        (
            companies.unavailable,
            f"The files of these companies cannot be used: {_named(companies.unavailable)}. "
            "The log and wmsd doctor say why.",
        ),
        (
            companies.read_only,
            f"The files of these companies cannot be written: {_named(companies.read_only)}. Check the disk "
            "and the log.",
        ),
        (
            off,
            f"Webhooks switched off because their receivers failed for days: {off}. The pages of their "
            "companies show which.",
        ),
        (figures.clock_wrong, f"{figures.clock_wrong} {REMEDY}"),
        (lag > SLOW_LOOP_SECONDS, f"Requests wait: the event loop is {lag:.1f} s late."),
    )
    return [sentence for is_so, sentence in found if is_so]


def line(figures: ServerFigures | None, troubles: list[str]) -> str:
    """Return the status in one line, for a file or another program. `troubles` are sentences about problems."""
    parts = [NONE_RUNS] if figures is None else _parts(figures)
    return "  ".join([f"{datetime.now().astimezone():%H:%M:%S}", *parts, *troubles])


def _parts(figures: ServerFigures) -> list[str]:
    minute = figures.last_minute
    return [
        f"requests {minute.requests}/{minute.seconds:.0f}s{_times(figures)}",
        f"open {figures.companies.open}/{figures.companies.known}",
        f"waiting {figures.deliveries.waiting}",
        f"largest log {size_text(figures.logs.largest_bytes)}",
        f"memory {size_text(figures.process.memory_bytes)}",
        f"loop {_milliseconds(figures.loop.lag_seconds)}",
    ]


def _times(figures: ServerFigures) -> str:
    minute = figures.last_minute
    if minute.p50_seconds is None or minute.p99_seconds is None:
        return ""
    return f", p50 {_milliseconds(minute.p50_seconds)}, p99 {_milliseconds(minute.p99_seconds)}"


def _named(codes: list[str]) -> str:
    more = f" and {len(codes) - MOST_NAMED} more" if len(codes) > MOST_NAMED else ""
    return f"{', '.join(codes[:MOST_NAMED])}{more}"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
