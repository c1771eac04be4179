"""Users of earlier versions who share one mailbox."""

from contextlib import closing
from pathlib import Path

from tests.maintenance.doctor.scene import names, situation, told
from wmsd.db.engine.sqlite import connect
from wmsd.maintenance.doctor import mailboxes

FORMS = ("josé@example.com", "jose\u0301@example.com")
OTHERS = ("jose@example.com", "y@müller.example")
ADD = """
    INSERT INTO users (email, name, password_hash, role, abilities, created_at, updated_at)
    VALUES (?, ?, '', 'member', '[]', '', '')
"""


def add(data: Path, *emails: str) -> None:
    with closing(connect(data / "platform.db")) as connection:
        connection.executemany(ADD, [(email, email) for email in emails])


def test_users_with_one_mailbox_are_named_as_they_are_written(data: Path) -> None:
    add(data, FORMS[0], *OTHERS)
    assert names(mailboxes.findings(situation(data))) == []
    add(data, FORMS[1], "y@xn--mller-kva.example")
    found = list(mailboxes.findings(situation(data)))
    assert names(found) == ["mailbox-shared", "mailbox-shared"]
    assert told(found[:1], "mailbox-shared").startswith(
        f"These users share one mailbox: {', '.join(FORMS)}. Their"
    )
    assert found[1].facts["emails"] == "y@müller.example, y@xn--mller-kva.example"
