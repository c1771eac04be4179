"""Logging set up as the service does it, and removed afterwards."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, raising = root.handlers[:], root.level, logging.raiseExceptions
    root.handlers.clear()
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.raiseExceptions = raising


def lines(file: Path) -> list[str]:
    """Return the lines of the log file without their time and level."""
    return [line[28:] for line in file.read_text(encoding="utf-8").splitlines()]
