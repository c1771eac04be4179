"""What open returns forbid: see `articles/tracking.py`."""

from typing import Final

from wmsd.documents.tracking import fractional_lines, named_serials
from wmsd.returns.rules import TRANSITIONS
from wmsd.returns.store import RETURNS

OPEN: Final = TRANSITIONS.fields_change_in
OBSTACLES: Final = (named_serials(RETURNS, OPEN), fractional_lines(RETURNS, OPEN))
