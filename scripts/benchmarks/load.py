"""Load by wrk, and the rates that it finds."""

import re
import shutil
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.processes import Failed

ROUNDS: Final = 5
ROUND_SECONDS: Final = 2
WARM_UP_SECONDS: Final = 1
RATE: Final = re.compile(r"Requests/sec:\s+([0-9.]+)")
COUNT: Final = re.compile(r"([0-9]+) requests in ")
WRONG: Final = re.compile(r"(Non-2xx or 3xx responses: .*|Socket errors: .*)")


@dataclass(frozen=True, slots=True)
class Target:
    """What wrk asks for."""

    url: str
    headers: Mapping[str, str]
    script: Path | None = None


@dataclass(frozen=True, slots=True)
class Load:
    rate: float
    requests: int


def has_wrk() -> bool:
    return shutil.which("wrk") is not None


def drive(target: Target, connections: int, seconds: int = ROUND_SECONDS, arguments: Sequence[str] = ()) -> Load:
    """One round. Raises Failed when a request was refused or cut: its rate would say nothing."""
    command = ["wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{seconds}s"]
    for name, value in target.headers.items():
        command += ["--header", f"{name}: {value}"]
    if target.script is not None:
        command += ["--script", str(target.script)]
    done = subprocess.run([*command, target.url, "--", *arguments], text=True, capture_output=True)
    rate, count, wrong = (pattern.search(done.stdout) for pattern in (RATE, COUNT, WRONG))
    if done.returncode or rate is None or count is None or wrong is not None:
        raise Failed(f"wrk {target.url}: {wrong[0] if wrong else done.stdout + done.stderr}")
    return Load(float(rate[1]), int(count[1]))


def rates(targets: Sequence[Target], connections: int) -> list[float]:
    """The median rate of each; in turns, so that what else this machine does falls on all of them."""
    for target in targets:
        drive(target, connections, WARM_UP_SECONDS)
    rounds = [[drive(target, connections).rate for target in targets] for _ in range(ROUNDS)]
    return [statistics.median(found) for found in zip(*rounds, strict=True)]
