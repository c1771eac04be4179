"""Tests of running migrations: a file gets all missing migrations or none.

`before` is called first, so that a copy of the file can be kept.
"""

from contextlib import closing
from pathlib import Path

import pytest

from wmsd.db import migrations
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.file_owner import Owner, WrongOwner
from wmsd.db.engine.sqlite import connect
from wmsd.db.migrations import FileKind, create_file, migrate, only_by_a_server, version_of

FIRST = """
    CREATE TABLE owner (one INTEGER PRIMARY KEY, installation TEXT, company_id INTEGER, code TEXT);
    CREATE TABLE things (code TEXT NOT NULL);
"""
SECOND = "ALTER TABLE things ADD COLUMN colour TEXT;"
THIRD = """
    CREATE TABLE boxes (code TEXT NOT NULL CHECK (code <> 'BAD'));
    INSERT INTO boxes SELECT code FROM things;
"""
ACME, OTHER = Owner("here", 1, "ACME"), Owner("here", 2, "OTHER")


def kind_with(monkeypatch: pytest.MonkeyPatch, folder: Path, *scripts: str) -> FileKind:
    """Return the same kind of file with these migrations."""
    name = f"{folder.name}-{len(scripts)}"
    (folder / name).mkdir()
    for number, script in enumerate(scripts, 1):
        (folder / name / f"{number:04}_step.sql").write_text(script)
    monkeypatch.setattr(migrations, "FOLDER", folder)
    return FileKind(name, 0x1234)


def columns(path: Path) -> list[str]:
    with closing(connect(path)) as connection:
        return [row[1] for row in connection.execute("PRAGMA table_info(things)")]


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "1.db"
    create_file(path, kind_with(monkeypatch, tmp_path, FIRST), ACME)
    return path


def test_all_that_are_missing_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: Path) -> None:
    migrate(path, kind_with(monkeypatch, tmp_path, FIRST, SECOND, THIRD))
    assert (version_of(path), columns(path)) == (3, ["code", "colour"])


def test_if_one_fails_the_file_is_as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: Path) -> None:
    with closing(connect(path)) as connection:
        connection.execute("INSERT INTO things VALUES ('BAD')")
    with pytest.raises(StorageError) as refused:
        migrate(path, kind_with(monkeypatch, tmp_path, FIRST, SECOND, THIRD))
    assert str(refused.value) == (
        f"{path} cannot be migrated: the migration script 0003_step.sql failed (CHECK constraint failed: "
        "code <> 'BAD'). The file was not changed. Continue with the previous version of wmsd, and "
        "report this error."
    )
    assert (version_of(path), columns(path)) == (1, ["code"])


def test_who_keeps_copies_is_asked_once_before_the_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: Path
) -> None:
    asked: list[tuple[Path, int]] = []
    kind = kind_with(monkeypatch, tmp_path, FIRST, SECOND, THIRD)
    for _ in range(2):
        migrate(path, kind, before=lambda path: asked.append((path, version_of(path))))
    assert asked == [(path, 1)]


def test_a_command_migrates_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: Path) -> None:
    kind, before = kind_with(monkeypatch, tmp_path, FIRST, SECOND), path.read_bytes()
    with pytest.raises(StorageError, match="was written by an older wmsd and was not changed"):
        migrate(path, kind, before=only_by_a_server)
    assert path.read_bytes() == before


def test_the_file_of_another_company_is_not_migrated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, path: Path
) -> None:
    with pytest.raises(WrongOwner):
        migrate(path, kind_with(monkeypatch, tmp_path, FIRST, SECOND), owner=OTHER)
    assert (version_of(path), columns(path)) == (1, ["code"])
