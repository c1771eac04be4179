"""No other way opens the waiting rights: no link of a former admin, and no list that checks only the role of the
user.
"""

from pathlib import Path

import pytest

from tests.interfaces.pages.administering import NEW_PASSWORD, chosen, id_of, shown_once, signed_in_as
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.visitor import Visitor
from tests.tenants.sign_on.test_growing_reach import (
    ACME,
    AGAIN,
    BOB,
    BOTH,
    CAROL,
    HAD,
    IN_OTHER,
    OTHER,
    ROOT,
    RULES,
    Stage,
    held_before,
    staged,
)
from wmsd.maintenance.company_moves import deletion_store
from wmsd.tenants.companies import store as companies

READS = {f"abilities:{name}": "on" for name in HAD}


async def change(stage: Stage, email: str, **typed: str) -> None:
    root = stage.admins[ROOT]
    done = await sent(root, f"/admin/users/{await id_of(root, email)}/change", **typed)
    assert done.status == 303, done.text


@pytest.mark.parametrize("leaves", [{"company_codes": "ACME"}, {"role": "member", "company_codes": BOTH}])
async def test_an_admin_vouches_only_for_what_is_still_administered(
    tmp_path: Path, leaves: dict[str, str]
) -> None:
    """Carol opened Bob's link as an admin of both companies, and is no longer an admin of the other company."""
    async with staged(tmp_path) as stage:
        await held_before(stage, inviter=CAROL)
        await change(stage, CAROL, **leaves)
        await stage.change(ROOT, company_codes=BOTH)
        assert not await IN_OTHER.is_read_by(await signed_in_as(stage.world, BOB, NEW_PASSWORD))


async def test_an_admin_who_is_shut_out_vouches_for_nothing(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await held_before(stage, inviter=CAROL)
        root = stage.admins[ROOT]
        assert (await sent(root, f"/admin/users/{await id_of(root, CAROL)}/shut-out")).status == 303
        await stage.change(ROOT, company_codes=BOTH)
        assert not await IN_OTHER.is_read_by(await signed_in_as(stage.world, BOB, NEW_PASSWORD))


async def test_requests_of_others_are_seen_by_the_role_of_the_session(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        held = await held_before(stage)
        await stage.world.call("GET", "/api/articles", company=ACME)
        await stage.change(ROOT, role="company-admin", company_codes=BOTH)
        for session in (held.session, await signed_in_as(stage.world, BOB, NEW_PASSWORD)):
            assert "admin@example.com" not in (await session.get(f"/companies/{ACME}/requests")).text
        bob = await stage.signed_on()
        assert "admin@example.com" in (await bob.get(f"/companies/{ACME}/requests")).text


async def test_a_session_sees_and_revokes_no_token_that_opens_more_companies(tmp_path: Path) -> None:
    """A session does not see or revoke tokens that open more companies. An attacker with the old password cannot
    stop Bob's programs.
    """
    async with staged(tmp_path) as stage:
        held = await held_before(stage)
        await stage.change(ROOT, company_codes=BOTH)
        bob = await stage.signed_on()
        token = shown_once(await sent(bob, "/admin/tokens/new", name="errands", **READS))["token"]
        listed = (await bob.get("/admin/tokens")).text
        assert "errands" in listed
        impostor = await signed_in_as(stage.world, BOB, NEW_PASSWORD)
        for session in (held.session, impostor):
            seen = (await session.get("/admin/tokens")).text
            assert ("own" in seen, "errands" in seen, "OTHER" in seen) == (True, False, False)
        [[number]] = await stage.world.installation.platform.read(
            lambda tx: tx.rows("SELECT id FROM tokens WHERE name = 'errands'")
        )
        assert (await impostor.get(f"/admin/tokens/{number}")).status == 404
        form_token = (await impostor.get("/account")).form_token
        refused = await impostor.post(f"/admin/tokens/{number}/revoke", {"form_token": form_token})
        assert refused.status == 404
        assert await IN_OTHER.is_read_with(stage.world, token)


async def test_an_admin_whose_role_waits_is_no_reason_to_let_the_last_one_go(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await held_before(stage)
        await stage.change(ROOT, role="platform-admin", company_codes="")
        root, platform = stage.admins[ROOT], stage.world.installation.platform
        await platform.write(lambda tx: tx.execute("UPDATE users SET role = 'member' WHERE email LIKE 'admin@%'"))
        path = f"/admin/users/{await id_of(root, ROOT)}/change"
        refused = await sent(root, path, role="member", company_codes="ACME")
        assert refused.status == 422
        assert (
            f"The platform admin {BOB} must first open the password link and choose a new password" in refused.text
        )
        link = await stage.link(ROOT)
        assert (await chosen(Visitor(stage.world), link, AGAIN, AGAIN)).status == 303
        assert (await sent(root, path, role="member", company_codes="ACME")).status == 303


async def test_a_deletion_that_is_given_up_ends_no_program(tmp_path: Path) -> None:
    """A user signs on by the rules while the company is not served."""
    async with staged(tmp_path, follow_rules=True, create_users=True, rules=RULES) as stage:
        bob = await stage.signed_on()
        token = shown_once(await sent(bob, "/admin/tokens/new", name="program", **READS))["token"]
        platform = stage.world.installation.platform
        await platform.write(lambda tx: deletion_store.begin(tx, "OTHER"))
        await stage.signed_on()
        known = await platform.read(companies.every_company)
        [other] = [each for each in known if each.id == OTHER]
        await platform.write(lambda tx: deletion_store.give_up(tx, other))
        assert await IN_OTHER.is_read_with(stage.world, token)


async def test_what_waits_in_companies_that_the_link_was_good_for_waits_no_more(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await held_before(stage)
        await stage.change(ROOT, company_codes=BOTH, role="company-admin")
        await stage.change(ROOT, company_codes="ACME", role="company-admin")
        root = stage.admins[ROOT]
        assert "New rights are waiting" not in (await root.get(f"/admin/users/{await id_of(root, BOB)}")).text
        bob = await signed_in_as(stage.world, BOB, NEW_PASSWORD)
        assert (await bob.get("/admin/users")).status == 200
