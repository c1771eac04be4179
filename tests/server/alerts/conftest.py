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
    """The service's loop starts programs in its own way; Python's tells what was left open."""
    return LOOPS if item.path.stem in ("test_commands", "test_mail") else {"asyncio": asyncio.new_event_loop}
