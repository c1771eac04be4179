"""The explanation of an ability takes the settings of the installation into account."""

from pathlib import Path

import pytest

from tests.interfaces.pages.administering import MEMBER, id_of
from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.interfaces.pages.visitor import Visitor
from tests.support.world import UNLIMITED, open_world
from wmsd.contract.access import ABILITIES, OPENS_BOTH

BOTH = OPENS_BOTH["returns:read"]


@pytest.mark.parametrize("is_required", [False, True])
async def test_reading_returns_is_told_of_tokens_as_the_settings_have_it(
    tmp_path: Path, is_required: bool
) -> None:
    settings = {**UNLIMITED, "returns": {"require_write_ability": is_required}}
    said = ABILITIES["returns:read"] if is_required else BOTH
    async with open_world(tmp_path / "data", settings) as world:
        admin = await signed_in(world)
        seen = await admin.get("/admin/tokens/new")
        assert f"returns:read {said} " in text_of(seen.text) + " "
        assert ("abilities:returns:write" in seen.text) == is_required, "no choice that would be refused"
        made = await sent(admin, "/admin/tokens/new", **{"name": "Shop", "abilities:returns:read": "on"})
        assert f"returns:read {said} " in text_of(made.text)
        reference = await Visitor(world).get("/docs/api/access")
        assert f"returns:read {said} " in text_of(reference.text)


async def test_people_have_an_ability_of_its_own_to_write_returns(admin: Visitor) -> None:
    """The abilities of people separate reading and writing returns, whatever ability tokens need."""
    await admin.world.new_user(MEMBER, "member", ["ACME"], ["returns:read"])
    user = f"/admin/users/{await id_of(admin, MEMBER)}"
    for path in ("/admin/users/new", f"{user}/change"):
        seen = text_of((await admin.get(path)).text)
        for name in ("returns:read", "returns:write"):
            assert f"{name} {ABILITIES[name]} " in seen
    allowed, others = text_of((await admin.get(f"{user}/rights")).text).split("Not allowed")
    assert "Read returns returns:read " in allowed
    assert "Create and update returns returns:write " in others
