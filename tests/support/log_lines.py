"""Log records, retained for the test."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wmsd.log.output import HumanFormatter, JsonFormatter


class Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The records as a program reads them."""
        return [json.loads(JsonFormatter().format(record)) for record in self.records]

    @property
    def lines(self) -> list[str]:
        """The records as a person reads them."""
        return [HumanFormatter().format(record) for record in self.records]


@contextmanager
def keeping() -> Iterator[Kept]:
    """Retain everything that the service logs, and the warnings of other libraries."""
    handler, everything, ours = Kept(), logging.getLogger(), logging.getLogger("wmsd")
    level = ours.level
    everything.addHandler(handler)
    ours.setLevel(logging.DEBUG)
    try:
        yield handler
    finally:
        everything.removeHandler(handler)
        ours.setLevel(level)
