"""Whether the tracking of an article by serials may be switched on or off.

Goods of the article can forbid it. They are in rooms that this one does not know, so each room contributes its
obstacles.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Literal

from wmsd.base.dataclass import dataclass
from wmsd.base.problems import invalid
from wmsd.db.engine.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Obstacle:
    """`count` is a SELECT: how many goods of the article (`:id`) forbid the switch, or whether any do. `sentence`
    may show the number as `{count}`.
    """

    switched: Literal["on", "off"]
    count: str
    sentence: str


class Obstacles:
    """The obstacles that all rooms contribute, in the order in which they are checked. The installation provides
    them.
    """

    def __init__(self, of_all_rooms: Callable[[], Iterable[Obstacle]]) -> None:
        self._of_all_rooms = of_all_rooms

    @cached_property
    def every(self) -> list[Obstacle]:
        return list(self._of_all_rooms())

    def check(self, tx: Transaction, article_id: int, before: object, after: object) -> None:
        """`before` and `after` say whether the article is tracked by serials. Raises Problem (422) for the first
        obstacle.
        """
        if bool(before) == bool(after):
            return
        switched = "on" if after else "off"
        for obstacle in self.every:
            if obstacle.switched == switched and (count := tx.value(obstacle.count, {"id": article_id})):
                sentence = obstacle.sentence.format(count=count)
                raise invalid({"track_serial": [f"cannot be switched {switched}: {sentence}"]})
