"""Fixtures for homes and tenants of the command line. `tests/conftest.py` makes them available to every test."""

from functools import cache
from pathlib import Path

import pytest

from tests.support.command import Home, Tenant, first_day
from tests.support.forked import Program


@pytest.fixture
def home(program: Program, tmp_path: Path) -> Home:
    """Return a home in an empty folder."""
    return Home(program, tmp_path)


@pytest.fixture(scope="module")
def shared(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return an installation that the tests of a module share.

    A test must create records with names that no other test uses, or change nothing.
    """
    return first_day(Home(program, tmp_path_factory.mktemp("shared")))


@pytest.fixture
def tenant(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Tenant:
    """Return an empty company next to ACME."""
    return _like(_with_tenant(program), tmp_path_factory.mktemp("tenant"))


@pytest.fixture
def stocked(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Tenant:
    """Return a company with goods to sell."""
    return _like(_with_shop(program), tmp_path_factory.mktemp("shop"))


CODE = "T1"


def _like(other: Tenant, folder: Path) -> Tenant:
    return Tenant(Home(other.home.program, folder).begin_as(other.home), CODE)


@cache
def _with_tenant(program: Program) -> Tenant:
    """Create a company for other homes to copy.

    Creating a company by a command takes a tenth of a second.
    """
    folder = program.scratch / "with-tenant"
    folder.mkdir()
    home = first_day(Home(program, folder))
    home.ok("company", "create", CODE, "--name", CODE, "--all-modules")
    return Tenant(home, CODE)


@cache
def _with_shop(program: Program) -> Tenant:
    folder = program.scratch / "with-shop"
    folder.mkdir()
    shop = _like(_with_tenant(program), folder)
    shop.take("clients", "code,name\nC1,Owner\n")
    shop.take("partners", "code,name,type\nP1,First,CLIENT\nP2,Second,CLIENT\n")
    shop.take("warehouses", "code,name\nMAIN,Main\nEAST,East\n")
    shop.take("articles", "code,name\nA,Alpha\nB,Beta\n")
    shop.take("stock", "article_code,warehouse_code,quantity\nA,MAIN,10\nA,EAST,5\nB,MAIN,4\n")
    return shop
