"""The start time of the one-file executable, compared with an executable that only prints a greeting.

Both executables unpack themselves first. The program in the Debian package is a folder, so it is not unpacked. Its
start is compared with the start of the one-file executable.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from benchmarks.figures import PACKAGE_SERVE, PACKAGE_VERSION, SERVE, VERSION, Figure
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
from benchmarks.size import sized

EXECUTABLE: Final = ROOT / "dist" / "wmsd"
OF_PACKAGE: Final = ROOT / "build" / "dist" / "wmsd-folder" / "wmsd"
ROUNDS: Final = sized(5, 1)
POLL_SECONDS: Final = 0.005


def measure(executable: Path = EXECUTABLE, of_package: Path = OF_PACKAGE) -> Iterator[Figure]:
    if not executable.exists() or not of_package.exists():
        names = (VERSION, SERVE, PACKAGE_VERSION, PACKAGE_SERVE)
        yield from (Figure(name, "seconds", None, note="not built: scripts/build") for name in names)
        return
    with folder() as temporary:
        progress("building the executable that says hello")
        hello = _hello(temporary)
        progress(VERSION)
        ours, package, floor = _medians(
            (_run(executable, "version"), _run(of_package, "version"), _run(hello)) for _ in range(ROUNDS)
        )
        yield Figure(VERSION, "seconds", ours, floor)
        yield Figure(PACKAGE_VERSION, "seconds", package, ours)
        progress(SERVE)
        ours, package = _medians(
            (
                _until_healthy(executable, temporary / f"file-{n}"),
                _until_healthy(of_package, temporary / f"folder-{n}"),
            )
            for n in range(ROUNDS)
        )
        yield Figure(SERVE, "seconds", ours, floor)
        yield Figure(PACKAGE_SERVE, "seconds", package, ours)


def _medians(rounds: Iterable[tuple[float, ...]]) -> list[float]:
    """Return the median time of each program, in seconds.

    Each item of `rounds` has one time for each program, because the programs are measured in turns.
    """
    return [statistics.median(found) for found in zip(*rounds, strict=True)]


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
        command: list[str | Path] = [executable, "serve", "--create", "--listen", f"{HOST}:{port}"]
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
