from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tenants.sign_on.providers import Scene, open_scene


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    """Open a scene in which Ana is a platform admin, and the provider knows her."""
    async with open_scene(tmp_path / "data") as opened:
        await opened.world.new_user("ana@example.com", "platform-admin")
        yield opened
