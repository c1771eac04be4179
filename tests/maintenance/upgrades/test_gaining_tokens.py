"""Tokens with `*` gain the abilities that a newer version adds: an upgrade lists the tokens that gain an
ability.
"""

from collections.abc import Sequence

import pytest

from tests.support.backups import back_up
from tests.support.command import EMAIL, Home, first_day
from tests.support.world import World
from wmsd import __version__
from wmsd.contract.access import ABILITIES, READ_ABILITIES
from wmsd.maintenance.upgrades import gaining_tokens as gaining
from wmsd.maintenance.upgrades.gaining_tokens import gaining_tokens, new_abilities
from wmsd.maintenance.upgrades.rehearse import rehearse

NEW = ["stock:count", "stock:write", "partners:write"]
TITLE = "These tokens have `*`, so they gain stock:count, stock:write, partners:write:"


@pytest.mark.parametrize(
    ("version", "new"),
    [
        ("1.0.0", NEW),
        ("1.1.0", NEW),
        ("1.2.0", []),
        ("1.10.0", []),
    ],
)
def test_what_is_new_follows_from_the_version_of_before(version: str, new: list[str]) -> None:
    assert new_abilities(version) == new


async def lines(world: World, version: str = "1.1.0") -> Sequence[str]:
    return await world.installation.platform.read(lambda tx: gaining_tokens(tx, version))


async def test_only_tokens_that_gain_something_are_told(world: World) -> None:
    await world.new_company("OTHER")
    await world.new_user("all@example.com", "member", ["OTHER", "ACME"], ["*"])
    await world.new_user("reads@example.com", "member", ["ACME"], sorted(READ_ABILITIES))
    await world.new_user("boss@example.com", "company-admin", ["OTHER"])
    await world.new_user("root@example.com", "platform-admin")
    before = set(await lines(world)) - {TITLE}
    for email in ("all@example.com", "boss@example.com", "root@example.com"):
        await world.new_token(email, ["*"])
    await world.new_token("boss@example.com", sorted(ABILITIES))
    await world.installation.platform.write(
        lambda tx: tx.execute("UPDATE users SET abilities = '[\"*\"]' WHERE email = 'reads@example.com'")
    )
    await world.new_token("reads@example.com", ["*"])
    await world.installation.platform.write(
        lambda tx: tx.execute("UPDATE users SET abilities = '[\"stock:read\"]' WHERE email = 'reads@example.com'")
    )
    found = await lines(world)
    assert found[0] == TITLE
    assert [each.partition(":")[0] + each[each.rindex(",") :] for each in found[1:] if each not in before] == [
        "  ACME, OTHER, of all@example.com",
        "  OTHER, of boss@example.com",
        "  every company, of root@example.com",
    ]
    assert await lines(world, "1.2.0") == []


async def test_a_revoked_token_gains_nothing(world: World) -> None:
    await world.new_user("root@example.com", "platform-admin")
    await world.new_token("root@example.com", ["*"])
    await world.installation.platform.write(
        lambda tx: tx.execute("UPDATE tokens SET revoked_at = ?", (tx.timestamp,))
    )
    assert await lines(world) == []


async def test_a_long_list_is_cut(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gaining, "MOST_LISTED", 2)
    await world.new_user("root@example.com", "platform-admin")
    for _ in range(4):
        await world.new_token("root@example.com", ["*"])
    assert (await lines(world))[-1].endswith("more: see `wmsd token list`")


def test_the_rehearsal_of_an_upgrade_lists_them(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    first_day(home)
    home.ok("token", "create", "--user", EMAIL, "--ability", "*", "--name", "nightly sync")
    archive = back_up(home)
    sentences = f"  every company: nightly sync, of {EMAIL}"
    done = home.run("upgrade", archive, "--rehearse")
    assert (done.code, sentences in done.err) == (0, bool(new_abilities(__version__))), done
    monkeypatch.setattr(gaining, "ABILITIES_SINCE", {"stock:read": "999.0.0"})
    found = rehearse(archive, home.folder, lambda *_: None)
    assert found.gaining_tokens[0] == "These tokens have `*`, so they gain stock:read:"
    assert sentences in found.gaining_tokens
