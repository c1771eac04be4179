"""Rules for switching on or off the tracking of an article by serials.

Goods in stock or in documents can forbid the switch. This package must not import the packages for stock and
documents. So each of these packages declares its reasons as `Obstacle` objects.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Literal

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import invalid
from wmsd.db.engine.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A reason that forbids switching the tracking by serials on or off.

    `switched` is the forbidden switch: "on" or "off". `count` is a SELECT for the article `:id`. Its result is 0
    if the switch is allowed. If not, the result is the number of goods that forbid it, or just 1. `sentence` is
    the error text, which may contain `{count}`.
    """

    switched: Literal["on", "off"]
    count: str
    sentence: str


class Obstacles:
    """The obstacles of all packages, in the order in which `check` examines them. Code gets this object from
    `tx.service(Obstacles)`.
    """

    def __init__(self, of_all_rooms: Callable[[], Iterable[Obstacle]]) -> None:
        self._of_all_rooms = of_all_rooms

    @cached_property
    def every(self) -> list[Obstacle]:
        return list(self._of_all_rooms())

    def check(self, tx: Transaction, article_id: int, before: object, after: object) -> None:
        """Raise Problem (422) if the change switches the tracking by serials on or off, and an obstacle forbids
        the switch. The error has the text of the first obstacle that forbids it.

        `before` is true if the article was tracked by serials before the change. `after` is true if it will be
        tracked afterwards.
        """
        if bool(before) == bool(after):
            return
        switched = "on" if after else "off"
        for obstacle in self.every:
            if obstacle.switched == switched and (count := tx.value(obstacle.count, {"id": article_id})):
                sentence = obstacle.sentence.format(count=count)
                raise invalid({"track_serial": [f"cannot be switched {switched}: {sentence}"]})
