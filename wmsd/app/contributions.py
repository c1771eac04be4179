"""What rooms contribute to those beneath them, which do not know them.

Each is imported when it is first asked for: most commands never ask, and start more quickly.
"""

from collections.abc import Iterator
from typing import Final

from wmsd.articles.tracking import Obstacle, Obstacles
from wmsd.documents.dependents import Dependent, Dependents


def _obstacles() -> Iterator[Obstacle]:
    from wmsd.returns import tracking as returns
    from wmsd.sales_orders import tracking as sales_orders
    from wmsd.stock import tracking as stock

    for room in (stock, sales_orders, returns):
        yield from room.OBSTACLES


def _dependents() -> Iterator[Dependent]:
    from wmsd.receptions import store as receptions
    from wmsd.returns import store as returns

    for room in (receptions, returns):
        yield from room.DEPENDENTS


OBSTACLES: Final = Obstacles(_obstacles)
DEPENDENTS: Final = Dependents(_dependents)
