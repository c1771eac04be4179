import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import uvloop

from tests.events.webhooks.hooks import Hooks, open_hooks
from tests.support.authority import Authority, found_authority
from tests.support.receivers import Receivers, open_receivers

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The service's loop dials in its own way; Python's tells what was left open."""
    if item.path.stem in ("test_client", "test_hostile", "test_dns_resolver"):
        return LOOPS
    return {"asyncio": asyncio.new_event_loop}


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return found_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def receivers(authority: Authority) -> Iterator[Receivers]:
    """Hostile and kind ones, in a process of their own."""
    with open_receivers(authority) as opened:
        yield opened


@pytest.fixture
async def hooks(tmp_path: Path, authority: Authority) -> AsyncIterator[Hooks]:
    """A running sender, and a receiver with TLS that is allowed."""
    async with open_hooks(tmp_path / "data", authority) as opened:
        yield opened
