"""The rows of `scripts/bench --against`, their verdicts, and their table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from benchmarks.size import sized

LIMIT: Final = 1.05
ROUNDS: Final = sized(9, 1)
Verdict = Literal["", "dearer", "too noisy"]
HEADER: Final = ("request", "there", "here", "ratio", "noise", "p50 ms", "p99 ms", "")


@dataclass
class Row:
    """A row of the table.

    `cost` has for each side the processor time of a request in microseconds, the least of all rounds. `latency`
    has for each side the 50th and the 99th percentile in milliseconds.
    """

    name: str
    cost: list[float]
    latency: list[tuple[float, float]] = field(default_factory=list)

    @property
    def noise(self) -> float:
        here, again, _ = self.cost
        return max(here, again) / min(here, again)

    @property
    def ratio(self) -> float:
        here, again, other = self.cost
        return min(here, again) / other

    @property
    def verdict(self) -> Verdict:
        if self.noise > 1 + (LIMIT - 1) / 2:
            return "too noisy"
        return "dearer" if self.ratio > LIMIT else ""


def table(rows: Sequence[Row], revision: str) -> str:
    lines = [list(HEADER), *(_cells(row) for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(HEADER))]
    shown = ("  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines)
    about = f"Microseconds of the processor for a request, here and at {revision}: the least of {ROUNDS} rounds."
    return "\n".join([about, *(line.rstrip() for line in shown)])


def markdown(rows: Sequence[Row], revision: str) -> str:
    """Return the table as Markdown, to be stored in the repository."""
    about = (
        f"Microseconds of the processor for a request, here and at {revision}: the least of {ROUNDS} rounds.\n\n"
    )
    lines = [HEADER, ["---"] * len(HEADER), *map(_cells, rows)]
    return about + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cells(row: Row) -> list[str]:
    here, again, other = row.cost
    latency = [f"{ours[which]:.2f} / {theirs[which]:.2f}" for ours, theirs in _latencies(row) for which in (0, 1)]
    return [
        row.name,
        f"{other:.0f}",
        f"{min(here, again):.0f}",
        f"{row.ratio:.3f}",
        f"{row.noise:.3f}",
        *(latency or ["", ""]),
        row.verdict,
    ]


def _latencies(row: Row) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    return [(row.latency[0], row.latency[2])] if row.latency else []
