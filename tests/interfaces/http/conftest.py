"""The event loops that connections are tried on."""

import asyncio
from collections.abc import Callable

import pytest

from tests.support.dialling import LOOPS


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The service's loop ends connections in its own way; Python's tells what was left open."""
    return LOOPS if item.path.stem == "test_half_closed" else {"asyncio": asyncio.new_event_loop}
