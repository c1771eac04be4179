"""How soon the one-file executable is there, beside one that only says hello: both unpack themselves first."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.figures import SERVE, VERSION, Figure
from benchmarks.processes import (
    HOST,
    QUIET,
    ROOT,
    START_SECONDS,
    Failed,
    Server,
    environment,
    folder,
    free_port,
    progress,
    run,
    stop,
)

EXECUTABLE: Final = ROOT / "dist" / "wmsd"
ROUNDS: Final = 5
POLL_SECONDS: Final = 0.005


def measure(executable: Path = EXECUTABLE) -> Iterator[Figure]:
    if not executable.exists():
        yield from (Figure(name, "seconds", None, note="not built: scripts/build") for name in (VERSION, SERVE))
        return
    with folder() as temporary:
        progress("building the executable that says hello")
        hello = _hello(temporary)
        progress(VERSION)
        times = [(_run(executable, "version"), _run(hello)) for _ in range(ROUNDS)]
        ours, floor = (statistics.median(found) for found in zip(*times, strict=True))
        yield Figure(VERSION, "seconds", ours, floor)
        progress(SERVE)
        healthy = [_until_healthy(executable, temporary / f"empty-{number}") for number in range(ROUNDS)]
        yield Figure(SERVE, "seconds", statistics.median(healthy), floor)


def _hello(temporary: Path) -> Path:
    source = temporary / "hello.py"
    source.write_text('print("hello")\n', encoding="utf-8")
    places: list[str | Path] = ["--distpath", temporary, "--workpath", temporary / "work", "--specpath", temporary]
    run([sys.executable, "-m", "PyInstaller", "--onefile", "--log-level", "ERROR", *places, source], temporary)
    return temporary / "hello"


def _run(*command: str | Path) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment())
    return time.perf_counter() - started


def _until_healthy(executable: Path, empty: Path) -> float:
    empty.mkdir()
    port = free_port()
    started = time.perf_counter()
    with (empty / "server.log").open("wb") as log:
        command: list[str | Path] = [executable, "serve", "--listen", f"{HOST}:{port}"]
        process = subprocess.Popen(command, cwd=empty, env=environment(QUIET), stdout=log, stderr=log)
    try:
        while time.perf_counter() - started < START_SECONDS and process.poll() is None:
            if _is_healthy(Server(process.pid, port)):
                return time.perf_counter() - started
            time.sleep(POLL_SECONDS)
    finally:
        stop(process)
    raise Failed(f"{executable.name} serve did not become healthy: {(empty / 'server.log').read_text()[-2000:]}")


def _is_healthy(server: Server) -> bool:
    try:
        server.get("/api/health")
    except (OSError, Failed):
        return False
    return True
