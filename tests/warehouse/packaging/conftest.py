import pytest

from tests.support.world import World
from tests.warehouse.packaging.depot import Depot, open_depot


@pytest.fixture
async def depot(world: World) -> Depot:
    """Open ACME with packaging types and partners."""
    return await open_depot(world)
