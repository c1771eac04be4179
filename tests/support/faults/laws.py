"""The laws that must hold whatever breaks."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tests.support.faults.load import Asked, Told

SLOWEST: Final = 0.5
"""The most seconds for 99 of 100 requests of companies that the fault does not affect."""
WHOLE_SECONDS: Final = 10.0
"""The time after the end of a fault in which requests may still be refused, in seconds."""
STOP_SECONDS: Final = 5.0
MOST_LISTED: Final = 2
"""The most log lines with the same sentence, apart from numbers and the reason: a thing may fail in two ways."""
WARNING: Final = re.compile(r"^\S+ \S+ (?:warning|error|critical) +(.*)$", re.MULTILINE)
AS_ROOT: Final = "wmsd runs as root"


def of_writes(asked: Iterable[Asked], stored: Counter[str]) -> Iterator[str]:
    """Yield a sentence for each write whose answer is wrong. `stored` says how many times each order is stored."""
    for each in asked:
        times = stored[each.name] if each.name else 0
        if each.told is Told.DONE and each.name and times != 1:
            yield f"{each.name} was acknowledged, and is there {times} times."
        elif each.told is Told.REFUSED and times:
            yield f"{each.name} was refused ({each.answer}), and is there {times} times."
        elif times > 1:
            yield f"{each.name} is there {times} times."


def of_answers(asked: Iterable[Asked]) -> Iterator[str]:
    for each in asked:
        if each.told in (Told.HANGING, Told.WRONG):
            yield f"{each.form} was {each.told.value}: {each.answer}."


def of_others(asked: Sequence[Asked]) -> Iterator[str]:
    """Yield a sentence for each kind of failed request. `asked` has the requests of companies that the fault does
    not affect.
    """
    for sentence, times in Counter(
        f"{each.form} of a company that was not struck was {each.told.value}: {each.answer}"
        for each in asked
        if each.told is not Told.DONE
    ).items():
        yield f"{sentence} ({times} times)."


def of_times(asked: Sequence[Asked]) -> Iterator[str]:
    """Yield a sentence if the requests are too slow. `asked` is as in `of_others`."""
    if (took := slowest(asked, 0.99)) > SLOWEST:
        yield f"99 of 100 requests of companies that were not struck took {took * 1000:.0f} ms."


def slowest(asked: Sequence[Asked], share: float) -> float:
    """Return the seconds within which this share of the requests was answered; 0.99 means 99 of 100."""
    ordered = sorted(each.seconds for each in asked)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def warnings(log: str) -> list[str]:
    """Return the warnings of the log, without their times and requests."""
    found = (line.partition(" request=")[0] for line in WARNING.findall(log))
    return [line for line in found if AS_ROOT not in line]


def of_log(log: str, told: str) -> Iterator[str]:
    """Yield a sentence for each broken law of the log.

    `told` is what a line must contain, as a regular expression, or empty if nothing needs to be logged.
    """
    lines = warnings(log)
    if "Traceback" in log:
        yield f"The log has a trace: {log[log.index('Traceback') :][:1500]}"
    if told and not any(re.search(told, line) for line in lines):
        yield f"The log does not say {told!r}: {lines[:5]}."
    for sentence, times in Counter(re.sub(r"\d+", "#", line.partition("; ")[0]) for line in lines).items():
        if times > MOST_LISTED:
            yield f"The log says {times} times: {sentence}"
