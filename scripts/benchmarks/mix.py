"""A mix of requests of many companies at a fixed rate, sent by `open_loop`."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.processes import Failed, Server, progress, run
from benchmarks.site import Company, Installation
from benchmarks.size import sized

ARTICLES: Final = sized(500, 60)
PARTNERS: Final = sized(20, 3)
P99_SECONDS: Final = 0.25


@dataclass(frozen=True, slots=True)
class Run:
    """The result of sending the mix for some time.

    `rate` is in requests per second, and `slow` is the 99th percentile of all latencies in seconds. `cores` is the
    average number of processor cores that the server used. `wrong` counts the requests that failed.
    """

    rate: float
    slow: float
    cores: float
    wrong: int
    first_wrong: str

    @property
    def is_sustained(self) -> bool:
        return self.slow <= P99_SECONDS and not self.wrong


@dataclass(frozen=True, slots=True)
class Site:
    installation: Installation
    companies: list[tuple[int, str]]

    def some(self, count: int) -> Path:
        """Write the first `count` companies to a file for `open_loop`, and return its path."""
        path = self.installation.data.parent / f"companies-{count}.json"
        path.write_text(json.dumps(self.companies[:count]), encoding="utf-8")
        return path

    def load(self, server: Server, count: int, rate: float, seconds: float, connections: int = 256) -> Run:
        """Send the mix at a fixed rate. With rate 0, each connection posts orders one after the other."""
        numbers = (rate, seconds, time.time_ns(), connections, ARTICLES, PARTNERS)
        arguments = [str(server.port), str(self.some(count)), *map(str, numbers)]
        module = [sys.executable, "-m", "benchmarks.open_loop", *arguments]
        before = server.processor_seconds()
        found: dict[str, Any] = json.loads(run(module, self.installation.data.parent))
        cores = (server.processor_seconds() - before) / found["seconds"]
        latencies = sorted(each for of_kind in found["latencies"].values() for each in of_kind)
        if not latencies:
            raise Failed("no request was answered.")
        wrong = sum(found["wrong"].values()) + found["unanswered"] + found["lost"]
        slow = latencies[int(len(latencies) * 0.99)]
        return Run(len(latencies) / found["seconds"], slow, cores, wrong, found["first_wrong"])


def many(made: Installation, first: Company, count: int) -> Site:
    """Create companies until there are `count`. Each company after the first is a copy of the first."""
    progress(f"making {count} companies")
    module = [sys.executable, "-m", "benchmarks.many_companies", str(made.data), first.code, str(count)]
    return Site(made, json.loads(run(module, made.data.parent)))
