"""Tests of the migration with which the search of articles finds `Łódź` by its plain letters."""

from pathlib import Path

from wmsd.db.engine.sqlite import connect
from wmsd.db.migrations import COMPANY, migrate

BEFORE = 33
STOOD = """
    INSERT INTO articles
        (id, code, name, unit, barcodes, um3pl_factor, track_lot, track_serial, active, change_seq, created_at,
         updated_at)
        VALUES (1, 'A', 'Łódź', 'BUC', '[]', 1000000, 0, 0, 1, 1, '', ''),
               (2, 'B', 'Crème', 'BUC', '["Ø1"]', 1000000, 0, 0, 1, 2, '', ''),
               (3, 'Straße', 'Bolt', 'BUC', '[]', 1000000, 0, 0, 1, 3, '', '');
"""


def test_articles_that_are_there_are_found_by_plain_letters_and_once(tmp_path: Path) -> None:
    path = tmp_path / "1.db"
    connection = connect(path, create=True)
    for script in COMPANY.scripts()[:BEFORE]:
        connection.executescript(script.read_text(encoding="utf-8"))
    connection.execute(f"PRAGMA application_id = {COMPANY.application_id}")
    connection.execute(f"PRAGMA user_version = {BEFORE}")
    connection.executescript(STOOD)
    connection.close()
    migrate(path, COMPANY)
    connection = connect(path)
    found = {
        word: [
            each
            for (each,) in connection.execute(
                "SELECT rowid FROM article_search WHERE article_search MATCH ? ORDER BY rowid", (word,)
            )
        ]
        for word in ("lodz", '"łódź"', "creme", "o1", "strasse", "bolt", "A")
    }
    connection.close()
    assert found == {"lodz": [1], '"łódź"': [], "creme": [2], "o1": [2], "strasse": [3], "bolt": [3], "A": [1]}
