"""The epochs of a company's history (decisions, section 11).

A restore cuts the history: everything that was written after the backup is lost, and the company continues from
the state of the backup. Importing or copying a company cuts the history too. Each cut begins an epoch. Cursors and
webhook deliveries contain the name of their epoch.

A new epoch skips the ids that the previous epoch may have used. A row of the table `seams` says with which id a
table continues.
"""

from typing import Final, NamedTuple

from wmsd.base.cursor import FIRST_EPOCH
from wmsd.db.engine.transaction import Transaction

HISTORIES: Final = frozenset({"events", "stock_movements", "packaging_movements", "webhook_deliveries"})
"""The tables whose rows belong to an epoch. The epoch of a row follows from its id."""


class Epoch(NamedTuple):
    """An epoch of the history.

    `kept_up_to` is a time in the previous epoch. The history up to this time is complete. Everything that was
    written later in the previous epoch is lost. `began_at` and `kept_up_to` are None for the first epoch, which
    begins when the company is created.
    """

    number: int
    name: str
    reason: str
    began_at: str | None
    kept_up_to: str | None


class Cut(NamedTuple):
    """The place in the history of one table at which an epoch begins.

    `last` is the last id of the previous epochs, and `next` is the first id of the new epoch. Ids in between may
    have been used, and their rows are lost.
    """

    epoch: Epoch
    last: int
    next: int


class PlaceGone(Exception):
    """The error for a client that reads a history from a position whose rows are lost.

    `parameter` is the request parameter that contains this position. The history continues after `position`.
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
    """Return the cuts of the history in the table `numbers`, the oldest first."""
    return [Cut(Epoch(*epoch), last, first) for *epoch, last, first in tx.rows(CUTS, (numbers,))]


def cut_after(tx: Transaction, numbers: str, epoch: str) -> Cut | None:
    """Return the first cut after the epoch with the name `epoch`, or None if there is no later cut. `numbers` is
    the name of the history's table.

    If this file does not know the epoch, return the last cut. This happens if the file that knew it was lost.
    """
    found = cuts(tx, numbers)
    number = tx.value("SELECT number FROM epochs WHERE name = ?", (epoch,))
    if number is None:
        return found[-1] if found else None
    return next((each for each in found if each.epoch.number > number), None)


def is_passed_over(tx: Transaction, numbers: str, last: int, first: int) -> bool:
    """Return True if a new epoch begins between the ids `last` and `first` of the table `numbers`. The ids between
    them were then skipped, and no row is missing.
    """
    return bool(tx.value(IS_SEAM, (numbers, last, first)))


def epoch_of_sql(numbers: str, number: str) -> str:
    """Return an SQL expression for the name of an epoch. `number` is the SQL of an id in the table `numbers`."""
    return f"""coalesce((
        SELECT name FROM seams JOIN epochs ON epochs.number = seams.epoch
        WHERE numbers = '{numbers}' AND began_at IS NOT NULL AND next <= {number}
        ORDER BY epochs.number DESC LIMIT 1
    ), '{FIRST_EPOCH}')"""
