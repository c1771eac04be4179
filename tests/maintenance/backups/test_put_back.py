"""A file is put back by hand while the write-ahead log of the replaced file is still in the folder."""

import shutil
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.backups import UNLIMITED, add_article, back_up, unpacked
from tests.support.command import EMAIL, PASSWORD, Home, Server, Tenant, first_day
from tests.support.litestream import SHARED

COMPANY = "companies/1.db"
WAYS = {"alone": UNLIMITED, "shared": {**UNLIMITED, **SHARED}}
OF_ONE_LOG, OF_TWO_LOGS, OF_SEVERAL_LOGS = 5, 60, 150
"""Numbers of articles. Each article takes about ten pages, and SQLite checkpoints the log at a thousand pages."""


@pytest.fixture
def installation(home: Home) -> Home:
    first_day(home)
    home.ok("company", "create", "OTHER", "--name", "Other", "--all-modules")
    return home


def add(server: Server, prefix: str, count: int) -> list[str]:
    codes = [f"{prefix}{number:03}" for number in range(count)]
    for code in codes:
        add_article(server, code)
    return codes


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def stored(home: Home) -> set[str]:
    return {row["code"] for row in Tenant(home, "ACME").rows("articles")}


def killed_after_backup(home: Home, env: Mapping[str, str], count: int) -> tuple[Path, list[str], list[str]]:
    """Kill a server after a backup. Return the unpacked backup, the articles from before the backup, and those
    after it.
    """
    with home.serving(env=env) as server:
        before = add(server, "B", count)
        archive = back_up(home)
        after = add(server, "A", count)
        server.kill()
    unpacked(archive, home.folder / "unpacked")
    return home.folder / "unpacked", before, after


@pytest.mark.parametrize("count", [OF_ONE_LOG, OF_TWO_LOGS, OF_SEVERAL_LOGS])
@pytest.mark.parametrize("way", WAYS)
def test_a_company_is_refused_with_the_log_of_another_file(installation: Home, way: str, count: int) -> None:
    copies, before, _ = killed_after_backup(installation, WAYS[way], count)
    path = installation.data / COMPANY
    shutil.copyfile(copies / COMPANY, path)
    as_left = path.read_bytes(), log_of(path).read_bytes()
    assert as_left[1]
    assert "1.db-wal do not belong together" in installation.refused("export", "articles", "--company", "ACME")
    examined = installation.run("doctor", "--json")
    assert examined.code == 1
    assert "1.db-wal do not belong together" in examined.out
    with installation.serving(env=WAYS[way]) as server:
        assert server.send("POST", "/api/articles", {"code": "LOST", "name": "Lost"})[0] == 503
        assert "1.db-wal do not belong together" in server.log
        assert server.get("/api/health", token="", company=None)[1]["status"] == "degraded"
        assert server.send("POST", "/api/articles", {"code": "X", "name": "X"}, company=2)[0] == 201
    assert (path.read_bytes(), log_of(path).read_bytes()) == as_left
    log_of(path).rename(installation.folder / "moved-wal")
    assert stored(installation) == set(before)
    installation.ok("doctor")


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_of_the_stopped_file_is_not_undone_silently(installation: Home, way: str) -> None:
    path, copy = installation.data / COMPANY, installation.folder / "copy.db"
    with installation.serving(env=WAYS[way]) as server:
        before = add(server, "B", OF_ONE_LOG)
    assert not log_of(path).exists()
    shutil.copyfile(path, copy)
    with installation.serving(env=WAYS[way]) as server:
        after = add(server, "A", OF_ONE_LOG)
        server.kill()
    shutil.copyfile(copy, path)
    with installation.serving(env=WAYS[way]) as server:
        assert server.get("/api/articles")[0] == 503
        assert (
            "was copied there, or written by another program, after wmsd had started its log 1.db-wal"
            in server.log
        )
    assert "after wmsd had started its log" in installation.run("doctor", "--json").out
    log_of(path).rename(installation.folder / "kept")
    assert stored(installation) == set(before)
    shutil.copyfile(copy, path)
    shutil.copyfile(installation.folder / "kept", log_of(path))
    assert stored(installation) == {*before, *after}


def sign_in(server: Server) -> None:
    """Sign in, which changes platform.db."""
    form = urllib.parse.urlencode({"email": EMAIL, "password": PASSWORD}).encode()
    request = urllib.request.Request(f"{server.address}/sign-in", form, {"Sec-Fetch-Site": "same-origin"})
    with urllib.request.urlopen(request) as page:
        assert page.status == 200


def test_no_server_starts_with_a_platform_of_another_log(installation: Home) -> None:
    with installation.serving() as server:
        sign_in(server)
        archive = back_up(installation)
        sign_in(server)
        server.kill()
    path = installation.data / "platform.db"
    assert log_of(path).stat().st_size
    unpacked(archive, installation.folder / "unpacked")
    shutil.copyfile(installation.folder / "unpacked" / "platform.db", path)
    for command in (("serve", "--listen", "127.0.0.1:0"), ("company", "list")):
        assert "platform.db-wal do not belong together" in installation.refused(*command)
