"""Test the laws of concurrency on a real `wmsd serve` on loopback. Each part uses a separate data folder.

  last-units    10 000 orders by v1, v2 and batch, over 256 connections, request more of an article than its 1 000
                units. Exactly 1 000 are reserved, every other order is refused with 422, nothing is negative.
  one-key       500 connections post one order with one Idempotency-Key at the same time: one order, 500 equal
                answers, by v1 and by v2.
  gone-clients  Clients cut their connections in the head, in the body, after the last byte, while the answer is
                prepared and while it is read. Either the whole order is stored or nothing, and the next request
                works. With an Idempotency-Key, repeating a request leaves each order once.
  power-cuts    The server is killed (SIGKILL) while 32 connections post with keys, five times. After each restart
                everything that was acknowledged is stored, and repeating every request leaves each order once.
  restores      Backups and restores, of everything and of one company beside a server, are killed 100 times at
                any moment. Each kill leaves the complete old state or the complete new one, and no unreadable
                archive.
  webhooks      A server sends webhooks to receivers that fail 3 times in 10. The server is killed 500 times
                during 50 000 orders, with a clock that runs 600 times as fast and leaps by a year, back and
                forth. Every subscriber gets each event at least once, with the same id and body, in the order of
                its record. Exhausted deliveries arrive when they are sent again, and no number is missing.
  hostile       For ten minutes 64 addresses without a token, and 3 tenants with tokens and users in the browser,
                attack the server as often as the default limits allow. The attackers send endless errors, half
                requests, unread answers, expensive searches, floods, guesses, garbage, downloads, streams, forms,
                imports of wrong rows, and requests with access that has ended. At the same time 2 tenants each
                send one honest request per second. 99 of 100 of these are answered within 200 ms, and none is
                refused. The server and its children stay under 600 MB, 1 024 files, the quotas and 5 MB of log.
                No operation blocks the event loop for 50 ms, and the server stops within 15 s.
  faults        Under load the clock is set by every step from a second to ten years; disks are full and fail;
                threads, memory and files run out; files are removed, replaced, locked and cut; the process is
                killed 1 000 times, at system calls and at any moment. Nothing that was acknowledged is lost or
                doubled, and every refusal is true. Other companies are served (99 of 100 requests within 500 ms),
                the service works fully again within 10 s, and the log reports it once. The part needs root,
                strace and libfaketime (scripts/programs), and writes wmsd/docs/reliability.md.
  disaster      Installations lose what came after a backup, three times in a row, under load: a company,
                everything, or the whole machine. The keys are sealed to a passphrase, to a recovery phrase, or
                not sealed. After each rescue an integrator with cursors, ETags, keys and a webhook continues. No
                number is used twice, and the integrator learns what is lost. The installation can be backed up,
                verified and moved again.
  tests         The tests that have a longer form, in this form: every page, each with every colour. The part
                leaves a screenshot of each in build/screenshots. The suite itself runs a tenth of this.

At the end of each part `wmsd doctor` finds nothing, every order has one sales_order.created, and the server has
logged no warning and no error (hostile, faults: no stack trace).
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
"""The most violations of a part that are printed one by one."""


def main() -> int:
    """Return 0 if every law holds, else 1."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers are stopped and folders are removed
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
        return Verdict({}, [f"This part cannot continue: {error!r}"])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", action="append", choices=list(PARTS), help="run only this part; repeat the option for several"
    )
    size = parser.add_mutually_exclusive_group()
    for flag, divisor, share in (("--tenth", 10, "a tenth"), ("--tiny", 100, "a hundredth")):
        says = f"run at {share} of the full size"
        size.add_argument(flag, dest="divisor", action="store_const", const=divisor, default=1, help=says)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
