"""The examination in a separate process beside the server: its output is read and bounded, and its result is
stored.
"""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.support.steering import SteeredClock
from wmsd.data_folder.folder import DataFolder
from wmsd.installation.child_command import LONGEST_LINE, MOST_SAID, Beside
from wmsd.maintenance.doctor.examine import Report
from wmsd.maintenance.file_checks.company_checks import Difference, Findings
from wmsd.platform.admin_view.examination_runs import STOPPED, Examinations
from wmsd.platform.admin_view.findings_file import (
    FILE,
    LONGEST,
    MOST_KEPT,
    MOST_OF_FILE,
    Examination,
    Examined,
    read_examination,
    report_as_json,
)

GOOD = json.dumps({"examined": {"findings": [], "more": 0}})
BAD = json.dumps(
    {"examined": {"findings": [{"file": "ACME", "kind": "difference", "sentence": "It differs."}], "more": 2}}
)


def examinations(folder: Path, program: str) -> Examinations:
    return Examinations([sys.executable, "-c", program], DataFolder(folder), SteeredClock())


async def done(work: Examinations) -> None:
    async with asyncio.timeout(30):
        while work.is_running:  # noqa: ASYNC110  # there is no event to wait for
            await asyncio.sleep(0.01)


async def test_what_it_finds_is_kept(tmp_path: Path) -> None:
    work = examinations(tmp_path, f"print({GOOD!r}); print({BAD!r})")
    assert await work.last() is None
    assert work.begin()
    await done(work)
    kept = await examinations(tmp_path, "").last()
    assert kept is not None
    assert (kept.files, kept.wrong, kept.more, kept.error) == (2, 1, 2, None)
    assert kept.ended_at == kept.began_at == "2026-11-20T12:00:00.000Z"
    assert [(each.file, each.sentence) for each in kept.findings] == [("ACME", "It differs.")]


async def test_there_is_one_at_a_time(tmp_path: Path) -> None:
    work = examinations(tmp_path, "import sys; sys.stdin.read(); import time; time.sleep(0.3)")
    assert [work.begin(), work.begin()] == [True, False]
    await done(work)
    assert work.begin()
    await work.stop()


@pytest.mark.parametrize(
    ("program", "files", "error"),
    [
        (f"print({GOOD!r}); import sys; sys.exit('wmsd: no luck')", 1, "wmsd: no luck"),
        (
            f"print({GOOD!r}, flush=True); import os; os._exit(3)",
            1,
            "The examination failed with exit status 3. Run wmsd doctor to see why.",
        ),
        (f"print('no JSON'); print('{{'); print('[]'); print({GOOD!r})", 1, None),
        (f"print('{{' + 'x' * {LONGEST_LINE * 2}); print({GOOD!r})", 1, None),
        (f'print(\'{{"examined": 5}}\'); print(\'{{"examined": {{"findings": 5}}}}\'); print({GOOD!r})', 1, None),
        (f"import sys; sys.stderr.write('x' * {MOST_SAID * 4}); print({GOOD!r})", 1, None),
    ],
    ids=["refused", "dead", "no JSON", "a long line", "of another form", "talks much"],
)
async def test_whatever_it_says(tmp_path: Path, program: str, files: int, error: str | None) -> None:
    work = examinations(tmp_path, program)
    assert work.begin()
    await done(work)
    kept = await work.last()
    assert kept is not None
    assert (kept.files, kept.error) == (files, error)
    assert (kept.ended_at is None) == (error is not None)


async def test_a_program_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    work = Examinations(["/nowhere/wmsd"], DataFolder(tmp_path), SteeredClock())
    assert work.begin()
    await done(work)
    kept = await work.last()
    assert kept is not None
    assert kept.error is not None
    assert "No such file" in kept.error
    assert work.begin(), "another one may begin"
    await done(work)


async def test_a_stop_keeps_what_was_found(tmp_path: Path) -> None:
    work = examinations(tmp_path, f"print({BAD!r}, flush=True); import time; time.sleep(60)")
    assert work.begin()
    async with asyncio.timeout(30):
        while not work.found.files:  # noqa: ASYNC110  # there is no event to wait for
            await asyncio.sleep(0.01)
    await work.stop()
    kept = await work.last()
    assert kept is not None
    assert (kept.files, kept.wrong, kept.error, kept.ended_at) == (1, 1, STOPPED, None)


async def test_a_stop_before_it_has_begun_leaves_no_process(tmp_path: Path) -> None:
    work = examinations(tmp_path, "import time; time.sleep(60)")
    assert work.begin()
    await work.stop()
    assert not work.is_running
    assert not work._beside.is_running


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"began_at": 5}', b"\xff\xfe"])
def test_findings_that_cannot_be_read_are_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    assert read_examination(tmp_path) is None


def test_what_is_kept_is_bounded() -> None:
    many = Findings(differences=[Difference("a" * 9999, "b", "c", "d")] * (MOST_OF_FILE + 30))
    told = Examined.model_validate(report_as_json(Report("ACME", "ACME", Path("1.db"), many)))
    assert (len(told.findings), told.more) == (MOST_OF_FILE, 30)
    assert len(told.findings[0].sentence) == LONGEST
    kept = Examination(began_at="x")
    for _ in range(20):
        kept = kept.with_file(told)
    assert (len(kept.findings), kept.wrong) == (MOST_KEPT, 20)
    assert len(kept.findings) + kept.more == 20 * (MOST_OF_FILE + 30)


async def test_work_beside_is_told_line_by_line_as_it_comes() -> None:
    heard: list[object] = []
    program = "import sys\nfor n in range(3): print('{\"n\": %d}' % n, flush=True)\nsys.exit(4)"
    beside = Beside([sys.executable, "-c", program], heard.append)
    ended = await beside.run()
    assert (heard, ended.code, beside.is_running) == ([{"n": 0}, {"n": 1}, {"n": 2}], 4, False)
