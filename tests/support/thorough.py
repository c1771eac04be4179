"""Whether tests that have a longer form run it: `scripts/soak --only tests`, or `THOROUGH=1 scripts/test …`."""

import os
from typing import Final

IS_THOROUGH: Final = bool(os.environ.get("THOROUGH"))
