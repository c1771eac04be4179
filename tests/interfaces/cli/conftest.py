from pathlib import Path

import pytest

from tests.support.command import Home, first_day


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An empty folder."""
    return Home(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """An installation that the tests of a file share: each uses names of its own, or changes nothing."""
    return first_day(tmp_path_factory.mktemp("shared"))
