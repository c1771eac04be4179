"""A flag: True if tests that have a longer form run the longer form: `scripts/soak --only tests`, or `THOROUGH=1
scripts/test …`.
"""

import os
from typing import Final

IS_THOROUGH: Final = bool(os.environ.get("THOROUGH"))
