import pytest

from tests.interfaces.pages.records.test_browse import signed_in
from tests.interfaces.pages.visitor import Visitor
from tests.support.shop import Shop


@pytest.fixture
async def visitor(shop: Shop) -> Visitor:
    """Sign in a platform admin at a shop."""
    return await signed_in(shop.world)
