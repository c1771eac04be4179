"""Tests of the migration that introduces stored delivery counts: it counts the existing deliveries."""

from pathlib import Path

from wmsd.db.engine.sqlite import connect
from wmsd.db.migrations import COMPANY, migrate

BEFORE = 13
QUEUE = """
    INSERT INTO webhook_deliveries
        (subscription_id, sequence, event_sequence, entity, entity_id, status, attempts_left, due_at, created_at)
    SELECT 1, key + 1, key + 1, 'article', 1, value, 5, iif(value = 'pending', 0, NULL), '2026'
    FROM json_each('["delivered", "delivered", "exhausted", "pending", "held", "held"]')
"""


def test_deliveries_that_were_there_before_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "1.db"
    connection = connect(path, create=True)
    for script in COMPANY.scripts()[:BEFORE]:
        connection.executescript(script.read_text(encoding="utf-8"))
    connection.execute(f"PRAGMA application_id = {COMPANY.application_id}")
    connection.execute(f"PRAGMA user_version = {BEFORE}")
    connection.execute(QUEUE)
    connection.close()
    migrate(path, COMPANY)
    connection = connect(path)
    kept = dict(connection.execute("SELECT status, rows FROM webhook_delivery_counts"))
    connection.close()
    assert kept == {"pending": 1, "held": 2, "delivered": 2, "exhausted": 1, "skipped": 0}
