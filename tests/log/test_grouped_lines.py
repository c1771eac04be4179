"""Tests of request lines in groups: the same lines, in order and complete."""

import json
import logging
import resource
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.log_files import lines
from tests.support.log_lines import keeping
from wmsd.log import line_writer
from wmsd.log import output as logs
from wmsd.log.line_writer import REQUESTS, GroupedLines, RequestLine, log_request
from wmsd.log.output import HumanFormatter, JsonFormatter
from wmsd.settings.sections.log import Log

pytestmark = pytest.mark.usefixtures("logging_as_it_was")
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "request_id": st.text(max_size=8),
        "status": st.integers(100, 599),
        "address": st.text(max_size=8),
        "company_id": st.text(max_size=3),
        "user_id": st.none() | st.integers(1, 9),
        "token_id": st.none() | st.integers(1, 9),
    },
)
LINES = st.builds(
    RequestLine,
    st.floats(0, 4e9),
    st.sampled_from(["GET", "POST", "B\x1b[31mD"]),
    st.text(max_size=20),
    st.integers(100, 599),
    st.floats(0, 1e6),
    st.sampled_from(["", " (Bad status line)"]),
    FIELDS,
)


def asked(path: str = "/api/articles") -> RequestLine:
    return RequestLine(time.time(), "GET", path, 200, 1.25, "", {"status": 200, "company_id": "1"})


def open_log(path: Path) -> GroupedLines:
    logs.configure(Log(file=str(path)))
    (handler,) = logging.getLogger().handlers
    assert isinstance(handler, GroupedLines)
    return handler


@given(LINES)
def test_a_line_of_a_group_is_that_of_its_record(line: RequestLine) -> None:
    for formatter in (HumanFormatter(), JsonFormatter()):
        assert formatter.format_request(line) == formatter.format(line.record())


def test_they_are_written_soon_by_themselves(tmp_path: Path) -> None:
    open_log(tmp_path / "log")
    log_request(asked())
    for _ in range(1000):
        if lines(tmp_path / "log"):
            break
        time.sleep(0.01)
    assert lines(tmp_path / "log") == ["GET /api/articles 200 1.2 ms company=1"]


def test_a_thread_that_could_not_start_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    open_log(tmp_path / "log")
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        log_request(asked("/1"))
    log_request(asked("/2"))
    for _ in range(1000):
        if len(lines(tmp_path / "log")) == 2:
            break
        time.sleep(0.01)
    assert [line.split()[1] for line in lines(tmp_path / "log")] == ["/1", "/2"]


def test_whatever_else_is_logged_comes_after_those_that_wait(tmp_path: Path) -> None:
    open_log(tmp_path / "log")
    for number in range(3):
        log_request(asked(f"/{number}"))
        REQUESTS.warning("between")
    log_request(asked("/last"))
    told = [line.removesuffix(" 200 1.2 ms company=1") for line in lines(tmp_path / "log")]
    assert told == ["GET /0", "between", "GET /1", "between", "GET /2", "between"]


def test_the_last_are_written_at_the_end(tmp_path: Path) -> None:
    handler = open_log(tmp_path / "log")
    for number in range(1200):
        log_request(asked(f"/{number}"))
    handler.close()
    assert [line.split()[1] for line in lines(tmp_path / "log")] == [f"/{number}" for number in range(1200)]


def test_another_handler_gets_each_as_a_record() -> None:
    with keeping() as kept:
        log_request(asked("/a\nb"))
    (line,) = kept.objects
    assert (line["message"], line["logger"], line["level"]) == ("GET /a\\nb 200 1.2 ms", "wmsd.request", "info")
    assert (line["status"], line["company_id"]) == (200, "1")


def test_what_a_slow_disk_cannot_take_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_writer, "MOST_WAITING", 10)
    handler = open_log(tmp_path / "log")
    handler.acquire()  # as if a write took long
    try:
        for number in range(25):
            log_request(asked(f"/{number}"))
    finally:
        handler.release()
    handler.flush()
    *some, last = lines(tmp_path / "log")
    assert [line.split()[1] for line in some] == [f"/{number}" for number in range(10)]
    assert last == "15 requests were not logged, because the log could not be written fast enough"


def test_a_full_disk_loses_lines_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    handler = open_log(tmp_path / "log")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        for number in range(10):
            log_request(asked(f"/{number}"))
            handler.flush()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    log_request(asked("/back"))
    handler.flush()
    assert lines(tmp_path / "log")[0] == "GET /0 200 1.2 ms company=1"
    assert lines(tmp_path / "log")[-1] == "GET /back 200 1.2 ms company=1"
    assert capsys.readouterr().err == ""


def test_a_file_is_rotated_between_groups(tmp_path: Path) -> None:
    logs.configure(Log(file=str(tmp_path / "log"), file_megabytes=1, files=3))
    (handler,) = logging.getLogger().handlers
    for number in range(20_000):
        log_request(asked(f"/{number}/{'x' * 100}"))
        if number % 400 == 0:
            handler.flush()
    handler.close()
    kept = [line.split("/")[1] for name in ("log.2", "log.1", "log") for line in lines(tmp_path / name)]
    assert kept == [str(number) for number in range(20_000 - len(kept), 20_000)], "the latest, without a gap"
    assert max(path.stat().st_size for path in tmp_path.iterdir()) < 1_200_000


def flush_often(handler: logging.Handler) -> None:
    for _ in range(300):
        handler.flush()


def test_lines_that_come_while_a_group_is_written_are_written_too(tmp_path: Path) -> None:
    handler = open_log(tmp_path / "log")
    writer = threading.Thread(target=flush_often, args=(handler,))
    writer.start()
    for number in range(3000):
        log_request(asked(f"/{number}"))
    writer.join()
    handler.flush()
    assert [line.split()[1] for line in lines(tmp_path / "log")] == [f"/{number}" for number in range(3000)]


def test_on_standard_error_too(capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure(Log(format="json"))
    log_request(asked())
    (handler,) = logging.getLogger().handlers
    handler.flush()
    assert json.loads(capfd.readouterr().err)["message"] == "GET /api/articles 200 1.2 ms"
