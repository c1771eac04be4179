"""The event loops for tests of connections."""

import asyncio
from collections.abc import Callable

import pytest

from tests.support.dialling import LOOPS


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Choose the event loop of each test module: wmsd's own loop ends connections; Python's loop shows what stayed
    open.
    """
    return LOOPS if item.path.stem == "test_half_closed" else {"asyncio": asyncio.new_event_loop}
