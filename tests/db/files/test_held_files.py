"""Tests of a company's file that another program has locked, or that is no file: nobody else waits for it."""

import os
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Home, Server, first_day
from tests.support.held_file import held

AT_ONCE = 2.0
"""Seconds within which others must be answered on a busy machine. A locked file is waited for longer."""


@pytest.fixture
def installation(home: Home) -> Home:
    first_day(home)
    home.ok("company", "create", "OTHER", "--name", "Other", "--all-modules")
    return home


@pytest.fixture
def file(installation: Home) -> Path:
    return installation.data / "companies" / "1.db"


def seconds_of(server: Server, company: int) -> float:
    began = time.monotonic()
    assert server.get("/api/articles", company=company)[0] == 200
    return time.monotonic() - began


def test_a_start_with_a_file_that_is_held(installation: Home, file: Path) -> None:
    with held(file):
        began = time.monotonic()
        with installation.serving() as server:
            assert time.monotonic() - began < 3 * AT_ONCE
            assert server.get("/api/articles")[0] == 503
            assert seconds_of(server, company=2) < AT_ONCE
            assert "Restore the file from a backup" not in server.log
            assert "Another program has locked the file" in server.log
            assert server.get("/api/health", token="", company=None)[1]["status"] == "degraded"
    with installation.serving() as server:
        assert seconds_of(server, company=1) < AT_ONCE


def test_nobody_waits_with_those_who_ask_for_a_held_file(installation: Home, file: Path) -> None:
    with held(file), installation.serving() as server:
        statuses: list[Any] = []
        askers = [
            threading.Thread(target=lambda: statuses.append(server.get("/api/articles")[0])) for _ in range(20)
        ]
        for asker in askers:
            asker.start()
        assert max(seconds_of(server, company=2) for _ in range(20)) < AT_ONCE
        for asker in askers:
            asker.join()
        assert statuses == [503] * 20


def test_it_serves_again_when_the_file_is_let_go(installation: Home, file: Path) -> None:
    with ExitStack() as stack:
        stack.enter_context(held(file))
        with installation.serving() as server:
            assert server.get("/api/articles")[0] == 503
            stack.close()
            assert server.get("/api/articles")[0] == 200


@pytest.mark.parametrize("kind", ["a pipe", "a folder", "a device"])
def test_what_is_no_file_is_not_opened(installation: Home, file: Path, kind: str) -> None:
    file.unlink()
    if kind == "a pipe":
        os.mkfifo(file)
    elif kind == "a folder":
        file.mkdir()
    else:
        file.symlink_to("/dev/zero")
    with installation.serving() as server:
        assert server.get("/api/articles")[0] == 503
        assert seconds_of(server, company=2) < AT_ONCE
        assert f"{installation.data}/companies/1.db cannot be used, because it is not a file." in server.log
    assert installation.refused("export", "articles", "--company", "ACME") == (
        f"{installation.data}/companies/1.db cannot be used, because it is not a file. It "
        "was not changed. Restore the file from a backup."
    )


def test_a_command_beside_a_server_waits_for_it(installation: Home, file: Path) -> None:
    """A command waits for a locked file without blocking anybody, because the server that lends the file continues
    with its own writes.
    """
    listed: list[Any] = []
    command = ("article", "list", "--company", "ACME", "--json")
    asker = threading.Thread(target=lambda: listed.append(installation.run(*command)))
    with installation.serving():
        with held(file):
            asker.start()
            time.sleep(1.5 * AT_ONCE)
        asker.join()
    assert listed[0].json == []
