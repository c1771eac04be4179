"""A server that is killed and restarted while clients write. The kills hit system calls and random times."""

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final

from tests.support.command import Server
from tests.support.faults import laws
from tests.support.faults.fault import EVERYBODY
from tests.support.faults.load import Asked, Load, Told, repeated
from tests.support.faults.scene import STRUCK, Scene
from tests.support.injected import SYNC, failing, killed_at
from tests.support.raw_http import Caller

PER_SECOND: Final = 120.0
"""Requests per second of each company."""
LINES: Final = 2
SHORTEST: Final = 0.15
LONGEST: Final = 0.6
"""The longest work before a kill, in seconds."""
MET_SECONDS: Final = 1.5
"""The longest wait for a system call, in seconds. After this time the server is killed without the call."""
CALLS: Final = {
    "pwrite64": 40,
    "fdatasync": 8,
    "fsync": 2,
    "openat": 2,
    "close": 2,
    "write": 20,
    "sendmsg,sendto,writev": 5,
    "read,recvmsg,recvfrom": 20,
    "pread64": 10,
    "epoll_wait,epoll_pwait": 40,
    "futex": 20,
    "fcntl": 10,
    "mmap,munmap,brk": 3,
    "stat,newfstatat,fstat": 20,
}
"""The system calls at which the server is killed. The kill waits for the n-th such call of a thread. n is random,
and the number here is the highest n.
"""
AT_ANY_MOMENT: Final = "any moment"
WHILE_STARTING: Final = "any moment of its start"
EXAMINED_EVERY: Final = 50


@dataclass
class Killed:
    """The results of the kills.

    `kills` counts them by where they hit. `broken` has a sentence for each broken law.
    """

    kills: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    unknown: int = 0
    repeated: int = 0
    broken: list[str] = field(default_factory=list)

    def add(self, more: "Killed") -> None:
        self.kills += more.kills
        self.acknowledged += more.acknowledged
        self.unknown += more.unknown
        self.repeated += more.repeated
        self.broken += more.broken


def run(scene: Scene, kills: int, chance: Random, progress: Callable[[str], None] = lambda text: None) -> Killed:
    killed = Killed()
    before: list[Asked] = []
    everything: list[Asked] = []
    for number in range(1, kills + 1):
        before = _one(scene, f"K{number}", chance, before, killed)
        everything += before
        if number % EXAMINED_EVERY == 0 or number == kills:
            killed.broken += [*scene.flaws(), *_lost(scene, everything)]
            progress(f"kill {number}: {killed.acknowledged} writes acknowledged, {len(killed.broken)} laws broken")
    return killed


def _one(scene: Scene, label: str, chance: Random, before: list[Asked], killed: Killed) -> list[Asked]:
    """Run the server until the next kill, and return the requests that were sent.

    First repeat the requests in `before`, which the previous server got, if they have a key and were not done.
    """
    if chance.random() < 0.1:
        _kill_while_starting(scene, chance)
        killed.kills[WHILE_STARTING] += 1
        return before
    with scene.home.serving() as server:
        port = int(server.address.rpartition(":")[2])
        for place, tenant in enumerate(scene.tenants):
            own = [each for each in before if each.place == place]
            killed.repeated += sum(each.has_key and each.told is not Told.DONE for each in own)
            asyncio.run(repeated(Caller(port, tenant.token, tenant.company), own))
        load = Load(port, scene.tenants, PER_SECOND, label, LINES)
        load.start()
        time.sleep(chance.uniform(SHORTEST, LONGEST))
        killed.kills[_kill(scene, server, chance)] += 1
        load.stop()
    killed.acknowledged += sum(each.told is Told.DONE and bool(each.name) for each in load.asked)
    killed.unknown += sum(each.told is Told.UNKNOWN and bool(each.name) for each in load.asked)
    killed.broken += [f"After {label}: {sentence}" for sentence in _lost(scene, load.asked)]
    return load.asked


def _kill(scene: Scene, server: Server, chance: Random) -> str:
    """Kill the server, and return where the kill hit."""
    process = server.process
    way = chance.random()
    if way < 0.65:
        call = chance.choice(list(CALLS))
        with killed_at(process.pid, call, chance.randint(1, CALLS[call])):
            if _has_ended(server, MET_SECONDS):
                return call.partition(",")[0]
    elif way < 0.75:
        calls, name = chance.choice([(SYNC, "syncs"), ("pwrite64", "writes")])
        log = scene.file(STRUCK).with_name(f"{scene.file(STRUCK).name}-wal")
        with failing(process.pid, calls, path=log):
            time.sleep(chance.uniform(0.05, 0.4))
            process.kill()
            process.wait()
        return f"any moment while {name} fail"
    process.kill()
    process.wait()
    return AT_ANY_MOMENT


def _has_ended(server: Server, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while server.process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    return server.process.poll() is not None


def _kill_while_starting(scene: Scene, chance: Random) -> None:
    with scene.home.start("serve", "--listen", "127.0.0.1:0") as process:
        time.sleep(chance.uniform(0.1, 0.5))
        os.kill(process.pid, signal.SIGKILL)


def _lost(scene: Scene, asked: list[Asked]) -> Iterator[str]:
    for place in EVERYBODY:
        yield from laws.of_writes((each for each in asked if each.place == place), scene.stored(place))
