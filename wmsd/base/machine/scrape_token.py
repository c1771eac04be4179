"""The token that readers of the metrics send (metrics.token_file)."""

from pathlib import Path
from typing import Final

from wmsd.base.machine.secret_files import word_in

LEAST_TOKEN: Final = 20
"""Characters that a token must have, so that nobody guesses it."""


def token_in(file: Path) -> str:
    """Raises OSError, and ValueError when it holds none that can be used."""
    return word_in(file, LEAST_TOKEN)
