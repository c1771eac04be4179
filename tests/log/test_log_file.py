"""Tests of `log.file` of a running server."""

import os

import pytest

from tests.support.command import Home, first_day, hashes


def test_a_server_logs_to_its_file(home: Home) -> None:
    first_day(home)
    with home.serving(env={"WMSD_LOG_FILE": "wmsd.log"}) as server:
        assert server.get("/api/articles")[0] == 200
        assert server.stop() == 0
    written = (home.folder / "wmsd.log").read_text(encoding="utf-8")
    assert "GET /api/articles 200" in written
    assert " company=1 user=1 token=1 from=127.0.0.1 request=" in written
    assert "GET /api/articles" not in server.log


def test_a_file_that_cannot_be_written_is_told_before_anything_is_made(home: Home) -> None:
    sentence = home.refused("serve", env={"WMSD_LOG_FILE": "nowhere/wmsd.log"})
    assert sentence == (
        f"log.file: {home.folder}/nowhere/wmsd.log cannot be written: there is no folder "
        f"{home.folder}/nowhere. Create the folder or mount its disk, allow the user that runs wmsd to "
        "write there, or correct log.file."
    )
    assert not home.data.exists()


def test_a_start_that_fails_is_in_the_log_too(home: Home) -> None:
    env = {"WMSD_LOG_FILE": "wmsd.log", "WMSD_SERVER_TLS": "files", "WMSD_SERVER_CERTIFICATE": "none.pem"}
    assert home.refused("serve", env=env) == f"{home.folder}/none.pem cannot be read: no such file or directory."
    [line] = (home.folder / "wmsd.log").read_text(encoding="utf-8").splitlines()
    assert line.endswith(
        f"error   the start failed: {home.folder}/none.pem cannot be read: no such file or directory."
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is warned of being root")
def test_what_a_start_warns_of_is_shown_where_it_was_typed(home: Home) -> None:
    first_day(home)
    with home.serving(env={"WMSD_LOG_FILE": "wmsd.log"}) as server:
        assert server.get("/api/articles")[0] == 200
        assert server.stop() == 0
    written = (home.folder / "wmsd.log").read_text(encoding="utf-8")
    [warning] = [line for line in server.log.splitlines() if "wmsd runs as root" in line]
    assert warning in written.splitlines()
    assert "info" not in server.log


def test_no_line_is_written_into_a_database(home: Home) -> None:
    first_day(home)
    before = hashes(home.data)
    sentence = (
        f"log.file: {home.data}/platform.db cannot be written: it is a "
        "database. Choose another file, or use '' for standard error."
    )
    env = {"WMSD_LOG_FILE": "data/platform.db"}
    assert home.refused("serve", env=env).startswith(sentence)
    assert (
        f"cannot write in {home.data}/platform.db, named in log.file: it is a database"
        in home.run("config", "check", env=env).err
    )
    assert hashes(home.data) == before
