from itertools import count
from pathlib import Path

import pytest

from tests.support.command import Home, Tenant, first_day
from tests.support.forked import Program


@pytest.fixture
def home(program: Program, tmp_path: Path) -> Home:
    """An empty folder."""
    return Home(program, tmp_path)


@pytest.fixture(scope="module")
def shared(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """An installation that the tests of a file share: each uses names of its own, or changes nothing."""
    return first_day(Home(program, tmp_path_factory.mktemp("shared")))


CODES = count(1)


@pytest.fixture
def tenant(shared: Home) -> Tenant:
    """A new company in the shared installation."""
    code = f"T{next(CODES)}"
    shared.ok("company", "create", code, "--name", code, "--all-modules")
    return Tenant(shared, code)


@pytest.fixture
def shop(tenant: Tenant) -> Tenant:
    tenant.take("clients", "code,name\nC1,Owner\n")
    tenant.take("partners", "code,name,type\nP1,First,CLIENT\nP2,Second,CLIENT\n")
    tenant.take("warehouses", "code,name\nMAIN,Main\nEAST,East\n")
    tenant.take("articles", "code,name\nA,Alpha\nB,Beta\n")
    tenant.take("stock", "article_code,warehouse_code,quantity\nA,MAIN,10\nA,EAST,5\nB,MAIN,4\n")
    return tenant
