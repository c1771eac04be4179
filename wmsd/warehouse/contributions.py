"""Reasons and queries that one package provides for another. For example, the package for returns tells the
package for articles why an article must not change.

The package that uses a reason must not import the package that provides it. So this module imports the providing
packages, but only when a reason is first needed. Most commands do not need them, and start faster without the
import.
"""

from collections.abc import Iterator
from typing import Final

from wmsd.warehouse.articles.tracking_rules import Obstacle, Obstacles
from wmsd.warehouse.directory.closing_rules import GOODS, OPEN_DOCUMENTS, Holding, Holdings
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


def _holdings() -> Iterator[Holding]:
    from wmsd.warehouse.document_kinds import DOCUMENTS
    from wmsd.warehouse.documents.checks import sql_names

    yield Holding("SELECT count(*) FROM stock WHERE warehouse_id = :id AND quantity > 0", GOODS)
    of_kinds = (
        f"SELECT count(*) AS number FROM {kind.table.name} "
        f"WHERE warehouse_id = :id AND status IN ({sql_names({before for before, _ in kind.transitions.table})})"
        for kind in DOCUMENTS
    )
    yield Holding(f"SELECT sum(number) FROM ({' UNION ALL '.join(of_kinds)})", OPEN_DOCUMENTS)


OBSTACLES: Final = Obstacles(_obstacles)
HOLDINGS: Final = Holdings(_holdings)
DEPENDENTS: Final = Dependents(_dependents)
