"""Tests of an export whose reader stops reading: the company's log does not wait for the reader."""

import subprocess

from tests.support.command import Home, first_day

WRITES = 300
MOST_LOG_BYTES = 6_000_000
"""The most bytes of the log. SQLite restarts the log at about 4 MB if no read prevents this."""


def test_the_log_begins_anew(home: Home) -> None:
    first_day(home)
    rows = "".join(f"A{number:05},{'x' * 200}\n" for number in range(3000))
    home.ok("import", "articles", "-", "--company", "ACME", stdin=f"code,name\n{rows}")
    log = home.data / "companies" / "1.db-wal"
    with home.serving(env={"WMSD_LIMITS_DATA_PER_MINUTE": "100000"}) as server:
        export = home.start("export", "articles", "--company", "ACME", stderr=subprocess.DEVNULL)
        with export:
            assert export.stdout is not None
            assert export.stdout.read(10) == "code,name,"
            for number in range(WRITES):
                assert server.send("PATCH", "/api/articles/1", {"name": f"{number:0100}"})[0] == 200
            assert log.stat().st_size < MOST_LOG_BYTES
            assert export.stdout.read().count("\n") == 3001
        assert export.returncode == 0
