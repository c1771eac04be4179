"""`log.file` of a server that runs."""

from tests.support.command import Home, first_day


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
        "log.file: nowhere/wmsd.log cannot be written: no such file or directory. "
        "Choose another file, or standard error with ''."
    )
    assert not home.data.exists()
