"""Tests of the files of a log while they are written and rotated."""

import logging
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from wmsd.log import files as reading
from wmsd.log import output as logs
from wmsd.log.files import LONGEST_LINE, LogFiles
from wmsd.settings.sections.log import Log

LOG = logging.getLogger("wmsd.test")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LOOK_SECONDS", 0.0)


def rotate(file: Path, kept: int = 5) -> None:
    for number in range(kept, 0, -1):
        older = file.with_name(f"{file.name}.{number}")
        newer = file if number == 1 else file.with_name(f"{file.name}.{number - 1}")
        if newer.exists():
            newer.rename(older)


def add(file: Path, *lines: str) -> None:
    with file.open("a") as opened:
        opened.writelines(f"{line}\n" for line in lines)


def for_now(lines: Iterator[str | None]) -> list[str]:
    """Return the lines up to the third pause, because a rename may take one read."""
    found, pauses = [], 0
    for line in lines:
        pauses = pauses + 1 if line is None else 0
        if line is not None:
            found.append(line)
        if pauses == 3:
            break
    return found


def test_all_files_are_read_the_oldest_first(file: Path) -> None:
    for number in range(4):
        rotate(file)
        add(file, f"{number}a", f"{number}b")
    assert list(LogFiles(file).lines()) == ["0a", "0b", "1a", "1b", "2a", "2b", "3a", "3b"]
    assert list(LogFiles(file).lines(most_bytes=7)) == ["3a", "3b"]


def test_files_from_before_are_left_out(file: Path) -> None:
    add(file, "old")
    rotate(file)
    add(file, "new")
    before = datetime.now(UTC) - timedelta(days=2)
    os.utime(f"{file}.1", (before.timestamp(), before.timestamp()))
    assert list(LogFiles(file).lines(since=before + timedelta(days=1))) == ["new"]


def test_what_is_added_is_followed_over_rotations(file: Path) -> None:
    add(file, "1")
    lines = LogFiles(file).lines(is_followed=True)
    assert for_now(lines) == ["1"]
    add(file, "2")
    rotate(file)
    add(file, "3")
    assert for_now(lines) == ["2", "3"]
    for number in ("4", "5", "6"):
        rotate(file)
        add(file, number)
    add(file, "7")
    assert for_now(lines) == ["4", "5", "6", "7"]


def test_a_line_that_is_being_written_comes_whole(file: Path) -> None:
    file.write_text("first\nsec")
    lines = LogFiles(file).lines(is_followed=True)
    assert for_now(lines) == ["first"]
    add(file, "ond")
    assert for_now(lines) == ["second"]
    with file.open("a") as opened:
        opened.write("thi")
    assert for_now(lines) == []
    add(file, "rd")
    assert for_now(lines) == ["third"]


def test_a_file_that_is_cut_short_removed_or_replaced_is_read_from_its_beginning(file: Path) -> None:
    add(file, "1", "2")
    lines = LogFiles(file).lines(is_followed=True)
    assert for_now(lines) == ["1", "2"]
    os.truncate(file, 0)
    add(file, "3")
    assert for_now(lines) == ["3"]
    file.unlink()
    assert for_now(lines) == []
    add(file, "4")
    assert for_now(lines) == ["4"]


def test_a_line_without_an_end_takes_no_more_memory_than_it_may(file: Path) -> None:
    file.write_bytes(b"x" * (3 * LONGEST_LINE) + b"\xff\n")
    assert max(map(len, filter(None, LogFiles(file).lines()))) == LONGEST_LINE
    lines = LogFiles(file).lines(is_followed=True)
    assert max(map(len, for_now(lines))) <= LONGEST_LINE


def test_no_open_file_is_left_behind(file: Path) -> None:
    add(file, "1")
    lines = LogFiles(file).lines(is_followed=True)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(20):
        rotate(file)
        add(file, str(number))
        for_now(lines)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 2


@pytest.mark.usefixtures("logging_as_it_was")
def test_the_handler_of_the_service_is_followed_over_its_rotations(file: Path) -> None:
    logs.configure(Log(file=str(file), file_megabytes=1, files=4))
    LOG.info("begin")
    lines = LogFiles(file).lines(is_followed=True)
    found = for_now(lines)
    for number in range(40):
        LOG.info("%d %s", number, "x" * 100_000)
        if number % 15 == 14:
            found += for_now(lines)
    found += for_now(lines)
    numbers = [line.split()[3] for line in found]
    assert numbers == ["begin", *map(str, range(40))]


def test_a_file_that_is_not_there_is_told(file: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(LogFiles(file).lines())
