"""The program `scripts/mutate`: for each module it prints how many breakages the tests notice, and shows the
others.
"""

import sys
from collections.abc import Iterator, Sequence

from mutation import known
from mutation.rooms import ROOMS, ROOT, Room
from mutation.running import Verdict, run

LEAST_PERCENT = 90.0


def main() -> None:
    chosen = list(_chosen(sys.argv[1:]))
    reasons = known.read()
    is_good = True
    for room, modules in chosen:
        print(f"{room.name}:", flush=True)
        for verdict in run(room, modules, ROOT / "build" / "mutation" / room.name):
            unexplained = [each for each in verdict.survivors if each not in reasons]
            is_good &= _show(verdict, len(verdict.survivors) - len(unexplained)) and not unexplained
            for each in unexplained:
                print(f"\n{each}", flush=True)
            if unexplained:
                print()
    if not is_good:
        sys.exit(
            f"The tests noticed less than {LEAST_PERCENT:.0f} % of the breakages, or {known.FILE.name} does "
            "not explain every unnoticed breakage."
        )


def _chosen(wanted: Sequence[str]) -> Iterator[tuple[Room, list[str]]]:
    """Yield each chosen group of modules, with its chosen modules.

    `wanted` has names of groups and paths of modules. If it is empty, everything is chosen. If a name is unknown,
    exit with an error.
    """
    unknown = set(wanted)
    for room in ROOMS:
        modules = [module for module in room.modules if not wanted or room.name in wanted or module in wanted]
        unknown -= {room.name, *modules}
        if modules:
            yield room, modules
    if unknown:
        rooms = ", ".join(room.name for room in ROOMS)
        sys.exit(
            f"These are neither groups nor files of groups: {', '.join(sorted(unknown))}. The groups are {rooms}."
        )


def _show(verdict: Verdict, explained: int) -> bool:
    """Print the verdict. Return True if the tests noticed at least LEAST_PERCENT of the breakages, or if there is
    nothing to break.

    `explained` is the number of unnoticed breakages with a reason in `survivors.txt`.
    """
    if not verdict.total:
        print(f"  {verdict.module:36} nothing to break", flush=True)
        return True
    percent = 100 * verdict.killed / verdict.total
    ends = ", ".join(f"{count} {end}" for end, count in sorted(verdict.ends.items()))
    print(f"  {verdict.module:36} {percent:5.1f} % of {verdict.total}: {ends}; {explained} explained", flush=True)
    return percent >= LEAST_PERCENT


main()
