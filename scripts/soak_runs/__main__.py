"""Holds a real `wmsd serve` on loopback to the laws of concurrency, each part in a data folder of its own.

  last-units    10 000 orders by v1, v2 and batch, over 256 connections, want more of an article than its 1 000
                units. Exactly 1 000 are reserved, every other order is refused with 422, nothing is negative.
  one-key       500 connections post one order with one Idempotency-Key at once: one order, 500 equal answers.
                By v1 and by v2.
  gone-clients  Clients cut their connections in the head, in the body, after the last byte, while the answer is
                made and while it is read. Whole orders or nothing are left, the next request works; with an
                Idempotency-Key, repeating leaves each order once.
  power-cuts    The server is killed (SIGKILL) while 32 connections post with keys, five times. After each restart
                all that was acknowledged is there, and repeating every request leaves each order once.
  restores      Backups and restores, of everything and of one company beside a server, are killed 100 times at any
                moment. Each leaves the old state or the new one, whole, and no archive that cannot be read.
  webhooks      A server that sends webhooks to receivers that fail 3 times in 10 is killed 500 times during 50 000
                orders, by a clock that runs 600 times as fast and leaps by a year, back and forth. Every
                subscriber gets each event with the same id and body, in the order of its entity, at least once;
                what is exhausted is received when it is sent again; no number is missing.
  hostile       For ten minutes 64 addresses without a token, 3 tenants with one and their people at the pages do
                their worst, each as often as the default limits allow: endless errors, half requests, unread
                answers, dear searches, floods, guesses, garbage, downloads, streams, forms, imports of wrong rows,
                and access that was kept from before. Beside them 2 tenants work at a request a second each. 99 of
                100 of their requests are answered within 200 ms, none is refused; the server and its children stay
                under 600 MB, its 1 024 files, its quotas and 5 MB of log, no operation holds the event loop for
                50 ms, and it stops within 15 s.
  faults        Under load the clock is set by every step from a second to ten years; disks are full and fail;
                threads, memory and files are short; somebody removes, replaces, locks and cuts files; the process
                is killed 1 000 times, at system calls and at any moment. Nothing that was acknowledged is lost or
                doubled, every refusal is true, other companies are served (99 of 100 requests within 500 ms), the
                service is whole again within 10 s, and the log says it once. Writes wmsd/docs/reliability.md.
                Needs root, strace and libfaketime (scripts/programs).
  disaster      Sites lose what came after a backup, three times in a row, under load: a company, everything, the
                whole box; with the keys sealed to a passphrase, to a recovery phrase, and not at all. After each
                rescue an integrator with cursors, ETags, keys and a webhook reads on: nothing is given twice, it
                knows what is gone, and the site can be saved, proven and moved again.
  tests         The tests that have a longer form, in it: every page, each with every colour. Leaves a screenshot
                of each in build/screenshots. A tenth of it is what the suite does.

At the end of each part `wmsd doctor` finds nothing, every order has one sales_order.created, and the server has
logged no warning and no error (hostile, faults: no trace).
"""

import argparse
import signal
import sys
from collections.abc import Callable
from typing import Final

from benchmarks.processes import Failed
from soak_runs import (
    disaster,
    faults,
    gone_clients,
    hostile,
    last_units,
    one_key,
    power_cuts,
    restores,
    tests,
    webhooks,
)
from soak_runs.verdict import Verdict

PARTS: Final[dict[str, Callable[[int], Verdict]]] = {
    "last-units": last_units.run,
    "one-key": one_key.run,
    "gone-clients": gone_clients.run,
    "power-cuts": power_cuts.run,
    "restores": restores.run,
    "webhooks": webhooks.run,
    "hostile": hostile.run,
    "faults": faults.run,
    "disaster": disaster.run,
    "tests": tests.run,
}
TOLD: Final = 20
"""How many breaches of a part are told one by one."""


def main() -> int:
    """0 when every law holds, 1 otherwise."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers are stopped and folders removed
    broken = False
    for part in options.only or PARTS:
        verdict = _run(part, options.divisor)
        broken |= bool(verdict.broken)
        print(f"{part}: {verdict}", flush=True)
        for sentence in verdict.broken[:TOLD]:
            print(f"soak: {part}: {sentence[:500]}", file=sys.stderr)
        if len(verdict.broken) > TOLD:
            print(f"soak: {part}: and {len(verdict.broken) - TOLD} more.", file=sys.stderr)
    return int(broken)


def _run(part: str, divisor: int) -> Verdict:
    try:
        return PARTS[part](divisor)
    except (Failed, OSError, EOFError) as error:
        return Verdict({}, [f"It cannot go on: {error!r}"])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", choices=list(PARTS), help="run this part; repeat it")
    size = parser.add_mutually_exclusive_group()
    for flag, divisor, share in (("--tenth", 10, "a tenth"), ("--tiny", 100, "a hundredth")):
        says = f"at {share} of the size"
        size.add_argument(flag, dest="divisor", action="store_const", const=divisor, default=1, help=says)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
