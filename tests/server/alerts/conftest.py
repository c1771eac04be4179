import asyncio
from collections.abc import Callable

import pytest
import uvloop

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Choose the event loop of each test module: wmsd's own loop starts programs; Python's loop shows what stayed
    open.
    """
    return LOOPS if item.path.stem in ("test_commands", "test_mail") else {"asyncio": asyncio.new_event_loop}
