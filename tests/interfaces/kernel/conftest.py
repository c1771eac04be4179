import pytest

from tests.support.world import World


@pytest.fixture
async def kernel(world: World) -> World:
    """Open an installation with a platform token."""
    await world.open_kernel()
    return world
