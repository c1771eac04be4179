import pytest

from tests.packaging.depot import Depot, open_depot
from tests.support.world import World


@pytest.fixture
async def depot(world: World) -> Depot:
    """ACME with packaging types and partners."""
    return await open_depot(world)
