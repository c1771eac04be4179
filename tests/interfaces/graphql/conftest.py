from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.interfaces.graphql.house import House, open_house
from tests.support.world import UNLIMITED, open_world


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """One for all tests of a module, which only read it."""
    async with open_world(tmp_path_factory.mktemp("house") / "data", UNLIMITED) as world:
        yield await open_house(world)
