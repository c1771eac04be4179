"""Goods in open returns that forbid switching an article's tracking by serials on or off. See
`warehouse/articles/tracking_rules.py`.
"""

from typing import Final

from wmsd.warehouse.documents.stock_obstacles import fractional_lines, named_serials
from wmsd.warehouse.returns.rules import TRANSITIONS
from wmsd.warehouse.returns.store import RETURNS

OPEN: Final = TRANSITIONS.fields_change_in
OBSTACLES: Final = (named_serials(RETURNS, OPEN), fractional_lines(RETURNS, OPEN))
