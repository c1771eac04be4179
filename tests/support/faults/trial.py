"""One trial of a fault: a server runs, clients work, the fault begins and ends, and the laws are checked."""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

from tests.support.command import Server
from tests.support.faults import laws
from tests.support.faults.fault import EVERYBODY, Fault, Running
from tests.support.faults.load import Asked, Load, Told, repeated
from tests.support.faults.scene import Scene
from tests.support.moved_clock import MovedClock
from tests.support.raw_http import Caller

PER_SECOND: Final = 30.0
"""Requests per second of each company."""
LINES: Final = 10
"""The lines of an order. With many lines, SQLite soon writes its log into the file."""
BEFORE_SECONDS: Final = 1.0
QUIET_SECONDS: Final = 1.5
"""Seconds without a refusal after which the server counts as whole again."""
AGAIN_SECONDS: Final = 0.1


@dataclass
class Trial:
    """A trial of one fault. `began` and `over` are the times of the fault, by `time.monotonic`."""

    fault: Fault
    asked: list[Asked] = field(default_factory=list)
    began: float = 0.0
    over: float = 0.0
    health: str = ""
    stop_seconds: float = 0.0
    exit_status: int | None = None
    log: str = ""
    flaws: list[str] = field(default_factory=list)

    def told(self, told: Told) -> int:
        return sum(each.told is told for each in self.asked)

    def of(self, place: int) -> list[Asked]:
        return [each for each in self.asked if each.place == place]

    @property
    def acknowledged(self) -> int:
        return sum(each.told is Told.DONE and bool(each.name) for each in self.asked)

    @property
    def others(self) -> list[Asked]:
        return [each for each in self.asked if each.place not in self.fault.struck]

    @property
    def whole_after(self) -> float:
        """The seconds from the end of the fault to the last request that did not succeed."""
        late = (each.ended for each in self.asked if each.told is not Told.DONE and each.ended > self.over)
        return max((ended - self.over for ended in late), default=0.0)

    def broken(self, is_timed: bool = True) -> Iterator[str]:
        """Yield a sentence for each broken law.

        `is_timed` includes the laws about times, which need an otherwise idle machine.
        """
        yield from self.flaws
        yield from laws.of_answers(self.asked)
        yield from laws.of_others(self.others)
        if is_timed:
            yield from laws.of_times(self.others)
        yield from laws.of_log(self.log, self.fault.told)
        if self.whole_after > laws.WHOLE_SECONDS:
            yield f"Something was refused {self.whole_after:.1f} s after the end of the fault."
        if self.health != "ok":
            yield f"{laws.WHOLE_SECONDS:.0f} s after the end of the fault the health is {self.health}."
        if self.exit_status != 0 or self.stop_seconds > laws.STOP_SECONDS:
            yield f"The stop took {self.stop_seconds:.1f} s and ended with {self.exit_status}."


def run(scene: Scene, fault: Fault, label: str) -> Trial:
    trial = Trial(fault)
    clock = MovedClock.made(scene.home.folder / "clock")
    env = clock.environment if fault.is_by_moved_clock else {}
    with ExitStack() as broken:
        if fault.is_from_start:
            broken.enter_context(fault.strike(Running(scene, 0, clock)))
        port = free_port()
        with scene.home.serving("--listen", f"127.0.0.1:{port}", env=env) as server:
            load = Load(port, scene.tenants, PER_SECOND, label, LINES, late=fault.late, is_heavy=fault.is_heavy)
            load.start()
            time.sleep(BEFORE_SECONDS)
            if not fault.is_from_start:
                broken.enter_context(fault.strike(Running(scene, server.process.pid, clock)))
            trial.began = time.monotonic()
            load.begin_late()
            time.sleep(fault.seconds)
            trial.over = time.monotonic()
            broken.close()
            _await_whole(server, load, trial)
            load.stop()
            trial.asked = load.asked
            _repeat(scene, port, trial)
            _stop(server, trial)
    trial.flaws = [*scene.flaws()]
    for place in EVERYBODY:
        trial.flaws += laws.of_writes(trial.of(place), scene.stored(place))
    return trial


def free_port() -> int:
    """Return a free port. With a fixed port, a server that restarts itself listens at the same port again."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _repeat(scene: Scene, port: int, trial: Trial) -> None:
    """Repeat the requests that were not done, with their keys."""
    for place, tenant in enumerate(scene.tenants):
        asyncio.run(repeated(Caller(port, tenant.token, tenant.company), trial.of(place)))


def _stop(server: Server, trial: Trial) -> None:
    began = time.monotonic()
    trial.exit_status = server.stop()
    trial.stop_seconds = time.monotonic() - began
    trial.log = server.log


def _await_whole(server: Server, load: Load, trial: Trial) -> None:
    until = trial.over + laws.WHOLE_SECONDS
    while time.monotonic() < until + QUIET_SECONDS:
        trial.health = _health(server)
        wrong = [each.ended for each in load.asked if each.told is not Told.DONE and each.ended < until * 2]
        if trial.health == "ok" and time.monotonic() > max([trial.over, *wrong]) + QUIET_SECONDS:
            return
        time.sleep(AGAIN_SECONDS)


def _health(server: Server) -> str:
    try:
        return str(server.get("/api/health", token="", company=None)[1]["status"])
    except OSError as error:
        return f"not told: {error}"
