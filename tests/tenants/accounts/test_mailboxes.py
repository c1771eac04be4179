"""One mailbox belongs to one user, however the address is typed; users of earlier versions can still sign in."""

import unicodedata
from typing import Any

import pytest

from tests.interfaces.pages.administering import errors, invited
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import rows, signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.support.world import PASSWORD, World
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import actions

JOSE = "josé@example.com"
DECOMPOSED = unicodedata.normalize("NFD", JOSE)
MULLER = "y@müller.example"
PUNYCODE = "y@xn--mller-kva.example"


async def emails(world: World) -> list[str]:
    def read(tx: Transaction) -> list[str]:
        return [email for (email,) in tx.rows("SELECT email FROM users WHERE id > 1 ORDER BY id")]

    return await world.installation.platform.read(read)


async def store_as(world: World, user_id: int, email: str) -> None:
    """Store an address unchanged, as versions before 1.2 did."""
    await world.installation.platform.write(
        lambda tx: tx.execute("UPDATE users SET email = ? WHERE id = ?", (email, user_id)).rowcount
    )


async def token(world: World, email: str, status: int = 200) -> Any:
    body = {"email": email, "password": PASSWORD, "device_name": "scanner", "abilities": ["articles:read"]}
    return (await world.call("POST", "/api/auth/token", body, token="", company="", status=status)).body


@pytest.mark.parametrize(
    ("made", "stored", "typed"),
    [
        ("JOSÉ@example.com", JOSE, [JOSE, DECOMPOSED, "JOSÉ@EXAMPLE.COM"]),
        (DECOMPOSED, JOSE, [JOSE, DECOMPOSED]),
        (MULLER, PUNYCODE, [MULLER, PUNYCODE, "y@MU\u0308LLER.example"]),
        ("straße@example.com", "straße@example.com", ["Straße@example.com"]),
    ],
)
async def test_a_user_signs_in_by_each_form_at_the_form_and_for_a_token(
    world: World, made: str, stored: str, typed: list[str]
) -> None:
    await world.new_user(made, "member", ["ACME"])
    assert stored in await emails(world)
    for email in typed:
        assert (await Visitor(world).sign_in(email, PASSWORD)).status == 303, email
        assert "token" in await token(world, email)


@pytest.mark.parametrize(
    ("there", "typed"),
    [(DECOMPOSED, [JOSE, DECOMPOSED]), (MULLER, [MULLER, PUNYCODE]), (PUNYCODE, [MULLER, PUNYCODE])],
)
async def test_a_user_of_an_earlier_version_is_found_by_each_form_and_keeps_its_own(
    world: World, there: str, typed: list[str]
) -> None:
    user_id = await world.new_user("before@example.com", "member", ["ACME"])
    await store_as(world, user_id, there)
    admin = await signed_in(world)
    for email in typed:
        assert (await Visitor(world).sign_in(email, PASSWORD)).status == 303, email
        assert "token" in await token(world, email)
        refused = await sent(
            admin, "/admin/users/new", email=email, name="Other", role="member", company_codes="ACME"
        )
        assert await errors(refused) == ["E-mail address is taken by another user."]
    assert there in await emails(world)


async def test_two_users_of_one_mailbox_stay_two(world: World) -> None:
    first, second = [await world.new_user(f"{name}@example.com", "member", ["ACME"]) for name in ("a", "b")]
    await store_as(world, first, JOSE)
    await store_as(world, second, DECOMPOSED)
    for email in (JOSE, DECOMPOSED):
        visitor = Visitor(world)
        await visitor.sign_in(email, PASSWORD)
        assert email in (await visitor.get("/account")).text
    await world.installation.platform.write(lambda tx: actions.disable_user(tx, DECOMPOSED))
    assert (await Visitor(world).sign_in(JOSE, PASSWORD)).status == 303
    admin = await signed_in(world)
    changed = await sent(admin, f"/admin/users/{second}/email", email=JOSE)
    assert await errors(changed) == ["E-mail address is taken by another user."]


async def test_an_invited_user_has_one_form_and_may_change_it(world: World) -> None:
    admin = await signed_in(world)
    await invited(admin, DECOMPOSED, company_codes="ACME")
    assert (await emails(world))[-1] == JOSE
    user_id = int(await world.installation.platform.read(lambda tx: tx.value("SELECT max(id) FROM users")))
    await store_as(world, user_id, DECOMPOSED)
    assert (await sent(admin, f"/admin/users/{user_id}/email", email=JOSE)).status == 303
    assert (await emails(world))[-1] == JOSE
    refused = await sent(
        admin, "/admin/users/new", email="an\u200ba@x.y", name="A", role="member", company_codes="ACME"
    )
    assert await errors(refused) == ["E-mail address must be an e-mail address."]


async def test_tokens_of_a_user_are_found_by_each_form(world: World) -> None:
    await world.new_user(JOSE, "member", ["ACME"])
    await token(world, JOSE)
    admin = await signed_in(world)
    for email, number in ((JOSE, 1), (DECOMPOSED, 1), ("nobody@example.com", 0)):
        found = [cells for cells in rows(await admin.get(f"/admin/tokens?user={email}")) if "scanner" in cells]
        assert len(found) == number, email


async def test_a_user_is_found_by_the_letters_of_its_domain(world: World) -> None:
    await world.new_user(MULLER, "member", ["ACME"])
    admin = await signed_in(world)
    for search in (MULLER, "müller", "mu\u0308ller", "muller", PUNYCODE):
        (found,) = rows(await admin.get(f"/admin/users?search={search}"))
        assert found[0] == PUNYCODE, search


async def test_guesses_are_counted_for_the_mailbox(world: World) -> None:
    for place in range(6):
        email = (JOSE, DECOMPOSED, JOSE.upper())[place % 3]
        body = {"email": email, "password": "wrong", "device_name": "scanner", "abilities": ["articles:read"]}
        answer = await world.send("POST", "/api/auth/token", body, token="", company="")
    assert answer.status == 429


async def test_the_forms_send_letters_beyond_ascii(world: World) -> None:
    """A field of the type `email` sends no letters beyond ASCII before the @, and sends the domain in punycode."""
    seen = await Visitor(world).get("/sign-in")
    assert '<input id="email" name="email" type="text" autocomplete="username" required' in seen.text
    assert 'inputmode="email"' in seen.text
