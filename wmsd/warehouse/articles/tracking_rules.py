"""Rules about switching the tracking of an article by serials on or off.

Goods of the article can forbid the switch. This package does not know the packages with the goods, so each of
those packages contributes its obstacles.
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

    `count` is a SELECT that returns how many goods of the article (`:id`) forbid the switch, or whether any do.
    `sentence` may contain `{count}` for that number.
    """

    switched: Literal["on", "off"]
    count: str
    sentence: str


class Obstacles:
    """The obstacles of all packages, in the order in which they are checked. The installation provides this
    object.
    """

    def __init__(self, of_all_rooms: Callable[[], Iterable[Obstacle]]) -> None:
        self._of_all_rooms = of_all_rooms

    @cached_property
    def every(self) -> list[Obstacle]:
        return list(self._of_all_rooms())

    def check(self, tx: Transaction, article_id: int, before: object, after: object) -> None:
        """Raise Problem (422) for the first obstacle, if the tracking by serials is switched on or off.

        `before` and `after` say whether the article is tracked by serials.
        """
        if bool(before) == bool(after):
            return
        switched = "on" if after else "off"
        for obstacle in self.every:
            if obstacle.switched == switched and (count := tx.value(obstacle.count, {"id": article_id})):
                sentence = obstacle.sentence.format(count=count)
                raise invalid({"track_serial": [f"cannot be switched {switched}: {sentence}"]})
