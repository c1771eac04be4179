"""`wmsd status`: the report of a running server, and the report without a server."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.support.command import Home, Server, first_day
from wmsd import __version__
from wmsd.interfaces.cli.server.status import CLEAR
from wmsd.platform.admin_view.findings_file import Examination, KeptFinding, write_examination
from wmsd.server.alerts.alerts_file import Kept, OpenAlert, write_alerts


@pytest.fixture(scope="module")
def server(shared: Home) -> Iterator[Server]:
    with shared.serving(env={"WMSD_LIMITS_DATA_PER_MINUTE": "100000"}) as server:
        yield server


def test_without_a_server_it_says_what_the_files_say(home: Home) -> None:
    first_day(home)
    said = home.ok("status", "--json").json
    assert (said["server"], said["companies"], said["live"], said["ok"]) == ("not running", 1, None, True)
    assert "requests" not in home.ok("status").out
    assert (
        said["backup folder"]
        == f"{home.folder / 'data-backups'}, on the same disk as the data: if the disk fails, both are lost"
    )


def test_it_says_what_a_server_has_written_down(home: Home) -> None:
    first_day(home)
    shown = home.ok("status", "--json").json
    assert (shown["alerts"], "examined" in shown) == ("none", False)
    alert = OpenAlert(kind="company_down", subject="ACME", begun_at="2026-11-24T08:00:00Z", facts={})
    write_alerts(home.data, Kept(open=[alert]))
    finding = KeptFinding(file="ACME", kind="error", sentence="cannot be read")
    began = "2026-11-24T09:00:00Z"
    write_examination(home.data, Examination(began_at=began, ended_at=began, findings=[finding], more=2))
    done = home.run("status", "--json")
    [said] = done.wrong
    assert said.startswith("1 alert was open for the last server, as of 20")
    assert said.endswith("Z: `wmsd alerts` says which, and what to do. Start the server, which checks again.")
    shown = done.json
    assert shown["alerts"].startswith("1 open for the last server, as of 20")
    assert (done.code, shown["examined"]) == (1, f"{began}, findings: 3")
    write_examination(home.data, Examination(began_at=began, error="The disk is full."))
    assert home.run("status", "--json").json["examined"] == f"{began}, interrupted: The disk is full."


def test_a_server_tells_its_figures(shared: Home, server: Server) -> None:
    for _ in range(3):
        assert server.get("/api/articles")[0] == 200
    assert server.get("/api/articles/7")[0] == 404
    live = shared.ok("status", "--json").json["live"]
    assert live["version"] == __version__
    assert live["requests"]["rest_v1"]["by_class"] == [3, 0, 1, 0]
    assert live["last_minute"]["requests"] == 4
    assert 0 < live["last_minute"]["p50_seconds"] <= live["last_minute"]["p99_seconds"]
    assert live["companies"]["known"] == 1
    assert live["process"]["memory_bytes"] > 10_000_000
    assert live["up_seconds"] > 0


def test_people_read_the_same_in_words(shared: Home, server: Server) -> None:
    lines = dict(line.split("  ", 1) for line in shared.ok("status").out.splitlines())
    assert lines["server"].strip() == f"process {server.process.pid}, listening on {server.address[7:]}"
    assert " in the last " in lines["requests"]
    for name in ("up", "event loop", "open companies", "deliveries", "logs", "memory", "open files", "signed in"):
        assert lines[name].strip()


def test_a_company_whose_file_is_damaged_is_named(home: Home) -> None:
    first_day(home)
    home.ok("company", "create", "BAD", "--name", "Bad", "--all-modules")
    (home.data / "companies" / "2.db").write_bytes(b"not a database" * 1000)
    with home.serving() as server:
        assert server.get("/api/articles", company=2)[0] == 503
        done = home.run("status", "--json")
        assert done.code == 1
        assert done.json["cannot be used"] == "BAD"
        assert done.json["live"]["companies"]["unavailable"] == ["BAD"]
        assert any("BAD" in sentence for sentence in done.wrong)


def watching(home: Home, *options: str) -> tuple[int, list[str]]:
    with home.start("status", "--watch", *options) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline(), process.stdout.readline()]
        process.send_signal(signal.SIGINT)
        return process.wait(30), lines


def test_watching_writes_a_line_for_each_look_and_ends_with_ctrl_c(shared: Home, server: Server) -> None:
    code, lines = watching(shared)
    assert code == 0
    assert all("requests " in line and CLEAR not in line for line in lines)
    assert "\x1b" not in "".join(lines)


def test_watching_as_json_writes_an_object_in_each_line(shared: Home, server: Server) -> None:
    code, lines = watching(shared, "--json")
    assert code == 0
    assert [json.loads(line)["live"]["version"] for line in lines] == [__version__] * 2


@pytest.mark.parametrize("is_stopped", [True, False])
def test_a_server_that_does_not_answer_is_told(home: Home, is_stopped: bool) -> None:
    first_day(home)
    with home.serving() as server:
        pid = server.process.pid
        if is_stopped:
            server.process.send_signal(signal.SIGSTOP)
        else:
            (home.data / "server.socket").unlink()
        try:
            began = time.monotonic()
            done = home.run("status", "--json")
            took = time.monotonic() - began
        finally:
            server.process.send_signal(signal.SIGCONT)
    assert (done.code, done.json["live"], done.json["ok"]) == (1, None, False)
    assert done.json["server"] == f"process {pid}, does not answer"
    [said] = done.wrong
    assert said.startswith(f"The server, process {pid}, does not answer: it is suspended, stuck,")
    assert f"To continue a suspended server: kill -CONT {pid}." in said
    assert took < 15


def test_metrics_have_an_address_of_their_own(home: Home) -> None:
    first_day(home)
    with home.serving(env={"WMSD_METRICS_LISTEN": "127.0.0.1:0"}) as server:
        (line,) = [each for each in server.log.splitlines() if "metrics at http://127.0.0.1:" in each]
        address = line.partition("metrics at ")[2].split()[0]
        text = subprocess.run(["curl", "-sS", address], capture_output=True, text=True, check=True).stdout
        assert "wmsd_companies 1.0" in text
        taken = address.removeprefix("http://").removesuffix("/metrics")
        other = ("serve", "--listen", "127.0.0.1:0", "--data", "other")
        told = home.run_fresh(*other, env={"WMSD_METRICS_LISTEN": taken})
    assert told.code == 1
    assert f"Cannot listen on {taken} for metrics: address already in use." in told.err
