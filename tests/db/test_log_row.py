"""Tests of reading the row of the table `log` from the bytes of its page."""

import random
from contextlib import closing
from pathlib import Path

import pytest

from wmsd.db.engine.sqlite import connect
from wmsd.db.engine.wal_frames import pages_in
from wmsd.db.engine.wal_identity import LogRow, row_in, with_new_id

SQL = """
    CREATE TABLE log (
        one INTEGER PRIMARY KEY, id INTEGER, previous INTEGER, found_file INTEGER, found_modified INTEGER,
        found_changed INTEGER, found_log INTEGER
    )
"""


@pytest.mark.parametrize("id_", [-(2**63), 2**63 - 1, -1, 0, 1, 300, 2**40])
def test_the_row_is_read_and_renamed_as_sqlite_has_it(tmp_path: Path, id_: int) -> None:
    path = tmp_path / "1.db"
    row = LogRow(id_, -7, 2**62, 1_795_000_000_000_000_000, 0, 1)
    with closing(connect(path, create=True)) as connection:
        connection.execute(SQL)
        connection.execute("INSERT INTO log VALUES (1, ?, ?, ?, ?, ?, ?)", row)
        [root] = connection.execute("SELECT rootpage FROM sqlite_schema").fetchone()
        with path.with_name("1.db-wal").open("rb") as log:
            assert [found for _, page in pages_in(log) if (found := row_in(page))] == [row]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    content = path.read_bytes()
    begin, end = (root - 1) * size, root * size
    path.write_bytes(content[:begin] + with_new_id(content[begin:end]) + content[end:])
    with closing(connect(path)) as connection:
        found = LogRow(*connection.execute("SELECT * FROM log").fetchone()[1:])
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert found._replace(id=0) == row._replace(id=0)
    assert found.id != id_ or id_ in (0, 1, -1), "a byte or none may stay as it is"


def test_no_page_is_too_damaged_to_be_looked_at(tmp_path: Path) -> None:
    chance = random.Random(3)
    for _ in range(20_000):
        page = bytearray(chance.randbytes(512))
        page[0], page[3:5] = 0x0D, b"\0\1"
        page[8:10] = chance.choice([0, 500, 511, 65_535]).to_bytes(2)
        row_in(bytes(page))
        assert len(with_new_id(bytes(page))) == len(page)
    for content in (b"", b"no log" * 500, bytes(4096)):
        (tmp_path / "log").write_bytes(content)
        with (tmp_path / "log").open("rb") as log:
            assert list(pages_in(log)) == []
