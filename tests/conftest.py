import gc
import signal
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.command_fixtures import home, shared, stocked, tenant
from tests.support.dock import Dock, fill_dock, open_dock
from tests.support.forked import Program
from tests.support.goods import Store, fill_store, open_store
from tests.support.log_files import logging_as_it_was
from tests.support.machine import bare, booted
from tests.support.newer_executable import newer_build
from tests.support.shop import Shop, fill_shop, open_shop
from tests.support.small_disk import small_disk_at
from tests.support.thorough import IS_THOROUGH
from tests.support.world import UNLIMITED, Fill, World, open_world
from wmsd.interfaces.cli.main import GARBAGE_COLLECTION

__all__ = ["bare", "booted", "home", "logging_as_it_was", "newer_build", "shared", "stocked", "tenant"]


settings.register_profile("the same each time", derandomize=True, deadline=None)
if not IS_THOROUGH:
    settings.load_profile("the same each time")


def pytest_configure() -> None:
    """Restore the default handling of Ctrl-C.

    A test run in the background of a shell ignores Ctrl-C, and so would the commands that tests end by it.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude the objects of all tests from garbage collection.

    These objects live until the run ends, so the garbage collector would examine them again and again.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(*GARBAGE_COLLECTION)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort the tests by their modules, and leave out the `thorough` ones unless the run is THOROUGH.

    Modules marked `long` start first, so that no process waits for another's last module. The webhook modules
    mostly wait for receivers, so they are spread evenly among the others.
    """
    modules = dict.fromkeys(item.path for item in items)
    waiting = [path for path in modules if path.parent.name == "webhooks"]
    working = [path for path in modules if path not in waiting]
    place = {path: at / len(group) for group in (waiting, working) for at, path in enumerate(group)}
    if not IS_THOROUGH:
        left_out = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: (item.get_closest_marker("long") is None, place[item.path]))


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    started = Program(tmp_path_factory.mktemp("program"))
    yield started
    started.end()


FILLED_FOR: dict[str, Fill] = {"dock": fill_dock, "shop": fill_shop, "store": fill_store}
"""The function that fills the company ACME, by the fixture that a test uses."""


@pytest.fixture
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    """Open an installation with the company ACME, and with limits that no test reaches."""
    fill = next((fill for name, fill in FILLED_FOR.items() if name in request.fixturenames), None)
    async with open_world(tmp_path / "data", UNLIMITED, fill=fill) as opened:
        yield opened


@pytest.fixture
async def dock(world: World) -> Dock:
    """Return ACME with goods to receive."""
    return await open_dock(world)


@pytest.fixture
async def shop(world: World) -> Shop:
    """Return ACME with goods to sell."""
    return await open_shop(world)


@pytest.fixture
async def store(world: World) -> Store:
    """Return ACME with articles that have lots and serials, and without stock."""
    return await open_store(world)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield the path of a separate disk of 100 MiB."""
    with small_disk_at(tmp_path / "disk") as place:
        yield place
