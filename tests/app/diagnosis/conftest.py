import asyncio
import shutil
from pathlib import Path

import pytest

from tests.app.diagnosis.scene import NOW, as_of
from tests.support.world import UNLIMITED, open_world


@pytest.fixture(scope="package")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Companies 1 (ACME) and 2 (B)."""
    data = tmp_path_factory.mktemp("pristine") / "data"

    async def make() -> None:
        async with open_world(data, UNLIMITED) as world:
            await world.send("POST", "/api/articles", {"code": "A", "name": "Alpha"})
            await world.new_company("B")

    asyncio.run(make())
    return data


@pytest.fixture
def data(pristine: Path, tmp_path: Path) -> Path:
    """A data folder to break."""
    copy = tmp_path / "data"
    shutil.copytree(pristine, copy)
    as_of(copy, NOW)
    return copy
