"""A disk that fails under a running server: a flood of requests is a line in its log."""

import json
import resource
import urllib.error
import urllib.request

from tests.support.command import Home, Server, first_day

QUIET = {"WMSD_LIMITS_DATA_PER_MINUTE": "100000", "WMSD_LOG_REQUESTS": "false"}


def post(server: Server, code: str) -> int:
    request = urllib.request.Request(
        f"{server.address}/api/articles",
        data=json.dumps({"code": code, "name": "x"}).encode(),
        headers={
            "Authorization": f"Bearer {server.token}",
            "X-Company-Id": "1",
            "Content-Type": "application/json",
        },
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_flood_of_writes_is_a_line(home: Home) -> None:
    """What the server may write ends where its log of changes does; reads go on in between."""
    with first_day(home).serving(env=QUIET) as server:
        log_of_changes = home.data / "companies" / "1.db-wal"
        for number in range(20):
            assert post(server, f"BEFORE-{number}") == 201
        hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (log_of_changes.stat().st_size, hard))
        for number in range(100):
            assert post(server, f"DURING-{number}") == 503
            assert server.get("/api/articles?per_page=1")[0] == 200
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        assert post(server, "AFTER") == 201
        told = [line for line in server.log.splitlines() if "company 1" in line]
        assert [line.partition(" error ")[2].strip().partition(" request=")[0] for line in told] == [
            "writes to company 1 fail: disk I/O error",  # of the first one the outcome is unknown
            "writes to company 1 fail: disk I/O error; 2 times by now",
        ]
