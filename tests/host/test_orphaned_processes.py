"""Tests of orphaned processes: they are handed to the program as process 1 of a container, and do not stay in the
process table.
"""

import subprocess
import sys

SCRIPT = """
import subprocess, time
from pathlib import Path
from wmsd.host.orphaned_processes import Orphans, adopt_orphans

def state(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"

def until_ended(process):
    while state(process) != "Z":
        time.sleep(0.01)

adopt_orphans()
orphans = Orphans()
said = subprocess.run(["sh", "-c", "sleep 0.1 >&2 & echo $!"], stdout=subprocess.PIPE, check=True).stdout
left = int(said)
orphans.look()
until_ended(left)
orphans.look()
print(state(left))
own = subprocess.Popen(["sh", "-c", "exit 7"])
until_ended(own.pid)
orphans.look()
print(state(left), own.wait())
"""


def test_it_goes_with_the_second_look_and_own_children_are_left_to_who_waits() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.split(), done.stderr) == (["Z", "gone", "7"], "")
