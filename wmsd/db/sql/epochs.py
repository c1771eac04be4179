"""The epochs of a company's history (decisions, section 11).

A restore cuts the history: what was written after the backup is gone, and the company goes on from there. So does
an import and a copy. Each cut begins an epoch. Cursors and webhook deliveries name the epoch that they belong to.
Seams say where numbers go on: those that the epoch before may have given are passed over.
"""

from typing import Final, NamedTuple

from wmsd.base.cursor import FIRST_EPOCH
from wmsd.db.engine.transaction import Transaction

HISTORIES: Final = frozenset({"events", "stock_movements", "packaging_movements", "webhook_deliveries"})
"""The tables whose ids tell the epoch that a row belongs to."""


class Epoch(NamedTuple):
    """`kept_up_to`: what was written until this moment is here; what the epoch before wrote later is not."""

    number: int
    name: str
    reason: str
    began_at: str | None
    kept_up_to: str | None


class Cut(NamedTuple):
    """Where an epoch begins in the numbers of a history: `last` is the last of the epochs before, `next` the first
    of this one. Numbers between them may have been given, and what they were given to is gone.
    """

    epoch: Epoch
    last: int
    next: int


class PlaceGone(Exception):
    """Whoever asks has read a history on from a place that is gone. `parameter` is what named that place; after
    `position` the history goes on.
    """

    def __init__(self, parameter: str, cut: Cut, position: int) -> None:
        super().__init__(parameter)
        self.parameter = parameter
        self.cut = cut
        self.position = position


COLUMNS: Final = "number, name, reason, began_at, kept_up_to"
CURRENT: Final = f"SELECT {COLUMNS} FROM epochs ORDER BY number DESC LIMIT 1"
CUTS: Final = f"""
    SELECT {COLUMNS}, last, next FROM seams JOIN epochs ON number = epoch
    WHERE numbers = ? AND began_at IS NOT NULL ORDER BY number
"""
IS_SEAM: Final = "SELECT EXISTS (SELECT 1 FROM seams WHERE numbers = ? AND last <= ? AND next >= ?)"


def current(tx: Transaction) -> Epoch:
    [row] = tx.rows(CURRENT)
    return Epoch(*row)


def cuts(tx: Transaction, numbers: str) -> list[Cut]:
    """The cuts of a history, by the name of its table, the oldest first."""
    return [Cut(Epoch(*epoch), last, first) for *epoch, last, first in tx.rows(CUTS, (numbers,))]


def cut_after(tx: Transaction, numbers: str, epoch: str) -> Cut | None:
    """The first cut after this epoch. Of an epoch that is not known here, because its file was lost, the last cut.
    None when nothing was cut.
    """
    found = cuts(tx, numbers)
    number = tx.value("SELECT number FROM epochs WHERE name = ?", (epoch,))
    if number is None:
        return found[-1] if found else None
    return next((each for each in found if each.epoch.number > number), None)


def is_passed_over(tx: Transaction, numbers: str, last: int, first: int) -> bool:
    """Whether nothing can stand between these two numbers, because an epoch begins there."""
    return bool(tx.value(IS_SEAM, (numbers, last, first)))


def epoch_of_sql(numbers: str, number: str) -> str:
    """The SQL for the name of the epoch that a number of the table `numbers` belongs to."""
    return f"""coalesce((
        SELECT name FROM seams JOIN epochs ON epochs.number = seams.epoch
        WHERE numbers = '{numbers}' AND began_at IS NOT NULL AND next <= {number}
        ORDER BY epochs.number DESC LIMIT 1
    ), '{FIRST_EPOCH}')"""
