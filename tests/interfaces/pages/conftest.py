"""Admins at the pages, and an installation where nobody waits for work that is long."""

import pytest

from tests.interfaces.pages.administering import LEAD, signed_in_as
from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.support.world import World
from wmsd.dispatch.limits import work_admission


@pytest.fixture
async def admin(world: World) -> Visitor:
    """A platform admin, signed in. There are the companies ACME and OTHER."""
    await world.new_company("OTHER")
    return await signed_in(world)


@pytest.fixture
async def lead(admin: Visitor) -> Visitor:
    """The admin of OTHER, signed in."""
    await admin.world.new_user(LEAD, "company-admin", ["OTHER"])
    return await signed_in_as(admin.world, LEAD)


@pytest.fixture
def whole_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which searches and downloads may have all, in an installation that is opened after it: whoever asks for
    much waits for nobody.
    """
    whole = {kind: bound._replace(share=1.0) for kind, bound in work_admission.BOUNDS.items()}
    monkeypatch.setattr(work_admission, "BOUNDS", whole)
