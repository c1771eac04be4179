"""Rules about switching the tracking of an article by serials on or off.

Goods of the article, in stock or in documents, can forbid the change. This package must not import the packages
for stock and documents, so these packages contribute their reasons as `Obstacle` objects.
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

    `switched` says whether the reason forbids "on" or "off". `count` is a SELECT for the article `:id`: it returns
    0 if the switch is allowed, and otherwise 1 or the number of goods that forbid the switch. `sentence` may
    contain `{count}` for this number.
    """

    switched: Literal["on", "off"]
    count: str
    sentence: str


class Obstacles:
    """The obstacles that all packages contribute, in the order in which `check` looks at them. Code gets this
    object by `tx.service(Obstacles)`.
    """

    def __init__(self, of_all_rooms: Callable[[], Iterable[Obstacle]]) -> None:
        self._of_all_rooms = of_all_rooms

    @cached_property
    def every(self) -> list[Obstacle]:
        return list(self._of_all_rooms())

    def check(self, tx: Transaction, article_id: int, before: object, after: object) -> None:
        """Raise Problem (422) for the first obstacle, if the tracking by serials is switched on or off.

        `before` and `after` are true if the article is tracked by serials before and after the change.
        """
        if bool(before) == bool(after):
            return
        switched = "on" if after else "off"
        for obstacle in self.every:
            if obstacle.switched == switched and (count := tx.value(obstacle.count, {"id": article_id})):
                sentence = obstacle.sentence.format(count=count)
                raise invalid({"track_serial": [f"cannot be switched {switched}: {sentence}"]})
