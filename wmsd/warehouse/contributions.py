"""What rooms contribute to rooms below them, which may not import them.

Each is imported when it is first needed: most commands never need it, and start faster.
"""

from collections.abc import Iterator
from typing import Final

from wmsd.warehouse.articles.tracking_rules import Obstacle, Obstacles
from wmsd.warehouse.documents.dependents import Dependent, Dependents


def _obstacles() -> Iterator[Obstacle]:
    from wmsd.warehouse.returns import tracking_obstacles as returns
    from wmsd.warehouse.sales_orders import tracking_obstacles as sales_orders
    from wmsd.warehouse.stock import tracking_obstacles as stock

    for room in (stock, sales_orders, returns):
        yield from room.OBSTACLES


def _dependents() -> Iterator[Dependent]:
    from wmsd.warehouse.receptions import store as receptions
    from wmsd.warehouse.returns import store as returns

    for room in (receptions, returns):
        yield from room.DEPENDENTS


OBSTACLES: Final = Obstacles(_obstacles)
DEPENDENTS: Final = Dependents(_dependents)
