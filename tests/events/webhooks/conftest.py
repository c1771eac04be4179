from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.events.webhooks.hooks import Hooks, open_hooks
from tests.support.authority import Authority
from tests.support.dialling import authority, pytest_asyncio_loop_factories, receivers

__all__ = ["authority", "hooks", "pytest_asyncio_loop_factories", "receivers"]


@pytest.fixture
async def hooks(tmp_path: Path, authority: Authority) -> AsyncIterator[Hooks]:
    """Open a running sender, and a receiver with TLS to which it may send."""
    async with open_hooks(tmp_path / "data", authority) as opened:
        yield opened
