from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.interfaces.graphql.catalogue import Catalogue, open_catalogue
from tests.support.world import UNLIMITED, open_world


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def catalogue(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Catalogue]:
    """Open one catalogue for all tests of a module; the tests only read the catalogue."""
    async with open_world(tmp_path_factory.mktemp("catalogue") / "data", UNLIMITED) as world:
        yield await open_catalogue(world)
