"""The secret with which wmsd shows a provider who it is."""

from pathlib import Path
from typing import Final

from wmsd.base.machine.regular_files import check_regular

NO_CLIENT_SECRET: Final = "The file {file} must hold the secret of the client, as UTF-8 text."


def client_secret_in(file: Path) -> str:
    """Raises OSError, and ValueError when it holds none."""
    check_regular(file)
    try:
        secret = file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        secret = ""
    if not secret:
        raise ValueError(NO_CLIENT_SECRET.format(file=file))
    return secret
