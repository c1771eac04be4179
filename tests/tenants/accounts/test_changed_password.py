"""A changed password ends the sessions and tokens that were created with the old password."""

from pathlib import Path
from typing import Any

from tests.support.world import PASSWORD, World
from wmsd.db.engine.sqlite import connect
from wmsd.db.engine.transaction import Transaction
from wmsd.db.migrations import PLATFORM, migrate
from wmsd.tenants.accounts import actions

OWNER = "admin@example.com"
LIST = "/api/articles"
BEFORE = 4


async def sign_in(world: World, email: str = OWNER) -> str:
    body = {"email": email, "password": PASSWORD, "abilities": ["articles:read"]}
    return str((await world.call("POST", "/api/auth/token", body, token="", company="")).body["token"])


async def change_password(world: World, **options: Any) -> int:
    password_hash = await world.installation.passwords.hash("another horse battery")
    return await world.installation.platform.write(
        lambda tx: actions.set_password(tx, OWNER, password_hash, **options)
    )


async def audited(world: World) -> list[str]:
    def read(tx: Transaction) -> list[str]:
        return [row[0] for row in tx.rows("SELECT action FROM audit WHERE subject = ? ORDER BY id", (OWNER,))]

    return await world.installation.platform.read(read)


async def test_tokens_made_by_signing_in_end_and_those_of_an_admin_stay(world: World) -> None:
    await world.new_user("other@example.com", "platform-admin")
    signed_in = [await sign_in(world), await sign_in(world)]
    others = await sign_in(world, "other@example.com")
    await world.call("POST", "/api/auth/revoke", token=await sign_in(world), company="")
    for token in (*signed_in, others):
        await world.call("GET", LIST, token=token)
    assert await change_password(world) == 2, "without the one that was revoked before"
    for token in signed_in:
        await world.call("GET", LIST, token=token, status=401)
    await world.call("GET", LIST, token=others)
    await world.call("GET", LIST, token=world.token)
    assert (await audited(world))[-2:] == ["user.set-password", "token.revoke 2 made by signing in"]


async def test_they_stay_when_asked_to(world: World) -> None:
    token = await sign_in(world)
    assert await change_password(world, keep_tokens=True) == 0
    await world.call("GET", LIST, token=token)
    assert (await audited(world))[-1] == "user.set-password"


def test_of_tokens_from_before_those_in_the_audit_were_made_by_an_admin(tmp_path: Path) -> None:
    path = tmp_path / "platform.db"
    connection = connect(path, create=True)
    for script in PLATFORM.scripts()[:BEFORE]:
        connection.executescript(script.read_text(encoding="utf-8"))
    connection.execute(f"PRAGMA application_id = {PLATFORM.application_id}")
    connection.execute(f"PRAGMA user_version = {BEFORE}")
    connection.executescript("""
        INSERT INTO users (id, email, name, password_hash, role, abilities, created_at, updated_at)
        VALUES (1, 'a@x', 'A', '', 'member', '[]', '', ''), (2, 'b@x', 'B', '', 'member', '[]', '', '');
        INSERT INTO tokens (jti, user_id, name, abilities, created_at, expires_at)
        VALUES ('1', 1, 'ERP', '[]', '', ''), ('2', 1, 'scanner', '[]', '', ''), ('3', 2, 'ERP', '[]', '', '');
        INSERT INTO audit (at, actor, action, subject)
        VALUES ('', '', 'token.create ERP', 'a@x'), ('', '', 'token.create scanner', 'b@x');
    """)
    connection.close()
    migrate(path, PLATFORM)
    connection = connect(path)
    signed_in = dict(connection.execute("SELECT jti, signed_in FROM tokens"))
    connection.close()
    assert signed_in == {"1": 0, "2": 1, "3": 1}
