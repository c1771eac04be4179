"""A program that receives alerts cannot block the server: the server waits for the program only for a bounded
time.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest

from wmsd.base.machine.secret_files import read_signing_secret
from wmsd.host.own_program import environment_of_others
from wmsd.server.alerts.alert_json import Outcome
from wmsd.server.alerts.alerts_file import Notice
from wmsd.server.alerts.channels import LONGEST_SHOWN, ToCommand

AT = "2026-11-24T12:00:00.000Z"
NOTICE = Notice(
    id="alert_1",
    number=1,
    event="alert.begun",
    kind="company-down",
    subject="7",
    facts={"company": "ACME; $(reboot)", "why": "gone."},
    begun_at=AT,
    at=AT,
)


def python(script: str, *arguments: str, seconds: float = 20.0) -> ToCommand:
    return ToCommand([sys.executable, "-c", script, *arguments], Path("data"), seconds)


async def test_the_alert_comes_as_json_and_no_shell_reads_the_arguments(tmp_path: Path) -> None:
    file = tmp_path / "got"
    script = "import sys; open(sys.argv[1], 'w').write(sys.argv[2] + chr(10) + sys.stdin.read()); print('thanks')"
    outcome = await python(script, str(file), "$(echo x) ; `y`").send(NOTICE, 1)
    assert outcome == Outcome(None, "thanks")
    argument, sent = file.read_text().splitlines()
    assert argument == "$(echo x) ; `y`"
    told = json.loads(sent)
    assert (told["event"], told["timestamp"]) == ("alert.begun", AT)
    assert told["data"]["alert"] == "company-down:7"
    assert told["data"]["facts"] == NOTICE.facts
    assert told["data"]["sentence"] == "The file of the company ACME; $(reboot) cannot be used or written: gone."


async def test_a_program_that_fails_says_why() -> None:
    outcome = await python("import sys; print('no \\x1b[31mroute', file=sys.stderr); sys.exit(3)").send(NOTICE, 1)
    assert outcome.error == "The program of alerts.command ended with exit status 3. Its output was: no [31mroute."


@pytest.mark.parametrize("program", ["/does/not/exist", "/etc/passwd", "/tmp"])
async def test_a_program_that_cannot_be_started_is_a_sentence(program: str) -> None:
    outcome = await ToCommand([program], Path("data")).send(NOTICE, 1)
    assert outcome.error is not None
    assert outcome.error.startswith(f"The program {program} of alerts.command cannot be started: ")


@pytest.mark.parametrize("code", [0, 1])
async def test_a_program_that_ends_before_it_is_told_anything_is_no_trouble(code: int) -> None:
    way = ToCommand(["/bin/sh", "-c", f"exec 0<&-; exit {code}"], Path("data"))
    expected = "The program of alerts.command ended with exit status 1. Its output was: nothing." if code else None
    for _ in range(20):
        assert (await way.send(NOTICE, 1)).error == expected


async def test_a_program_that_does_not_read_and_says_much_is_heard_to_its_end() -> None:
    outcome = await python("print('x' * 5_000_000)").send(NOTICE, 1)
    assert outcome.error is None
    assert outcome.said == "x" * LONGEST_SHOWN


async def test_a_program_that_hangs_is_ended_with_all_that_it_has_started(tmp_path: Path) -> None:
    """The child of the program keeps its output open. Without the kill, wmsd would read from the output for
    ever.
    """
    file = tmp_path / "pids"
    script = (
        "import os, subprocess, sys, time; child = subprocess.Popen(['sleep', '300']);"
        "open(sys.argv[1], 'w').write(f'{os.getpid()} {child.pid}');"
        "sys.exit() if sys.argv[2] else time.sleep(300)"
    )
    for ends in ("", "ends itself"):
        outcome = await python(script, str(file), ends, seconds=2.0).send(NOTICE, 1)
        assert outcome.error == "The program of alerts.command did not end within 2 s, and wmsd stopped it."
        for pid in map(int, file.read_text().split()):
            assert not await _runs(pid)


async def _runs(pid: int) -> bool:
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            if _state(pid) == "Z":
                return False
        except OSError:
            return False
        await asyncio.sleep(0.05)
    return True


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


async def test_one_at_a_time_and_a_stop_ends_it(tmp_path: Path) -> None:
    script = (
        "import os, sys, time\n"
        "os.open(sys.argv[1], os.O_CREAT | os.O_EXCL)\ntime.sleep(0.2)\nos.unlink(sys.argv[1])"
    )
    way = python(script, str(tmp_path / "lock"))
    outcomes = await asyncio.gather(*(way.send(NOTICE, 1) for _ in range(3)))
    assert [each.error for each in outcomes] == [None, None, None]
    file = tmp_path / "pid"
    hanging = python(
        "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(300)", str(file)
    )
    task = asyncio.ensure_future(hanging.send(NOTICE, 1))
    while not file.exists() or not file.read_text():  # noqa: ASYNC110  # there is no event to wait for
        await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.wait([task])
    assert not await _runs(int(file.read_text()))


def test_the_program_gets_neither_settings_nor_libraries_of_the_one_file() -> None:
    given = {
        "PATH": "/bin",
        "WMSD_SIGN_ON_SECRET": "hush",
        "LD_LIBRARY_PATH": "/tmp/_MEI1",
        "LD_LIBRARY_PATH_ORIG": "/opt/lib",
        "_PYI_ARCHIVE_FILE": "/usr/bin/wmsd",
    }
    assert environment_of_others(given) == {"PATH": "/bin", "LD_LIBRARY_PATH": "/opt/lib"}
    del given["LD_LIBRARY_PATH_ORIG"]
    assert environment_of_others(given) == {"PATH": "/bin"}
    assert environment_of_others({"LD_LIBRARY_PATH": "/opt/lib"}) == {"LD_LIBRARY_PATH": "/opt/lib"}


@pytest.mark.parametrize(
    "held", [b"", b"short", b"two words of a secret", b"whsec_!!!!!!!!!!!!!!!!!", b"\xff" * 40]
)
def test_a_secret_that_cannot_sign_is_refused(tmp_path: Path, held: bytes) -> None:
    file = tmp_path / "secret"
    file.write_bytes(held)
    with pytest.raises(ValueError, match=str(file)) as refused:
        read_signing_secret(file)
    assert held == b"" or held.decode("latin-1") not in str(refused.value)
