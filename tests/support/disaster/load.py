"""Writes to a server while a test does something else with it, and a record of the acknowledged writes."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.support.command import Server
from tests.support.disaster.integrator import ARTICLES, ask


@dataclass
class Load:
    """The writes that were acknowledged.

    `acknowledged` has the time of each answer by the article's code, in seconds of `time.monotonic`.
    """

    name: str
    acknowledged: dict[str, float] = field(default_factory=dict)

    def until(self, moment: float) -> set[str]:
        return {code for code, at in self.acknowledged.items() if at <= moment}


@contextmanager
def load(server: Server, name: str) -> Iterator[Load]:
    """Create one article after another while the block runs.

    Each answer must be 201, or 503 while the company cannot be written.
    """
    found, is_over, refused = Load(name), threading.Event(), list[str]()

    def write() -> None:
        while not is_over.is_set():
            code = f"{name}-{len(found.acknowledged)}"
            told = ask(server, "POST", ARTICLES, {"code": code, "name": name}, Idempotency_Key=code)
            if told.status == 201:
                found.acknowledged[code] = time.monotonic()
            elif told.status != 503:
                refused.append(f"{code}: {told.status}")
                return

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield found
    finally:
        is_over.set()
        writer.join()
    assert refused == []
