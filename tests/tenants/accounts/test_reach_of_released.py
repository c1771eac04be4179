"""An upgrade takes nothing away: users and tokens of 1.0.0, and later sessions, reach the same as before. Later
rights are open to a user's password only if the audit shows that no company admin created the link.
"""

import tarfile
from pathlib import Path

import pytest

from wmsd.db.engine.sqlite import connect
from wmsd.db.migrations import PLATFORM, migrate

RELEASED = Path(__file__).parents[2] / "released" / "wmsd-1.0.0.tar.gz"
FIRST = 100
"""The first id of these people."""
CREATED = "user.create member"
PEOPLE = {
    "root@example.com": ("platform-admin", [("command line, unix user ion", "user.create platform-admin")]),
    "evil@example.com": ("company-admin", [("root@example.com", "user.create company-admin")]),
    "by-root@example.com": ("member", [("root@example.com", CREATED), ("root@example.com", "user.link")]),
    "by-evil@example.com": ("member", [("evil@example.com", CREATED)]),
    "by-commands@example.com": (
        "member",
        [("wmsd", CREATED), ("command line, unix user ion", "user.set-password")],
    ),
    "linked-by-evil@example.com": ("member", [("wmsd", CREATED), ("evil@example.com", "user.link")]),
    "by-provider@example.com": ("member", [("by-provider@example.com", f"{CREATED} by company")]),
    "only-linked@example.com": ("member", [("root@example.com", "user.link")]),
    "not-told@example.com": ("member", []),
}
"""The people: for each address the role, and who did what to that user, as the audit says."""
ANY_COMPANY = {"root@example.com", "evil@example.com", "by-root@example.com", "by-commands@example.com"}


@pytest.fixture
def platform(tmp_path: Path) -> Path:
    """Build the platform file of 1.0.0 with these people in company 1 and a token of each. Then bring the file to
    the state before this migration, with a session and an open link of each.
    """
    with tarfile.open(RELEASED) as archive:
        archive.extract("platform.db", tmp_path, filter="data")
    connection = connect(tmp_path / "platform.db")
    for number, (email, (role, done)) in enumerate(PEOPLE.items(), FIRST):
        user = "INSERT INTO users VALUES (?, ?, ?, 'hash', ?, '[]', NULL, '', '')"
        connection.execute(user, (number, email, email, role))
        if role != "platform-admin":
            connection.execute("INSERT INTO user_companies VALUES (?, 1)", (number,))
        connection.execute(
            "INSERT INTO tokens (id, jti, user_id, name, abilities, created_at, expires_at) "
            """VALUES (?, ?, ?, '', '["*"]', '', '')""",
            (number, email, number),
        )
        for actor, action in done:
            entry = "INSERT INTO audit (at, actor, action, subject) VALUES ('', ?, ?, ?)"
            connection.execute(entry, (actor, action, email))
    connection.commit()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for script in PLATFORM.scripts()[version:]:
        if script.name.endswith("_reach.sql"):
            break
        connection.executescript(script.read_text(encoding="utf-8"))
        version += 1
    connection.execute(f"PRAGMA user_version = {version}")
    for number, email in enumerate(PEOPLE, FIRST):
        connection.execute("INSERT INTO sessions VALUES (?, ?, ?, '', '', '', '')", (number, email, number))
        connection.execute("INSERT INTO invitations VALUES (?, ?, '')", (number, email))
    connection.commit()
    connection.close()
    return tmp_path / "platform.db"


def test_nobody_loses_or_gains_anything_by_the_upgrade(platform: Path) -> None:
    migrate(platform, PLATFORM)
    connection = connect(platform)
    bounds = connection.execute("SELECT DISTINCT password_reach, waiting_since FROM users").fetchall()
    sessions = connection.execute("SELECT DISTINCT reach FROM sessions").fetchall()
    tokens = connection.execute("SELECT DISTINCT abilities, company_ids FROM tokens WHERE id >= 100").fetchall()
    scopes = dict(connection.execute("SELECT email, password_scope FROM users WHERE id >= 100"))
    links = dict(
        connection.execute(
            "SELECT users.email, invitations.scope FROM invitations JOIN users ON users.id = user_id"
        )
    )
    connection.close()
    assert bounds == [(None, None)]
    assert sessions == [(None,)]
    assert tokens == [('["*"]', None)]
    assert scopes == {email: None if email in ANY_COMPANY else "[1]" for email in PEOPLE}
    assert links == scopes
