"""Tests of lending: the server locks its files, and a command that runs at the same time borrows the files that it
needs.
"""

import fcntl
import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.command import Home, Server, first_day
from tests.support.forked import LONGEST, Program
from wmsd import __version__
from wmsd.db.engine.sqlite import connect, sqlite3

SERVED = ("platform.db", "companies/1.db")
UNLIMITED = {"WMSD_LIMITS_DATA_PER_MINUTE": "100000"}


@pytest.fixture
def installation(home: Home) -> Home:
    return first_day(home)


@pytest.fixture
def server(installation: Home) -> Iterator[Server]:
    with installation.serving(env=UNLIMITED) as server:
        is_served(server, "FIRST")
        yield server


def is_served(server: Server, code: str) -> None:
    assert server.send("POST", "/api/articles", {"code": code, "name": code})[0] == 201
    assert code in [record["code"] for record in server.get("/api/articles")[1]["data"]]


def indexes(installation: Home) -> list[str]:
    """Return the names of the index files that processes share."""
    return sorted(path.name for path in installation.data.rglob("*-shm"))


def soon(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


@contextmanager
def command_at_work(installation: Home) -> Iterator["subprocess.Popen[str]"]:
    """Run a command that has the company's file open."""
    command = [sys.executable, "-m", "tests.support.slow_command"]
    with subprocess.Popen(
        command,
        cwd=installation.folder,
        env=installation.clean(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "at work\n"
            yield process
        finally:
            process.kill()


def is_locked(file: Path) -> bool:
    other = sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=0)
    try:
        other.execute("SELECT count(*) FROM sqlite_schema")
    except sqlite3.OperationalError as error:
        return "locked" in str(error)
    finally:
        other.close()
    return False


@pytest.mark.parametrize("name", SERVED)
def test_nobody_else_can_open_what_is_served(installation: Home, server: Server, name: str) -> None:
    assert indexes(installation) == []
    assert is_locked(installation.data / name)
    is_served(server, "SECOND")


def test_a_command_and_requests_work_beside_each_other(installation: Home, server: Server) -> None:
    with command_at_work(installation):
        assert indexes(installation) == ["1.db-shm", "platform.db-shm"]
        is_served(server, "DURING")
        assert "DURING" in installation.ok("export", "articles", "--company", "ACME").out
    is_served(server, "AFTER")
    soon(lambda: all(is_locked(installation.data / name) for name in SERVED))


def test_what_a_command_had_that_was_killed_is_taken_back(installation: Home, server: Server) -> None:
    with command_at_work(installation) as process:
        process.kill()
        process.wait()
        is_served(server, "AFTER")
        soon(lambda: all(is_locked(installation.data / name) for name in SERVED))
    assert "Traceback" not in server.log


def waits_for(installation: Home, command: "subprocess.Popen[str]") -> None:
    """Check that a newly started server reports the wait, and starts when the command has ended."""
    log_file = installation.folder / "waiting.log"
    with log_file.open("w") as log, installation.start("serve", "--listen", "127.0.0.1:0", stderr=log) as waiting:
        soon(lambda: f"a command is using {installation.data}" in log_file.read_text())
        command.kill()
        assert waiting.stdout is not None
        assert waiting.stdout.readline().startswith("wmsd serves http")
        waiting.terminate()
        assert waiting.wait(LONGEST) == 0
    assert log_file.read_text().count("a command is using") == 1


def test_a_start_waits_for_commands(installation: Home) -> None:
    with command_at_work(installation) as process:
        waits_for(installation, process)


def test_a_start_waits_for_what_the_server_before_it_has_lent(installation: Home, server: Server) -> None:
    with command_at_work(installation) as process:
        server.kill()
        waits_for(installation, process)


def test_a_server_that_was_killed_leaves_nothing_in_the_way(installation: Home, server: Server) -> None:
    server.kill()
    assert (installation.data / "server.socket").is_socket()
    assert "FIRST" in installation.ok("export", "articles", "--company", "ACME").out
    with installation.serving() as again:
        assert "FIRST" in installation.ok("export", "articles", "--company", "ACME").out
        is_served(again, "AGAIN")


def test_a_folder_with_a_long_name(program: Program, tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30) / ("name" * 30)
    folder.mkdir(parents=True)
    home = first_day(Home(program, folder))
    with home.serving():
        home.ok("export", "articles", "--company", "ACME")


@pytest.mark.parametrize(
    "said", [b"\n", b"{}\n", b'"companies/../../etc/passwd"\n', b"x" * 100_000, b'"companies/999.db"\n', b""]
)
def test_whatever_is_said_to_the_socket_hurts_nobody(installation: Home, server: Server, said: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(str(installation.data / "server.socket"))
        stranger.settimeout(LONGEST)
        with suppress(OSError):
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
            stranger.recv(100)
    is_served(server, "AFTER")
    assert "Traceback" not in server.log
    assert (installation.data / "server.socket").stat().st_mode & 0o777 == 0o600


def test_changes_made_during_a_loan_are_seen(installation: Home, server: Server) -> None:
    """The server sees all changes that a command makes during a loan.

    This includes its first and its last change, because the server reopens its files before and after the loan.
    """
    for _ in range(3):
        installation.ok("module", "disable", "ACME", "articles")
        server.soon("/api/articles", lambda status, _: status == 403)
        installation.ok("module", "enable", "ACME", "articles")
        server.soon("/api/articles", lambda status, _: status == 200)


def test_after_the_end_the_files_can_be_read_by_others(installation: Home, server: Server) -> None:
    assert server.stop() == 0
    connection = connect(installation.data / "companies" / "1.db", read_only=True)
    assert connection.execute("SELECT code FROM articles").fetchall() == [("FIRST",)]
    connection.close()
    assert not (installation.data / "server.socket").exists()


def test_a_disk_without_sockets(installation: Home) -> None:
    """Without sockets on the disk, such as a memory stick, the server still runs.

    The test blocks the name of its socket with a folder.
    """
    (installation.data / "server.socket").mkdir()
    with installation.serving(env=UNLIMITED) as server:
        assert "so the server does not lock its files: other programs can open them" in server.log
        is_served(server, "FIRST")
        assert "FIRST" in installation.ok("export", "articles", "--company", "ACME").out
        installation.ok("import", "articles", "-", "--company", "ACME", stdin="code,name\nSECOND,Second\n")
        assert "SECOND" in [record["code"] for record in server.get("/api/articles")[1]["data"]]


def test_a_command_of_another_version_is_told_which_one_serves(server: Server, installation: Home) -> None:
    lock = installation.data / "server.lock"
    said = json.loads(lock.read_text())
    assert said["version"] == __version__
    for version, shown in (("99.0.0", "99.0.0"), ("", "of an older version")):
        lock.write_text(json.dumps({**said, "version": version}))
        sentence = installation.refused("company", "list")
        assert sentence == (
            f"The running server is wmsd {shown}, but this command is wmsd {__version__}. Nothing was "
            "changed. Use the program of the server, or stop the server first."
        )
    lock.write_text(json.dumps(said))
    installation.ok("company", "list")


def asked(installation: Home, *lines: str) -> tuple[socket.socket, list[dict[str, object]]]:
    """Open a session with the server's socket.

    Return the session, which stays open, and the answers to the lines.
    """
    session = socket.socket(socket.AF_UNIX)
    session.settimeout(LONGEST)
    session.connect(str(installation.data / "server.socket"))
    answers = session.makefile("r")
    said = []
    for line in lines:
        session.sendall(f"{line}\n".encode())
        said.append(json.loads(answers.readline()))
    return session, said


def test_a_server_ends_while_a_command_has_its_files(installation: Home, server: Server) -> None:
    requests = ('{"lend": "platform.db"}', '{"lend": "companies/1.db"}')
    session, said = asked(installation, *requests)
    held, _ = asked(installation, '{"hold": 1}')
    assert said == [{"answer": None}, {"answer": None}]
    assert server.stop() == 0
    assert "Traceback" not in server.log
    assert " error " not in server.log
    with closing(session), closing(held), installation.serving() as other:
        assert other.get("/api/articles")[0] == 200


def test_what_is_not_there_is_not_lent(installation: Home, server: Server) -> None:
    session, said = asked(installation, '{"lend": "companies/999.db"}')
    with closing(session):
        assert said == [{"error": f"{installation.data}/companies/999.db is missing. Restore it from a backup."}]
    for nonsense in ('{"hold": [1]}', '{"lend": []}', '{"lend": "companies/x.db"}', "[]", "1", '{"steal": 1}'):
        with closing(socket.socket(socket.AF_UNIX)) as session:
            session.settimeout(LONGEST)
            session.connect(str(installation.data / "server.socket"))
            session.sendall(f"{nonsense}\n".encode())
            assert session.recv(100) == b"", nonsense
    assert server.stop() == 0
    assert " error " not in server.log


def test_a_server_of_another_version_that_shares_its_files_is_left_alone(installation: Home) -> None:
    said = {"pid": 1, "listen": "127.0.0.1:1", "lends": False, "version": "0.0.1"}
    with (installation.data / "server.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        json.dump(said, lock)
        lock.flush()
        assert installation.refused("company", "list").startswith("The running server is wmsd 0.0.1, but ")
        lock.seek(0)
        lock.truncate(0)
        json.dump({**said, "version": __version__}, lock)
        lock.flush()
        installation.ok("company", "list")


def test_two_first_starts_at_once_make_one_installation(home: Home) -> None:
    home.data.mkdir()
    arguments = ("company", "create", "ACME", "--name", "Acme", "--init", "--all-modules")
    for _ in range(3):
        shutil.rmtree(home.data)
        with ExitStack() as stack:
            started = [stack.enter_context(home.start(*arguments)) for _ in range(3)]
            for each in started:
                each.communicate(timeout=LONGEST)
        assert sorted(each.returncode for each in started).count(0) >= 1
        assert [each["code"] for each in home.ok("company", "list", "--json").json] == ["ACME"]
        assert sorted(path.name for path in home.data.glob("platform.db*")) == ["platform.db"]
