"""`wmsd backup restore --company` in place of a damaged file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.backups import UNLIMITED, articles, backup_before_the_last_article, is_right, restore
from tests.support.command import Home, first_day
from wmsd.db.engine.file_exchange import find_file_and_log
from wmsd.db.engine.sqlite import connect
from wmsd.db.engine.write_ahead_log import BEGIN_ANEW


@pytest.fixture
def installation(home: Home) -> Home:
    return first_day(home)


@pytest.fixture
def saved(installation: Home) -> Path:
    return backup_before_the_last_article(installation)


def half_written(file: Path) -> None:
    """Cut the file in the middle of a page and fill the rest with zeros, like a copy that was interrupted."""
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2 + 100] + bytes(len(content) - len(content) // 2 - 100))


def flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    for place in range(4096, len(content), 50_000):
        content[place : place + 8] = b"\xff" * 8
    file.write_bytes(content)


def mixed(file: Path) -> None:
    """Give the file the write-ahead log of another file. The log names its file, as every log of wmsd does."""
    other = file.with_name("2.db")
    connection = connect(other)
    connection.execute(BEGIN_ANEW, find_file_and_log(other))
    log = other.with_name("2.db-wal").read_bytes()
    connection.close()
    file.with_name("1.db-wal").write_bytes(log)


HARMS: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "truncated": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "zeroed": lambda file: file.write_bytes(bytes(file.stat().st_size)),
    "half written": half_written,
    "bits flipped": flipped,
    "swapped": lambda file: file.write_bytes(file.with_name("2.db").read_bytes()),
    "with another's log": mixed,
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_harmed_file_beside_a_server(installation: Home, saved: Path, harm: str) -> None:
    """The company replies 503 until its restore, and nothing is recreated. The other company is served all the
    time. The events of the damaged file are missing, and other files tell how many there were.
    """
    installation.ok("company", "create", "OTHER", "--name", "Other", "--all-modules")
    file = installation.data / "companies" / "1.db"
    HARMS[harm](file)
    with installation.serving(env=UNLIMITED) as server:
        assert server.get("/api/articles")[0] == 503
        assert server.get("/api/articles", company=2)[0] == 200
        assert restore(installation, saved, "--company", "ACME")["missing_events"] == 1
        assert articles(server) == ["KEPT"]
        assert server.get("/api/articles", company=2)[0] == 200
    assert is_right(installation)
