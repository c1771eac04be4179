from collections.abc import Iterator

import pytest

from tests.support.authority import Authority, found_authority
from tests.support.receivers import Receivers, open_receivers


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return found_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def receivers(authority: Authority) -> Iterator[Receivers]:
    """Hostile and kind ones, in a process of their own."""
    with open_receivers(authority) as opened:
        yield opened
