"""Where abilities are explained, the words say what they open with the settings of the installation."""

from pathlib import Path

import pytest

from tests.interfaces.pages.administering import MEMBER, id_of
from tests.interfaces.pages.records.test_act import form_of, sent
from tests.interfaces.pages.records.test_browse import rows, signed_in, text_of
from tests.interfaces.pages.visitor import Visitor
from tests.support.world import UNLIMITED, open_world
from wmsd.contract.access import ABILITIES, OPENS_BOTH

BOTH = OPENS_BOTH["returns:read"]


@pytest.mark.parametrize("is_required", [False, True])
async def test_reading_returns_is_told_as_the_settings_have_it(tmp_path: Path, is_required: bool) -> None:
    settings = {**UNLIMITED, "returns": {"require_write_ability": is_required}}
    said = ABILITIES["returns:read"] if is_required else BOTH
    async with open_world(tmp_path / "data", settings) as world:
        admin = await signed_in(world)
        await world.new_user(MEMBER, "member", ["ACME"], ["returns:read"])
        for path in ("/admin/users/new", "/admin/tokens/new"):
            seen = await admin.get(path)
            assert f"returns:read {said} " in text_of(seen.text) + " "
            assert ("abilities:returns:write" in seen.text) == is_required, "no choice that would be refused"
        rights = rows(await admin.get(f"/admin/users/{await id_of(admin, MEMBER)}/rights"))
        assert [cells[0] for cells in rights if cells[1] == "returns:read"] == [said.capitalize()]
        made = await sent(admin, "/admin/tokens/new", **{"name": "Shop", "abilities:returns:read": "on"})
        assert f"returns:read {said} " in text_of(made.text)
        reference = await Visitor(world).get("/docs/api/access")
        assert f"returns:read {said} " in text_of(reference.text)


async def test_an_ability_that_is_not_in_force_any_more_is_left_out_of_the_form(world_with_old: Visitor) -> None:
    """A change of something else is not refused because of it."""
    path = f"/admin/users/{await id_of(world_with_old, MEMBER)}/change"
    assert "abilities:returns:write" not in form_of(await world_with_old.get(path))
    assert (await sent(world_with_old, path, name="Ion P.")).status == 303


@pytest.fixture
async def world_with_old(admin: Visitor) -> Visitor:
    """There is a member from the time when the setting was on."""
    await admin.world.new_user(MEMBER, "member", ["OTHER"], ["returns:read"])
    await admin.world.installation.platform.write(
        lambda tx: tx.execute(
            'UPDATE users SET abilities = \'["returns:read","returns:write"]\' WHERE email = ?', (MEMBER,)
        )
    )
    return admin
