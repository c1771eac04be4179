"""Tests of the migration that makes the webhook log searchable: it fills in what existing deliveries need."""

from pathlib import Path

from wmsd.db.engine.sqlite import connect
from wmsd.db.migrations import COMPANY, migrate

LAST_BEFORE = 21
OLD = """
    INSERT INTO webhook_subscriptions (id, name, url, events, auth_type, active, credentials, has_short_secret,
        last_delivery, created_at, updated_at)
    SELECT value, 'a', 'https://a', '["*"]', 'hmac', 1, '', 0,
        json_object('status', iif(value = 1, 'delivered', 'pending'), 'attempted_at', '2026-11'), '', ''
    FROM json_each('[1, 2]');
    INSERT INTO events (sequence, id, event, entity, entity_id, occurred_at, data)
    VALUES (1, 'x', 'article.created', 'article', 1, '2026', '{}'),
        (2, 'y', 'stock.low', 'stock', 1, '2026', '{}');
    INSERT INTO webhook_deliveries
        (subscription_id, sequence, event_sequence, test_event, entity, entity_id, status, attempts_left, due_at,
            created_at)
    VALUES (1, 1, 1, NULL, 'article', 1, 'delivered', 4, NULL, '2026'),
        (1, 2, 2, NULL, 'stock', 1, 'pending', 5, 0, '2026'),
        (1, 3, 9, NULL, 'stock', 1, 'delivered', 5, NULL, '2026'),
        (2, 1, NULL, '{"event":"webhook.test"}', 'webhook', 2, 'exhausted', 0, NULL, '2026');
    INSERT INTO webhook_attempts (delivery_id, number, at, milliseconds, status, answer, error)
    VALUES (1, 1, '2026', 5, 200, 'ok', NULL);
"""


def test_what_was_there_before_is_found_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "1.db"
    connection = connect(path, create=True)
    for script in COMPANY.scripts():
        if int(script.name[:4]) <= LAST_BEFORE:
            connection.executescript(script.read_text(encoding="utf-8"))
    connection.execute(f"PRAGMA application_id = {COMPANY.application_id}")
    connection.execute(f"PRAGMA user_version = {LAST_BEFORE}")
    connection.executescript(OLD)
    connection.close()
    migrate(path, COMPANY)
    connection = connect(path)
    events = [row[0] for row in connection.execute("SELECT event FROM webhook_deliveries ORDER BY id")]
    counts = connection.execute("SELECT * FROM webhook_subscription_counts ORDER BY 1, 2").fetchall()
    successes = [
        row[0] for row in connection.execute("SELECT last_success_at FROM webhook_subscriptions ORDER BY id")
    ]
    headers = connection.execute("SELECT url, sent_headers, answer_headers FROM webhook_attempts").fetchall()
    connection.close()
    assert events == ["article.created", "stock.low", None, "webhook.test"]
    assert counts == [(1, "delivered", 2), (1, "pending", 1), (2, "exhausted", 1)]
    assert successes == ["2026-11", None]
    assert headers == [(None, None, None)]
