"""A server under attack, and the results for the tenants who work with it."""

import asyncio
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.support.hostile import persons
from tests.support.hostile.honest import HonestTenant, Served
from tests.support.hostile.kept_access import KeptAccess
from tests.support.hostile.persons import Account
from tests.support.hostile.scene import Tenant
from tests.support.hostile.watching import Taken, bytes_in, watch

MOST_FILES: Final = 1024
MOST_RESIDENT: Final = 600_000_000
MOST_LOG: Final = 5_000_000
SLOWEST: Final = 0.2
"""The most seconds for 99 of 100 honest requests."""
STOP_SECONDS: Final = 15.0
NETWORKS: Final = {"strangers": 0, "insiders": 0, "persons": 2}
"""The third number of the IP addresses of each kind of attacker. Persons have addresses of their own, because
strangers use up the sign-ins that wmsd allows an address.
"""
HONEST_ADDRESSES: Final = ("127.0.1.1", "127.0.1.2")


@dataclass(frozen=True)
class Plan:
    """The plan of an attack. `env` is the environment of the server."""

    root: Path
    data: Path
    scratch: Path
    env: Mapping[str, str]
    hostile: Sequence[Tenant]
    honest: Sequence[Tenant]
    people: Sequence[Account]
    """Users of the hostile companies. The first user is an admin of the first hostile company."""
    code: str
    """The code of the first hostile company."""
    grant: Callable[[str], None]
    """Lets an honest admin give a user the first honest company."""
    email: str
    password: str
    addresses: int
    seconds: float
    most_disk: int


@dataclass
class Outcome:
    plan: Plan
    served: Served = field(default_factory=Served)
    taken: Taken = field(default_factory=Taken)
    answers: Counter[str] = field(default_factory=Counter)
    held: list[dict[str, Any]] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    """The records of an honest company that were read with kept access."""
    tried: int = 0
    stop_seconds: float = 0.0
    exit_status: int | None = None
    log: str = ""

    def broken(self) -> Iterator[str]:
        """Yield a sentence for each broken promise."""
        if self.served.slowest(0.99) > SLOWEST:
            slow = sorted(self.served.seconds, reverse=True)[:5]
            shown = ", ".join(f"{what} {seconds * 1000:.0f} ms" for seconds, what in slow)
            took = self.served.slowest(0.99) * 1000
            yield f"99 of 100 honest requests took {took:.0f} ms; the slowest: {shown}."
        for sentence, count in Counter(self.served.refused).items():
            yield f"Honest: {sentence} ({count} times)."
        for what, count in Counter(self.opened).items():
            yield f"{what.capitalize()} read another company ({count} times)."
        if self.taken.resident_bytes > MOST_RESIDENT:
            yield f"The server took {self.taken.resident_bytes // 10**6} MB of memory."
        if self.taken.files >= MOST_FILES:
            yield f"The server had {self.taken.files} files open."
        if self.taken.disk_bytes > self.plan.most_disk:
            yield f"The data folder grew to {self.taken.disk_bytes // 10**6} MB."
        if self.taken.log_bytes > MOST_LOG:
            yield f"The log grew to {self.taken.log_bytes // 10**6} MB."
        if self.stop_seconds > STOP_SECONDS or self.exit_status != 0:
            yield f"The stop took {self.stop_seconds:.1f} s and ended with {self.exit_status}."
        for operation, seconds in self._longest("held").items():
            yield f"{operation} held the event loop for {seconds * 1000:.0f} ms."
        for operation, seconds in self._longest("long").items():
            yield f"{operation} lived for {seconds:.1f} s."
        if "Traceback" in self.log:
            yield f"The log has a trace: {self.log[self.log.index('Traceback') :][:2000]}"

    def answers_of_people(self) -> str:
        names = {"sign-in, pages", *persons.ATTACKS}
        return "\n".join(f"{name}: {n}" for name, n in self.answers.items() if name.partition(":")[0] in names)

    def _longest(self, kind: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for each in self.held:
            if each["kind"] == kind:
                found[each["operation"]] = max(found.get(each["operation"], 0.0), each["seconds"])
        return found

    @property
    def figures(self) -> dict[str, float]:
        return {
            "honest requests": len(self.served.seconds),
            "honest p50 ms": self.served.slowest(0.5) * 1000,
            "honest p99 ms": self.served.slowest(0.99) * 1000,
            "honest slowest ms": self.served.slowest(1.0) * 1000,
            "honest sign-ins": len(self.served.sign_ins),
            "slowest sign-in ms": max(self.served.sign_ins, default=0.0) * 1000,
            "tries with kept access": self.tried,
            "hostile answers": sum(self.answers.values()),
            "memory MB": self.taken.resident_bytes / 10**6,
            "files": self.taken.files,
            "threads": self.taken.threads,
            "disk MB": self.taken.disk_bytes / 10**6,
            "log kB": self.taken.log_bytes / 1000,
            "stop s": self.stop_seconds,
        }


def files_up_to(number: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))


@contextmanager
def watched_server(plan: Plan) -> Iterator[tuple[subprocess.Popen[str], int, Path, Path]]:
    """Run the server with the usual limit of open files.

    Yield its process, its port, its log, and the file in which its event loop reports its state.
    """
    log, noted = plan.scratch / "hostile.log", plan.scratch / "held.json"
    noted.touch()
    command: list[str | Path] = [sys.executable, "-P", "-m", "tests.support.hostile.watched_serve", noted]
    command += ["serve", "--data", plan.data, "--listen", "127.0.0.1:0"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=plan.root,
            env=dict(plan.env),
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
            preexec_fn=files_up_to(MOST_FILES),
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, log.read_text(encoding="utf-8")
        yield process, int(line.rpartition(":")[2]), log, noted
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


async def run(plan: Plan, progress: Callable[[str], None] = lambda text: None) -> Outcome:
    outcome = Outcome(plan)
    with watched_server(plan) as (process, port, log, noted):
        honest = [
            HonestTenant(port, tenant, address, plan.email, plan.password, outcome.served)
            for tenant, address in zip(plan.honest, HONEST_ADDRESSES, strict=True)
        ]
        for each in honest:
            await each.sign_in()  # sign in before the attack: from here on, wmsd knows the address
        await honest[0].look_around()
        kept = KeptAccess(port, plan.code, plan.people[0], plan.honest[0], plan.grant)
        await kept.begin()
        watcher = asyncio.create_task(watch(process.pid, plan.data, log, outcome.taken))
        attackers = [await _attackers(plan, port, who) for who in NETWORKS]
        until = time.monotonic() + plan.seconds
        teller = asyncio.create_task(_tell(outcome, until, progress))
        await asyncio.gather(*(each.work(until) for each in honest), kept.try_until(until))
        outcome.opened, outcome.tried = kept.opened, kept.tries
        teller.cancel()
        await _stop(process, outcome)
        for attacker in attackers:
            await _collect(attacker, outcome)
        if watcher.done():
            watcher.result()  # the watcher failed, and would have seen too little
        watcher.cancel()
        outcome.log = log.read_text(encoding="utf-8")
        outcome.held = [json.loads(line) for line in noted.read_text(encoding="utf-8").splitlines()]
        outcome.taken.disk_bytes = max(outcome.taken.disk_bytes, bytes_in(plan.data))
    return outcome


async def _attackers(plan: Plan, port: int, who: str) -> asyncio.subprocess.Process:
    told = {
        "who": who,
        "port": port,
        "seconds": plan.seconds + 5,
        "addresses": [f"127.0.{NETWORKS[who]}.{number}" for number in range(2, plan.addresses + 2)],
        "tenants": [{"company": each.company, "token": each.token} for each in plan.hostile],
        "accounts": [asdict(each) for each in plan.people],
        "victim": plan.email,
    }
    file = plan.scratch / f"{who}.json"
    file.write_text(json.dumps(told))
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-P", "-m", "tests.support.hostile.attacking", str(file)),
        cwd=plan.root,
        env=dict(plan.env),
        stdout=asyncio.subprocess.PIPE,
        preexec_fn=files_up_to(resource.getrlimit(resource.RLIMIT_NOFILE)[1]),
    )


async def _stop(process: subprocess.Popen[str], outcome: Outcome) -> None:
    """Stop the server during the attack."""
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        outcome.exit_status = await asyncio.to_thread(process.wait, 60)
    outcome.stop_seconds = time.monotonic() - began


async def _collect(attacker: asyncio.subprocess.Process, outcome: Outcome) -> None:
    out, _ = await attacker.communicate()
    for attack, came, count in json.loads(out or b"[]"):
        outcome.answers[f"{attack}: {came}"] += count


async def _tell(outcome: Outcome, until: float, progress: Callable[[str], None]) -> None:
    while True:
        await asyncio.sleep(10)
        progress(
            f"{until - time.monotonic():.0f} s to go: {len(outcome.served.seconds)} honest requests, p99 "
            f"{outcome.served.slowest(0.99) * 1000:.0f} ms, {len(outcome.served.refused)} refused, "
            f"{outcome.taken.resident_bytes // 10**6} MB, {outcome.taken.files} files"
        )


def environment(root: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Return an environment that takes only the path to programs from the environment of the tests."""
    return {"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": str(root), "LANG": "C.UTF-8", **settings}
