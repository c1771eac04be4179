"""The load that the program wrk causes, and the rates that wrk measures."""

import math
import re
import shutil
import signal
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.processes import Failed
from benchmarks.size import sized

ROUNDS: Final = sized(5, 1)
ROUND_SECONDS: Final = sized(2.0, 0.1)
WARM_UP_SECONDS: Final = sized(1.0, 0.05)
LONGEST_ROUND_SECONDS: Final = 16.0
RATE: Final = re.compile(r"Requests/sec:\s+([0-9.]+)")
COUNT: Final = re.compile(r"([0-9]+) requests in ")
WRONG: Final = re.compile(r"(Non-2xx or 3xx responses: .*|Socket errors: .*)")


@dataclass(frozen=True, slots=True)
class Target:
    """The request that wrk sends."""

    url: str
    headers: Mapping[str, str]
    script: Path | None = None


@dataclass(frozen=True, slots=True)
class Load:
    rate: float
    requests: int


def has_wrk() -> bool:
    return shutil.which("wrk") is not None


def drive(target: Target, connections: int, seconds: float = ROUND_SECONDS, arguments: Sequence[str] = ()) -> Load:
    """Run one round and return its rate.

    `arguments` are for the script. The first one makes the codes and keys of this round unique.

    A round in which no request was answered is repeated, four times as long, with new codes and keys, because the
    server may have done what it did not answer. Raise Failed if a request was refused or interrupted, because the
    rate would be meaningless.
    """
    whole = math.ceil(seconds)
    command = [
        "wrk",
        "--threads",
        "1",
        "--connections",
        str(connections),
        "--duration",
        f"{whole}s",
        "--timeout",
        "60s",
    ]
    for name, value in target.headers.items():
        command += ["--header", f"{name}: {value}"]
    if target.script is not None:
        command += ["--script", str(target.script)]
    output = subprocess.PIPE
    with subprocess.Popen(
        [*command, target.url, "--", *arguments], text=True, stdout=output, stderr=output
    ) as wrk:
        if seconds < whole:
            _interrupt(wrk, seconds)
        told, errors = wrk.communicate()
    rate, count, wrong = (pattern.search(told) for pattern in (RATE, COUNT, WRONG))
    if wrk.returncode or rate is None or count is None or wrong is not None:
        raise Failed(f"wrk {target.url}: {wrong[0] if wrong else told + errors}")
    if count[1] == "0" and seconds < LONGEST_ROUND_SECONDS:
        again = [f"{arguments[0]}again-", *arguments[1:]] if arguments else []
        return drive(target, connections, 4 * seconds, again)
    if count[1] == "0":
        raise Failed(f"wrk {target.url}: no request was answered in {seconds:.0f} s.")
    return Load(float(rate[1]), int(count[1]))


def _interrupt(wrk: "subprocess.Popen[str]", seconds: float) -> None:
    """Interrupt wrk after `seconds`, because wrk accepts only whole seconds. wrk then prints its results.

    The signal is sent only after wrk has installed its handler.
    """
    until = time.monotonic() + seconds
    while wrk.poll() is None and (time.monotonic() < until or not _handles(wrk.pid, signal.SIGINT)):
        time.sleep(0.02)
    wrk.send_signal(signal.SIGINT)


def _handles(pid: int, wanted: signal.Signals) -> bool:
    """Return True if the process handles the signal (SigCgt in proc(5))."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    handled = int(status.partition("SigCgt:")[2].split()[0], 16)
    return bool(handled >> (wanted - 1) & 1)


def rates(targets: Sequence[Target], connections: int) -> list[float]:
    """Return the median rate of each target.

    The rates are in requests per second. The targets are measured in turns, so that other work of the machine
    slows all of them.
    """
    for target in targets:
        drive(target, connections, WARM_UP_SECONDS)
    rounds = [[drive(target, connections).rate for target in targets] for _ in range(ROUNDS)]
    return [statistics.median(found) for found in zip(*rounds, strict=True)]
