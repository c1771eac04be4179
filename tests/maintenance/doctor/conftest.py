import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.maintenance.doctor.scene import NOW, as_of
from tests.support.world import UNLIMITED, open_world


@pytest.fixture(scope="package")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a data folder with the companies 1 (ACME) and 2 (B)."""
    data = tmp_path_factory.mktemp("pristine") / "data"

    async def make() -> None:
        async with open_world(data, UNLIMITED) as world:
            await world.send("POST", "/api/articles", {"code": "A", "name": "Alpha"})
            await world.new_company("B")

    asyncio.run(make())
    return data


@pytest.fixture
def data(pristine: Path, tmp_path: Path) -> Path:
    """Copy the data folder, so that a test can damage the copy."""
    copy = tmp_path / "data"
    shutil.copytree(pristine, copy)
    as_of(copy, NOW)
    return copy


@pytest.fixture
def open_data(pristine: Path) -> Iterator[Path]:
    """Copy the data folder to a place that other users can enter: the folders of pytest are closed to others."""
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)
        data = Path(parent) / "data"
        shutil.copytree(pristine, data)
        data.chmod(0o755)
        (data / "companies").chmod(0o755)
        yield data
