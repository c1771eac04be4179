"""A listen address that is not available, and proxies that are trusted too much or too little."""

import asyncio
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.maintenance.doctor.scene import names, situation, told
from tests.support.world import UNLIMITED, open_world
from wmsd.data_folder.folder import Serving
from wmsd.maintenance.doctor import network
from wmsd.maintenance.doctor.network import is_wmsd


@pytest.fixture
def port() -> Iterator[int]:
    """Return a port on which another program listens that never replies."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen(1)
        yield taken.getsockname()[1]


def found(data: Path, **server: object) -> list[str]:
    return names(network.findings(situation(data, {"server": server})))


def test_a_port_that_another_program_has(data: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "ANSWER_SECONDS", 0.05)
    at = situation(data, {"server": {"listen": f"127.0.0.1:{port}"}})
    comm = Path("/proc/self/comm").read_text(encoding="utf-8").strip()
    assert told(network.findings(at), "port-taken") == (
        f"Another program listens on 127.0.0.1:{port}: process {os.getpid()} ({comm})."
    )


def test_a_server_that_runs_has_its_port_itself(data: Path, port: int) -> None:
    at = situation(data, {"server": {"listen": f"127.0.0.1:{port}"}}, server=Serving(1, "127.0.0.1:1", "1"))
    assert names(network.findings(at)) == []


async def test_a_wmsd_of_another_folder_is_named_and_only_a_warning(data: Path, tmp_path: Path) -> None:
    """A copy is examined on the machine where the original is being served."""
    async with open_world(tmp_path / "served", UNLIMITED) as world:
        folder = world.installation.folder
        listen = world.base_url.partition("://")[2]
        host, _, port = listen.partition(":")
        assert await asyncio.to_thread(is_wmsd, host, int(port))
        at = situation(data, {"server": {"listen": listen}})
        [hidden] = await asyncio.to_thread(lambda: list(network.findings(at)))
        assert (hidden.is_wrong, hidden.facts["folder"]) == (False, network.HIDDEN_FOLDER)
        folder.lock(listen)
        [found] = await asyncio.to_thread(lambda: list(network.findings(at)))
        assert found.sentence == f"Another wmsd listens on {listen}: it serves {folder.path}."
        before_start = network.findings_before_start
        [served] = await asyncio.to_thread(lambda: list(before_start(at)))
        assert (served.is_wrong, served.sentence) == (True, found.sentence)
        own = situation(folder.path, {"server": {"listen": listen}})
        assert await asyncio.to_thread(lambda: list(before_start(own))) == []
        folder.unlock()


def test_metrics_at_a_port_that_another_program_has(
    data: Path, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "ANSWER_SECONDS", 0.05)
    at = situation(data, {"metrics": {"listen": f"127.0.0.1:{port}"}})
    [found] = network.findings_before_start(at)
    assert found.remedy == "Stop that program, or choose another address in metrics.listen."


@pytest.mark.parametrize(
    "answer",
    [
        *(b'{"checks": null}', b'{"checks": 7}', b'{"checks": ["job_queue"]}', b'{"checks": "job_queue"}'),
        *(b"null", b"7", b"[]", b"", b"<html>", b"\xff\xfe", b"[" * 60_000, b"7" * 60_000, b"x" * 5_000_000),
    ],
    ids=lambda answer: answer[:20].decode("latin-1"),
)
def test_a_foreign_program_may_answer_anything(data: Path, answer: bytes) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        answering = threading.Thread(target=answer_all, args=(server, answer), daemon=True)
        answering.start()
        listen = f"127.0.0.1:{server.getsockname()[1]}"
        assert found(data, listen=listen) == ["port-taken"]


def answer_all(server: socket.socket, answer: bytes) -> None:
    with suppress(OSError):  # the socket is closed at the end
        while True:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.recv(4096)
                head = (
                    f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n\r\n"
                )
                connection.sendall(head.encode() + answer)


def test_a_foreign_program_that_sends_a_byte_now_and_then_does_not_hold_the_examination(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "LONGEST_SECONDS", 0.5)
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        dripping = threading.Thread(target=drip, args=(server,), daemon=True)
        dripping.start()
        assert found(data, listen=f"127.0.0.1:{server.getsockname()[1]}") == ["port-taken"]


def drip(server: socket.socket) -> None:
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                while True:
                    connection.sendall(b"x")
                    time.sleep(0.05)


@pytest.mark.parametrize("listen", ["203.0.113.7:8480", "no-such-host.invalid:8480", "[2001:db8::7]:8480"])
def test_an_address_of_another_machine(data: Path, listen: str) -> None:
    assert found(data, listen=listen) == ["address-unknown"]


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "0.0.0.0:0", "localhost:0"])
def test_an_address_of_this_machine(data: Path, listen: str) -> None:
    assert found(data, listen=listen) == []


@pytest.mark.parametrize(
    ("listen", "proxies", "expected"),
    [
        ("127.0.0.1:0", "127.0.0.0/8", []),
        ("127.0.0.1:0", "10.0.0.5/32", ["proxy-elsewhere"]),
        ("localhost:0", "10.0.0.5/32,127.0.0.1/32", []),
        ("0.0.0.0:0", "10.0.0.0/8", []),
        ("0.0.0.0:0", "0.0.0.0/0", ["proxy-everybody"]),
        ("0.0.0.0:0", "0.0.0.0/1,128.0.0.0/1", ["proxy-everybody", "proxy-everybody"]),
        ("0.0.0.0:0", "::/0", ["proxy-everybody"]),
        ("127.0.0.1:0", "", []),
    ],
)
def test_proxies(data: Path, listen: str, proxies: str, expected: list[str]) -> None:
    assert found(data, listen=listen, trusted_proxies=proxies) == expected
