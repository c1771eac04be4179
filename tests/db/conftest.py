from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.db.one_connection import Scene
from tests.support.steering import CountedIds, SteeredClock
from wmsd.base.clock import OrderedClock
from wmsd.db.engine.database import Database
from wmsd.db.migrations import COMPANY, create_file


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    path = tmp_path / "1.db"
    create_file(path, COMPANY)
    database = Database(path, OrderedClock(SteeredClock()), CountedIds())
    yield database
    await database.close()


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    scene = Scene(tmp_path / "1.db")
    yield scene
    scene.connection.close()
