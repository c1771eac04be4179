"""Tests of comparing the schema of a file with the schema that migrations create."""

import tarfile
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.foreign_schemas import TRIGGER, change
from wmsd.db.engine.failures import StorageError
from wmsd.db.engine.sqlite import connect, connect_as_it_is, sqlite3
from wmsd.db.migrations import (
    COMPANY,
    PLATFORM,
    FileKind,
    _made,
    check_schema,
    create_file,
    foreign_parts,
    migrate,
    schema_check,
    version_of,
)
from wmsd.db.migrations.digests import DIGESTS

RELEASED = Path(__file__).parents[1] / "released"
EVIL = "INSERT INTO articles (code, name) VALUES ('EVIL', 'x')"
FOREIGN = {
    "trigger evil": TRIGGER,
    "view evil": "CREATE VIEW evil AS SELECT * FROM articles",
    "table evil": "CREATE TABLE evil (id INTEGER CHECK (id > 0))",
    "index evil": "CREATE INDEX evil ON articles (name)",
    "table articles": "ALTER TABLE articles ADD COLUMN evil TEXT DEFAULT 'x'",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "1.db"
    create_file(path, COMPANY)
    return path


@pytest.mark.parametrize("kind", [COMPANY, PLATFORM], ids=lambda kind: kind.name)
def test_a_new_file_is_right_also_with_statistics(tmp_path: Path, kind: FileKind) -> None:
    create_file(tmp_path / "new.db", kind)
    check_schema(tmp_path / "new.db", kind)
    change(tmp_path / "new.db", "ANALYZE")
    check_schema(tmp_path / "new.db", kind)


def test_the_digests_are_those_of_the_migrations() -> None:
    """The stored digests match the migrations.

    After a new migration, write these digests into `wmsd/db/migrations/digests.py`.
    """
    made = {kind.name: schema_check.digest(_made(kind.name, len(kind.scripts()))) for kind in (COMPANY, PLATFORM)}
    assert made == DIGESTS


def test_an_index_of_the_operators_own_keeps_no_company_from_being_served(file: Path) -> None:
    """A company is served although the operator added an index to its file.

    An archive with such an index is refused, and the doctor names the index.
    """
    change(file, FOREIGN["index evil"])
    migrate(file, COMPANY)
    with pytest.raises(StorageError, match="index evil"):
        check_schema(file, COMPANY)


@pytest.mark.parametrize("archive", sorted(RELEASED.glob("*.tar.gz")), ids=lambda path: path.name)
def test_files_of_every_release_are_right_before_and_after_their_migration(archive: Path, tmp_path: Path) -> None:
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path, filter="data")
    files = sorted(tmp_path.rglob("*.db"))
    assert len(files) > 1
    for path in files:
        kind = PLATFORM if path.name == "platform.db" else COMPANY
        check_schema(path, kind)
        migrate(path, kind)
        assert version_of(path) == len(kind.scripts())
        check_schema(path, kind)


@pytest.mark.parametrize("kind", [COMPANY, PLATFORM], ids=lambda kind: kind.name)
def test_a_file_that_was_migrated_one_version_at_a_time_is_right_at_each(
    tmp_path: Path, kind: FileKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts, path = kind.scripts(), tmp_path / "stepwise.db"
    for version in range(1, len(scripts) + 1):
        with monkeypatch.context() as patch:
            patch.setattr(FileKind, "scripts", lambda _, upto=version: scripts[:upto])
            if version == 1:
                create_file(path, kind)
            else:
                migrate(path, kind)
        assert version_of(path) == version
        check_schema(path, kind)


@pytest.mark.parametrize(("part", "sql"), FOREIGN.items(), ids=FOREIGN)
def test_what_is_foreign_is_named_and_the_file_left_as_it_is(file: Path, part: str, sql: str) -> None:
    change(file, sql)
    before = file.read_bytes()
    for look in (check_schema, migrate)[: 1 if part == "index evil" else 2]:
        with pytest.raises(StorageError, match=part):
            look(file, COMPANY)
    assert file.read_bytes() == before


@pytest.mark.parametrize("version", [-1, 0, 5])
def test_another_version_in_the_header_hides_nothing(file: Path, version: int) -> None:
    change(file, TRIGGER, f"PRAGMA user_version = {version}")
    before = file.read_bytes()
    for look in (check_schema, migrate):
        with pytest.raises(StorageError, match="a schema that wmsd did not create"):
            look(file, COMPANY)
    assert file.read_bytes() == before


def test_a_version_that_no_program_has_yet_is_refused(file: Path) -> None:
    change(file, TRIGGER, "PRAGMA user_version = 9999")
    with pytest.raises(StorageError, match="newer version of wmsd"):
        check_schema(file, COMPANY)


def test_litestreams_tables_are_known_by_their_text(file: Path) -> None:
    change(file, "CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)")
    check_schema(file, COMPANY)
    change(file, "CREATE TRIGGER evil AFTER UPDATE ON _litestream_seq BEGIN SELECT 1; END")
    with pytest.raises(StorageError, match="trigger evil"):
        check_schema(file, COMPANY)


def test_a_missing_trigger_or_index_is_named(file: Path) -> None:
    with closing(connect(file)) as connection:
        kind, name = connection.execute(
            "SELECT type, name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
        ).fetchone()
        assert foreign_parts(connection, COMPANY) == ""
        connection.execute(f"DROP {kind} {name}")
        assert foreign_parts(connection, COMPANY) == f"{kind} {name}"


def test_a_restricted_connection_reads_nothing_but_the_schema(file: Path) -> None:
    change(file, FOREIGN["view evil"])
    with closing(connect_as_it_is(file)) as connection:
        schema_check.restrict(connection)
        assert schema_check.read(connection)
        for statement in ("SELECT * FROM evil", "SELECT * FROM articles", EVIL, "ATTACH ':memory:' AS other"):
            with pytest.raises(sqlite3.DatabaseError, match=r"not authorized|prohibited"):
                connection.execute(statement)
