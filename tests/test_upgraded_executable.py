"""Tests of the upgrade of a one-file executable to a newer one, next to a server at work."""

import json
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import minisign
import pytest

from tests.support.executable import EXECUTABLE, IS_THERE, LONGEST, Server, done, eventually, post, serving
from tests.support.newer_executable import built
from tests.support.newer_wmsd import VERSION, newer_wmsd
from wmsd import __version__

pytestmark = pytest.mark.skipif(not IS_THERE, reason="build it first: scripts/build")
UPGRADE_SECONDS: Final = 180.0
CANNOT_SERVE: Final = """
def _refuse(*_: object, **__: object) -> None:
    raise RuntimeError("it cannot serve here")


open_installation = _refuse
"""
PAIR: Final = minisign.KeyPair.generate()


def signed(program: Path) -> Path:
    with program.open("rb") as content:
        signature = PAIR.secret_key.sign(content, trusted_comment=f"wmsd {VERSION}", prehash=True)
    program.with_name("wmsd.minisig").write_bytes(bytes(signature) + b"\n")
    return program


@pytest.fixture(scope="module")
def newer(newer_build: Path) -> Path:
    return signed(newer_build / "wmsd")


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an executable that passes the rehearsal but cannot serve."""
    patches = {"wmsd/interfaces/cli/server/serve.py": CANNOT_SERVE}
    return signed(built(newer_wmsd(tmp_path_factory.mktemp("broken") / "tree", patches=patches)) / "wmsd")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return the executable that is upgraded."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "maker.pub").write_bytes(bytes(PAIR.public_key))
    return Path(shutil.copy(EXECUTABLE, folder / "wmsd"))


def upgrade(program: Path, to: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, "upgrade", to, "--public-key", program.with_name("maker.pub"), *options],
        cwd=program.parents[1],
        env={},
        capture_output=True,
        text=True,
        timeout=UPGRADE_SECONDS,
        check=False,
    )


def serving_version(folder: Path) -> str:
    said = json.loads((folder / "data" / "server.lock").read_text() or "{}")
    return str(said.get("version", ""))


def articles(server: Server) -> list[str]:
    answer = server.get("/api/articles?per_page=100&search=UPGRADE", server.token, server.demo_id)
    return [article["code"] for article in answer.json["data"]]


@dataclass
class Orders:
    """Articles that a client adds all the time. The answers show which of them surely exist."""

    server: Server
    added: list[str] = field(default_factory=list)
    refused: int = 0
    is_over: bool = False

    def add(self) -> None:
        number = 0
        while not self.is_over:
            number += 1
            code = f"UPGRADE-{number:04}"
            try:
                if post(self.server, "/api/articles", {"code": code, "name": code}).status == 201:
                    self.added.append(code)
            except OSError:
                self.refused += 1
            time.sleep(0.05)


@contextmanager
def at_work(server: Server) -> Iterator[Orders]:
    orders = Orders(server)
    thread = threading.Thread(target=orders.add)
    thread.start()
    try:
        yield orders
    finally:
        orders.is_over = True
        thread.join(LONGEST)


def free_port() -> int:
    """Return a free port. A server that restarts must be found at the same port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def server(program: Path, tmp_path: Path) -> Iterator[Server]:
    listen = ("--listen", f"127.0.0.1:{free_port()}")
    with serving(tmp_path, *listen, "--demo", executable=program) as running:
        yield running


def journal(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "data" / "upgrade.json").read_text())
    return found


def is_right(folder: Path, program: Path) -> bool:
    return all(report["ok"] for report in json.loads(done(folder, "doctor", "--json", executable=program)))


def test_a_rehearsal_says_what_an_upgrade_would_do(server: Server, program: Path, newer: Path) -> None:
    before = program.read_bytes()
    said = upgrade(program, newer, "--only-rehearse", "--json")
    assert said.returncode == 0, said.stderr
    assert f"{newer} is wmsd {VERSION}: its signature is valid (wmsd {VERSION})." in said.stderr
    assert "Trial run on copies: 2 of 2 files were migrated, in " in said.stderr
    assert said.stderr.endswith("Nothing was changed.\n")
    rehearsal = json.loads(said.stdout)["rehearsal"]
    assert (rehearsal["migrated"], rehearsal["problems"]) == (2, [])
    assert program.read_bytes() == before
    assert sorted(path.name for path in program.parent.iterdir()) == ["maker.pub", "wmsd"]
    assert serving_version(server.folder) == __version__
    assert not (server.folder / "data" / "upgrade.json").exists()


def test_an_upgrade_beside_a_server_at_work_loses_nothing(server: Server, program: Path, newer: Path) -> None:
    with at_work(server) as orders:
        assert eventually(lambda: len(orders.added) > 10, LONGEST)
        said = upgrade(program, newer)
        assert said.returncode == 0, said.stderr
        after = len(orders.added)
        assert eventually(lambda: len(orders.added) > after + 10, LONGEST)
    assert f"wmsd {VERSION} serves {server.address.partition('://')[2]}" in said.stderr
    assert serving_version(server.folder) == VERSION
    assert journal(server.folder)["outcome"] == "done"
    assert set(orders.added) <= set(articles(server))
    assert done(server.folder, "version", executable=program) == f"wmsd {VERSION}\n"
    assert is_right(server.folder, program)
    assert program.with_name("wmsd.previous").exists()
    assert (server.folder / "data" / f"before-{VERSION}" / "companies" / "1.db").exists()
    assert server.process.poll() is None  # for a supervisor it is still the same process
    assert "is not newer" in upgrade(program, newer).stderr


def test_it_goes_back_by_itself_when_the_newer_one_cannot_serve(
    server: Server, program: Path, broken: Path
) -> None:
    with at_work(server) as orders:
        assert eventually(lambda: len(orders.added) > 10, LONGEST)
        said = upgrade(program, broken)
        assert said.returncode == 1, said.stderr
        after = len(orders.added)
        assert eventually(lambda: len(orders.added) > after + 10, LONGEST)
    assert (
        f"wmsd: wmsd {VERSION} does not work: it cannot serve here. wmsd {__version__} is running again, "
        "with the files from before the upgrade."
    ) in said.stderr
    assert serving_version(server.folder) == __version__
    assert program.read_bytes() == EXECUTABLE.read_bytes()
    assert journal(server.folder)["outcome"] == "went back"
    assert set(orders.added) <= set(articles(server))
    assert is_right(server.folder, program)


def test_without_a_server_the_next_start_goes_on(program: Path, newer: Path, tmp_path: Path) -> None:
    done(tmp_path, "company", "create", "ACME", "--name", "Acme", "--init", executable=program)
    said = upgrade(program, newer)
    assert said.returncode == 0, said.stderr
    assert "Start the server: it migrates the files." in said.stderr
    with serving(tmp_path, executable=program):
        assert journal(tmp_path)["outcome"] == "done"
    assert is_right(tmp_path, program)


def test_a_changed_file_is_refused_before_it_runs(program: Path, newer: Path, tmp_path: Path) -> None:
    done(tmp_path, "company", "create", "ACME", "--name", "Acme", "--init", executable=program)
    changed = Path(shutil.copy(newer, tmp_path / "wmsd-newer"))
    shutil.copy(f"{newer}.minisig", f"{changed}.minisig")
    with changed.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"?")
    said = upgrade(program, changed)
    assert said.returncode == 1
    assert "is not the signature of" in said.stderr
    assert sorted(path.name for path in program.parent.iterdir()) == ["maker.pub", "wmsd"]
