"""Fixtures for tests that open outgoing connections: the event loops that they run on, an authority, and
receivers.
"""

import asyncio
from collections.abc import Callable, Iterator

import pytest
import uvloop

from tests.support.authority import Authority, found_authority
from tests.support.receivers import Receivers, open_receivers

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}
ON_BOTH = ("test_client", "test_hostile", "test_dns_resolver")


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Return the event loops that a test runs on.

    The service's loop (uvloop) opens connections in its own way. Python's own loop reports connections that a test
    leaves open.
    """
    return LOOPS if item.path.stem in ON_BOTH else {"asyncio": asyncio.new_event_loop}


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return found_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def receivers(authority: Authority) -> Iterator[Receivers]:
    """Start receivers of every kind, hostile ones too, in a separate process."""
    with open_receivers(authority) as opened:
        yield opened
