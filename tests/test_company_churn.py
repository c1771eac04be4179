"""Tests of many more companies than can be open at the same time: files open and close during everything that a
server does.
"""

import asyncio
import resource
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random

import pytest

from tests.support.authority import found_authority
from tests.support.churn import Churn, Held, Imports, Site, held_by, made_in
from tests.support.command import Home, Server
from tests.support.faults import laws
from tests.support.faults.load import Asked, Told, repeated
from tests.support.forked import Program
from tests.support.raw_http import Caller
from tests.support.receivers import open_receivers
from tests.support.thorough import IS_THOROUGH

pytestmark = pytest.mark.long

COMPANIES = 300 if IS_THOROUGH else 60
SUBSCRIBED = 20 if IS_THOROUGH else 10
MEMORY = {"WMSD_STORAGE_MEMORY_MEGABYTES": "16"}
CONNECTIONS = 20
"""The connections to companies' files that fit into the memory."""
CLIENTS = 16
LIVES = 6 if IS_THOROUGH else 3
"""The number of servers, one after another. Each server except the last ends by a kill."""
SECONDS = 2.0
"""The most seconds of work of one server."""
MOST_THREADS = 40
WARM_SECONDS = 8.0 if IS_THOROUGH else 4.0
"""Seconds of work in which most companies are used, because what is cached of each company has a bound."""
MOST_GROWTH = 12.0
"""The most growth in megabytes: from the maximum in two rounds of work to the minimum in two later rounds."""
FEW_FILES = 200
"""The number of files that the process may have open."""
LONGEST = 30.0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with ExitStack() as stack:
        program = Program(tmp_path_factory.mktemp("program"))
        stack.callback(program.end)
        authority = found_authority(tmp_path_factory.mktemp("authority"))
        receivers = stack.enter_context(open_receivers(authority))
        home = Home(program, tmp_path_factory.mktemp("many"), dict(MEMORY))
        yield made_in(home, COMPANIES, SUBSCRIBED, receivers)


def port(server: Server) -> int:
    return int(server.address.rpartition(":")[2])


@contextmanager
def working(site: Site, server: Server, label: str) -> Iterator[Churn]:
    churn = Churn(port(server), site.tenants, label, CLIENTS)
    churn.start()
    try:
        yield churn
    finally:
        churn.stop()


def repeat(site: Site, server: Server, asked: list[Asked]) -> None:
    """Repeat the requests that were not done, with their keys."""
    for place in {each.place for each in asked}:
        tenant = site.tenants[place]
        of_place = [each for each in asked if each.place == place]
        asyncio.run(repeated(Caller(port(server), tenant.token, tenant.company), of_place))


def not_done(asked: list[Asked]) -> list[str]:
    return [f"{each.form}: {each.answer}" for each in asked if each.told is not Told.DONE]


def broken_laws(site: Site, asked: list[Asked]) -> Iterator[str]:
    """Yield a sentence for each broken law. No server may be running."""
    yield from site.flaws()
    yield from laws.of_answers(asked)
    for place, tenant in enumerate(site.tenants):
        yield from laws.of_writes((each for each in asked if each.place == place), site.stored(tenant))


@pytest.mark.thorough
def test_every_law_holds_over_kills(site: Site) -> None:
    chance, asked = Random(17), list[Asked]()
    imports = Imports(site.home, site.codes, "I")
    imports.start()
    for life in range(LIVES):
        with site.home.serving() as server:
            repeat(site, server, [each for each in asked if each.told is Told.UNKNOWN])
            with working(site, server, f"L{life}") as churn:
                time.sleep(chance.uniform(SECONDS / 4, SECONDS))
                if life < LIVES - 1:
                    server.kill()
            asked += churn.asked
            if life == LIVES - 1:
                imports.stop()
                assert not_done(churn.asked) == []
                assert site.untold(asked, LONGEST) == set()
                assert server.stop() == 0
    assert [each.answer for each in asked if each.told is Told.REFUSED] == []
    assert [*broken_laws(site, asked)] == []
    assert [*imports.broken, *site.mistaken(imports)] == []
    assert sum(bool(each.name) for each in asked) > 50
    assert len(imports.imported) > LIVES


@pytest.mark.thorough
def test_what_the_server_holds_does_not_grow(site: Site) -> None:
    """The resources of the server do not grow, except for the last requests of each company, which have a separate
    bound.
    """
    held = list[Held]()
    with site.home.serving(env={"WMSD_REQUESTS_KEEP": "false"}) as server:
        for round_ in range(5):
            with working(site, server, f"R{round_}") as churn:
                time.sleep(SECONDS if held else WARM_SECONDS)
            assert not_done(churn.asked) == []
            assert len({each.place for each in churn.asked}) > 2 * CONNECTIONS
            held.append(held_by(server))
        assert server.stop() == 0
    assert max(each.threads for each in held) < MOST_THREADS
    assert max(each.company_files for each in held) <= 3 * CONNECTIONS
    megabytes = [each.megabytes for each in held]
    assert min(megabytes[-2:]) < max(megabytes[:2]) + MOST_GROWTH


def test_few_open_files_make_it_slower_and_refuse_nobody(site: Site) -> None:
    def few_files() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (FEW_FILES, FEW_FILES))

    with site.home.serving(limits=few_files, env={"WMSD_STORAGE_MEMORY_MEGABYTES": "0"}) as server:
        with working(site, server, "F") as churn:
            time.sleep(SECONDS)
        assert server.stop() == 0
        assert f"of {FEW_FILES} file descriptors" in server.log
        assert laws.warnings(server.log) == []
    assert not_done(churn.asked) == []
    assert [*broken_laws(site, churn.asked)] == []
