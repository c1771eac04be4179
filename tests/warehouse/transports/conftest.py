import pytest

from tests.support.planner import Planner, open_planner
from tests.support.shop import Shop


@pytest.fixture
async def planner(shop: Shop) -> Planner:
    return await open_planner(shop)
