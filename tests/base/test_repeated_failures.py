"""Tests of what is logged about an operation that fails again and again."""

import logging
from contextlib import closing
from pathlib import Path

import pytest

from wmsd.base.repeated_failures import FLAPPING_SECONDS, MOST_REMEMBERED, SILENT_SECONDS, RepeatedFailures
from wmsd.db.engine.sqlite import connect, sqlite3

LOG = logging.getLogger("tests.complaints")
FULL = OSError("the disk is full")


class Scene:
    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO)
        self.caplog = caplog
        self.now = 0.0
        self.complaints = RepeatedFailures(LOG, (sqlite3.Error,), monotonic=lambda: self.now)

    @property
    def lines(self) -> list[str]:
        return [record.getMessage() for record in self.caplog.records]


@pytest.fixture
def scene(caplog: pytest.LogCaptureFixture) -> Scene:
    return Scene(caplog)


def test_once_and_after_an_hour_and_when_it_is_over(scene: Scene) -> None:
    for _ in range(100):
        scene.complaints.failed("nothing can be written", FULL)
    scene.now += SILENT_SECONDS
    scene.complaints.failed("nothing can be written", FULL)
    scene.complaints.over("nothing can be written")
    scene.complaints.over("nothing can be written")
    assert scene.lines == [
        "nothing can be written: the disk is full",
        "nothing can be written: the disk is full; 101 failures so far",
        "resolved after 101 failures: nothing can be written",
    ]


def test_what_is_tried_fails_or_succeeds(scene: Scene) -> None:
    for error in (FULL, None):
        with scene.complaints.trying("it", OSError):
            if error is not None:
                raise error
    assert scene.lines == ["it: the disk is full", "resolved after 1 failure: it"]
    with pytest.raises(KeyError), scene.complaints.trying("it", OSError):
        raise KeyError
    assert len(scene.lines) == 2


def test_what_comes_and_goes_does_not_fill_the_log(scene: Scene) -> None:
    for _ in range(100):
        scene.complaints.failed("it", FULL)
        scene.complaints.over("it")
    assert len(scene.lines) == 2
    scene.now += FLAPPING_SECONDS
    scene.complaints.failed("it", FULL)
    assert len(scene.lines) == 3


def test_another_error_is_told_too_and_a_mistake_of_the_program_with_its_trace(scene: Scene) -> None:
    for error in (FULL, KeyError("x"), FULL, KeyError("x"), MemoryError()):
        scene.complaints.failed("it", error)
    assert scene.lines == [
        "it: the disk is full",
        "it: 'x'; 2 failures so far",
        "it: MemoryError; 5 failures so far",
    ]
    assert [record.exc_info is not None for record in scene.caplog.records] == [False, True, False]


def test_what_it_came_from_is_told(scene: Scene) -> None:
    try:
        raise ValueError("cannot be sent") from FULL
    except ValueError as error:
        scene.complaints.failed("it", error)
    assert scene.lines == ["it: cannot be sent (the disk is full)"]


def test_a_cause_that_the_error_names_itself_is_not_told_twice(scene: Scene) -> None:
    try:
        raise ValueError("cannot be sent: the disk is full") from FULL
    except ValueError as error:
        scene.complaints.failed("it", error)
    assert scene.lines == ["it: cannot be sent: the disk is full"]


def test_the_same_error_of_another_cause_is_told_too(scene: Scene) -> None:
    for cause in (FULL, TimeoutError("too late"), FULL):
        error = ValueError("cannot be sent")
        error.__cause__ = cause
        scene.complaints.failed("it", error)
    assert scene.lines == [
        "it: cannot be sent (the disk is full)",
        "it: cannot be sent (too late); 2 failures so far",
    ]


def test_the_success_of_what_has_never_failed_is_not_told(scene: Scene) -> None:
    scene.complaints.over("it")
    assert scene.lines == []


def test_no_more_is_remembered_than_has_room(scene: Scene) -> None:
    for number in range(MOST_REMEMBERED + 1):
        scene.complaints.failed(f"host {number}", FULL)
    scene.complaints.failed("host 1", FULL)
    assert len(scene.lines) == MOST_REMEMBERED + 1
    scene.complaints.failed("host 0", FULL)
    assert len(scene.lines) == MOST_REMEMBERED + 2


def test_what_some_succeed_at_is_over_when_it_has_not_failed_for_a_while(scene: Scene) -> None:
    complaints = RepeatedFailures(LOG, monotonic=lambda: scene.now, settled_seconds=60)
    for _ in range(100):
        complaints.failed("it", FULL)
        scene.now += 59
        complaints.over("it")
    assert scene.lines == ["it: the disk is full", "it: the disk is full; 63 failures so far"]
    scene.now += 1
    complaints.over("it")
    complaints.over("it")
    assert scene.lines[2:] == ["resolved after 100 failures: it"]


def test_errors_of_sqlite_are_told_apart_though_they_have_one_type(scene: Scene, tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError) as missing:
        connect(tmp_path / "missing")
    with closing(sqlite3.connect(":memory:")) as connection, pytest.raises(sqlite3.OperationalError) as wrong:
        connection.execute("SELECT * FROM missing")
    for error in (missing.value, wrong.value) * 2:
        scene.complaints.failed("it", error)
    assert scene.lines == ["it: unable to open database file", "it: no such table: missing; 2 failures so far"]


def test_the_request_that_it_was_told_of_stands_in_the_line(scene: Scene) -> None:
    for request in ("one", "two"):
        scene.complaints.failed("it", FULL, request)
    assert [vars(record)["request_id"] for record in scene.caplog.records] == ["one"]


def test_while_it_goes_on_it_is_told_hour_by_hour(scene: Scene) -> None:
    scene.now = 1_000_000.0
    scene.complaints.failed("it", FULL)
    for wait in (FLAPPING_SECONDS, SILENT_SECONDS - FLAPPING_SECONDS - 1, 1):
        scene.now += wait
        scene.complaints.failed("it", FULL)
    assert scene.lines == ["it: the disk is full", "it: the disk is full; 4 failures so far"]


def test_what_begins_again_is_counted_from_the_beginning(scene: Scene) -> None:
    for _ in range(2):
        scene.complaints.failed("it", FULL)
        scene.complaints.over("it")
        scene.now += SILENT_SECONDS
    again = "resolved after 1 failure: it"
    assert scene.lines == ["it: the disk is full", again, "it: the disk is full", again]
