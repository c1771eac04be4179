"""Tests of how much memory is usable when the system gives no more."""

import subprocess
import sys
from pathlib import Path

from wmsd.base.machine.memory import limits

ALLOCATES_AT_THE_LIMIT = """
import resource, sys, threading
from pathlib import Path
from wmsd.base.machine.memory import keep_little

if sys.argv[1] == "shared":
    keep_little()
over = threading.Event()
begun = threading.Semaphore(0)

def work():
    kept = [bytes(600) for _ in range(1000)]
    begun.release()
    over.wait()

for _ in range(6):
    threading.Thread(target=work, daemon=True).start()
    begun.acquire()
size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))
try:
    kept = [bytes(600) for _ in range(30_000)]
except MemoryError:
    kept = []
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(len(kept))
"""


def allocated(arenas: str) -> int:
    """Return how many objects of 600 bytes a process with six more threads can create at its memory limit."""
    command = [sys.executable, "-c", ALLOCATES_AT_THE_LIMIT, arenas]
    return int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def test_at_the_limit_a_thread_takes_memory_from_the_arenas_of_others() -> None:
    assert allocated("shared") == 30_000


def test_with_an_arena_for_each_thread_there_is_none_to_take() -> None:
    assert allocated("own") == 0


def test_the_smallest_limit_of_a_process_and_of_what_it_is_in_counts(tmp_path: Path) -> None:
    own, groups = tmp_path / "own", tmp_path / "groups"
    own.write_text("1:name=systemd:/other\n0::/system.slice/wmsd.service\n")
    service = groups / "system.slice" / "wmsd.service"
    service.mkdir(parents=True)
    (service / "memory.max").write_text("max\n")
    (service.parent / "memory.max").write_text("268435456\n")
    assert list(limits(own, groups)) == [268_435_456]


def test_without_control_groups_there_is_no_limit(tmp_path: Path) -> None:
    assert list(limits(tmp_path / "none", tmp_path)) == []
    own = tmp_path / "own"
    own.write_text("0::/\n")
    assert list(limits(own, tmp_path / "groups")) == []
