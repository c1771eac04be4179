"""Fixtures with signed-in admins."""

import pytest

from tests.interfaces.pages.administering import LEAD, signed_in_as
from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.support.world import World


@pytest.fixture
async def admin(world: World) -> Visitor:
    """Sign in a platform admin in an installation with the companies ACME and OTHER."""
    await world.new_company("OTHER")
    return await signed_in(world)


@pytest.fixture
async def lead(admin: Visitor) -> Visitor:
    """Sign in the admin of OTHER."""
    await admin.world.new_user(LEAD, "company-admin", ["OTHER"])
    return await signed_in_as(admin.world, LEAD)
