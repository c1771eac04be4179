"""`wmsd serve`: its messages at the start, and every problem that stops the start."""

import json
import os
import shlex
import signal
import socket
import subprocess
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.command import NO_BACKUPS, Home, files_up_to, first_day, hashes
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.failures import StorageError


def test_it_makes_its_folder_and_greets(home: Home) -> None:
    with home.serving() as server:
        assert server.get("/api/health", token="", company=None)[1]["status"] == "ok"
        assert server.greeting == [f"wmsd serves {server.address}", f"Guide:        {server.address}/docs"]
        assert server.process.stdout is not None
        link = server.process.stdout.readline().split()[2]
        assert link.startswith(f"{server.address}/first-admin?code=")
        with urllib.request.urlopen(link) as page:
            assert b"The first admin" in page.read()
        assert server.log.startswith(f"Data folder: {home.data}\n")
        assert home.ok("company", "list", "--json").json == []
        assert server.stop() == 0
        assert server.log.splitlines()[-2] == "Stopping: running requests finish first."
    assert sorted(hashes(home.data)) == ["platform.db"]


def test_its_links_begin_with_the_public_url(home: Home) -> None:
    public = "https://wms.example.com"
    with home.serving("--demo", env={"WMSD_SERVER_PUBLIC_URL": public}, last_line="As ") as server:
        assert server.address.startswith("http://127.0.0.1:"), "it says where it listens"
        assert server.greeting[1] == f"Guide:        {public}/docs"
        links = [each.split() for each in server.greeting if "?code=" in each]
        assert [each[2].partition("?")[0] for each in links[:2]] == [f"{public}/first-admin", f"{public}/demo"]


def test_the_demo_gives_a_line_that_works(home: Home) -> None:
    with home.serving("--demo") as server:
        assert server.process.stdout is not None
        for line in server.process.stdout:
            if line.startswith("curl "):
                break
        _, _, authorization, _, company, url = shlex.split(line)
        headers = dict(header.split(": ", 1) for header in (authorization, company))
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            assert b'"total":' in answer.read()


def test_a_second_server_is_told_who_has_the_folder(home: Home) -> None:
    (home.folder / "link").symlink_to("data")
    with home.serving() as server:
        before = hashes(home.data)
        for arguments in ((), ("--data", "link"), ("--listen", "127.0.0.1:0")):
            refused = home.refused("serve", *arguments)
            assert ": process " in refused
            assert f"process {server.process.pid}, listening on 127.0.0.1:" in refused
            assert refused.endswith("Stop that wmsd first, or choose another folder with --data.")
        assert hashes(home.data) == before
        assert server.get("/api/health", token="", company=None)[0] == 200
    with home.serving() as server:
        assert server.get("/api/health", token="", company=None)[0] == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_a_port_in_use(home: Home, host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as taken:
        try:
            taken.bind((host.strip("[]"), 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
        taken.listen()
        address = f"{host}:{taken.getsockname()[1]}"
        refused = home.refused("serve", "--listen", address)
    name = Path("/proc/self/comm").read_text(encoding="utf-8").strip()
    assert refused == (
        f"Cannot listen on {address}: address already in use. Another program listens on {address}: process "
        f"{os.getpid()} ({name}). Stop that program, or choose another address in server.listen (--listen)."
    )
    assert list(home.folder.iterdir()) == [], "nothing is made for it"


@pytest.mark.parametrize(
    ("listen", "reason"),
    [
        ("203.0.113.7:8480", "cannot assign requested address"),
        ("no-such-host.invalid:8480", "name or service not known"),
        ("x" * 70 + ":8480", "this host name is not possible"),
    ],
)
def test_an_address_that_is_not_ours(home: Home, listen: str, reason: str) -> None:
    refused = home.refused("serve", "--listen", listen)
    assert refused.startswith(f"Cannot listen on {listen}: ")
    if "invalid" not in listen:  # the resolver decides about the reason
        assert refused.endswith(f": {reason}. Choose another address in server.listen (--listen).")


def test_a_port_of_another_wmsd(home: Home) -> None:
    first_day(home)
    (home.folder / "other").mkdir()
    with home.serving() as server:
        listen = server.address.partition("://")[2]
        env = {"WMSD_SERVER_LISTEN": listen}
        told = (
            f"Another wmsd listens on {listen}: it serves {home.data}. Stop that wmsd, or choose another address"
        )
        assert told in home.refused("serve", "--data", "other/data", env=env)
        checked = home.run_fresh("config", "check", "--data", "other/data", env=env)
        assert (checked.code, told.partition(" Stop")[0] in checked.err) == (1, True)
        assert list((home.folder / "other").iterdir()) == [], "nothing is made for it"
        own = home.run_fresh("config", "check", env=env)
        assert (own.code, own.err.splitlines()[-1]) == (0, "The settings have no errors.")
        assert server.get("/api/articles")[0] == 200
        assert server.stop() == 0


def test_a_data_folder_that_cannot_be(home: Home) -> None:
    home.write("file", "not a folder\n")
    (home.folder / "nowhere").symlink_to("gone/away")
    before = hashes(home.folder)
    for place, reason in (
        ("file/below", "not a directory"),
        ("nowhere", "file exists"),
        ("/proc/wmsd", "no such file or directory"),
        ("/dev/null", "file exists"),
    ):
        assert (
            home.refused("serve", "--data", place)
            == f"The data folder {home.folder / place} cannot be created: {reason}."
        )
        created = home.refused("company", "create", "A", "--name", "A", "--init", "--data", place)
        assert created == f"The data folder {home.folder / place} cannot be created: {reason}."
        assert home.refused("company", "list", "--data", place).startswith("There is no wmsd data in ")
    is_a_file = f"{home.folder}/file is a file, not a data folder. Name a folder with --data."
    assert home.refused("serve", env={"WMSD_SERVER_DATA": "file"}) == is_a_file
    assert home.refused("company", "create", "A", "--name", "A", "--init", "--data", "file") == is_a_file
    assert hashes(home.folder) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_data_folder_without_permission(home: Home) -> None:
    first_day(home)
    before = hashes(home.data)
    home.data.chmod(0o500)
    try:
        for arguments in (("serve",), ("serve", "--data", "data/new"), ("company", "list")):
            assert "permission denied" in home.refused(*arguments).lower()
    finally:
        home.data.chmod(0o700)
    assert hashes(home.data) == before


def test_a_disk_that_takes_nothing(home: Home) -> None:
    first_day(home)
    before = hashes(home.data)
    refusals = {
        ("serve",): f"The data folder {home.data} cannot be written: file too large.",
        ("company", "create", "NEW", "--name", "New"): f"{home.data}/platform.db cannot be used: disk I/O error. "
        "Nothing was changed. Check whether the disk is full, failing or read-only.",
    }
    for command, sentence in refusals.items():
        done = home.run_fresh(*command, preexec_fn=files_up_to(1000))
        assert (done.code, done.out) == (1, "")
        assert done.wrong == [sentence]
        assert done.err.splitlines()[1:] == [f"wmsd: {done.wrong[0]}"]
    assert hashes(home.data) == before


def test_a_certificate_that_is_none(home: Home) -> None:
    home.write("text.pem", "no certificate")
    for name in ("text.pem", "none.pem", "."):
        refused = home.refused("serve", env={"WMSD_SERVER_TLS": name})
        assert refused.startswith(f"{home.folder / name} ")
    assert not home.data.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_when_it_is_told_to(home: Home, number: signal.Signals) -> None:
    with home.serving() as server:
        server.process.send_signal(number)
        assert server.process.wait(15) == 0
    assert "Traceback" not in server.log


def test_kill_9_loses_nothing_and_the_next_start_works(home: Home) -> None:
    first_day(home)
    with home.serving() as server:
        home.ok("import", "articles", "-", "--company", "ACME", stdin="code,name\nA,Apple\n")
        assert len(server.get("/api/articles")[1]["data"]) == 1
        server.kill()
    left = (home.data / "server.lock").read_text()
    assert f'"pid": {server.process.pid}' in left
    assert "A,Apple," in home.ok("export", "articles", "--company", "ACME").out
    with home.serving() as server:
        assert [article["code"] for article in server.get("/api/articles")[1]["data"]] == ["A"]
        assert server.stop() == 0
    assert (home.data / "server.lock").read_text() == ""


def test_a_log_for_programs(home: Home) -> None:
    first_day(home)
    with home.serving(env={"WMSD_LOG_FORMAT": "json"}) as server:
        assert server.get("/api/articles")[0] == 200
        assert server.get("/api/articles", token="not a token")[0] == 401
        server.stop()
        lines = [json.loads(line) for line in server.log.splitlines() if line.startswith("{")]
        requests = [line for line in lines if line["logger"] == "wmsd.request"]
        assert [line["status"] for line in requests] == [200, 401]
        assert [line.get("company_id") for line in requests] == ["1", None]
        assert {line["address"] for line in requests} == {"127.0.0.1"}
        assert len({line["request_id"] for line in requests}) == 2
        assert server.token not in server.log
        assert "not a token" not in server.log


def test_nothing_but_its_folder_is_written(home: Home) -> None:
    home.folder = Path(home.folder / "elsewhere")
    home.folder.mkdir()
    with home.serving("--data", "../data") as server:
        assert server.stop() == 0
    assert [path.name for path in home.folder.iterdir()] == ["serve.log"]


def is_healthy(home: Home, process: "subprocess.Popen[str]") -> bool:
    """Return True if the server replies at the address that it has recorded."""
    server = None
    for _ in range(600):
        with suppress(StorageError):  # until the folder exists
            server = DataFolder(home.data).server()
        if server is not None and server.pid == process.pid:
            url = f"http://{server.listen}/api/health"
            with suppress(OSError), urllib.request.urlopen(url, timeout=5) as answer:
                return bool(answer.status == 200)
        if process.poll() is not None:
            return False
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("redirected", [">&-", ">&- 2>&-", ">/dev/full", ">/dev/full 2>/dev/full"])
def test_output_that_cannot_be_written_does_not_keep_it_from_serving(home: Home, redirected: str) -> None:
    shell = ("/bin/sh", "-c", f'exec "$0" "$@" <&- {redirected}')
    arguments = ("serve", "--create", "--listen", "127.0.0.1:0")
    with home.start(*arguments, under=shell, env=NO_BACKUPS, stdin=None) as process:
        try:
            was_healthy = is_healthy(home, process)
        finally:
            process.terminate()
        said = process.communicate()[1]
    assert was_healthy, said
    assert "Traceback" not in said
    assert ("serving http://127.0.0.1:" in said) == ("2>" not in redirected)
    home.ok("doctor")
