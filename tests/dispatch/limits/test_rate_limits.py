"""Tests of limits: sliding windows with a sufficient Retry-After, and budgets that others cannot use up."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.world import open_world
from wmsd.base.problems import Problem, unavailable
from wmsd.contract.context import Caller
from wmsd.db.sql.statements import update_row
from wmsd.dispatch.limits import rate_limits as limits
from wmsd.dispatch.limits.rate_limits import ROUNDING, WINDOW, Limiter

LIST = "/api/articles"


@given(st.integers(1, 20), st.lists(st.floats(0, 30), min_size=1, max_size=80))
def test_no_window_ever_holds_more_than_the_limit(limit: int, pauses: list[float]) -> None:
    limiter, now, taken = Limiter(), 0.0, []
    for pause in pauses:
        now += pause
        try:
            limiter.take("key", limit, now)
        except Problem:
            continue
        taken.append(now)
    for moment in taken:
        assert sum(moment - WINDOW + ROUNDING < other <= moment for other in taken) <= limit


@given(st.integers(1, 20), st.lists(st.floats(0, 30), min_size=1, max_size=80))
def test_waiting_exactly_retry_after_is_enough(limit: int, pauses: list[float]) -> None:
    limiter, now = Limiter(), 0.0
    for pause in pauses:
        now += pause
        try:
            limiter.take("key", limit, now)
        except Problem as problem:
            now += int(problem.headers["Retry-After"])
            limiter.take("key", limit, now)


async def test_a_company_has_one_budget_over_all_its_tokens(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 3}}) as world:
        other = await world.new_company("OTHER")
        tokens = [await world.new_token("admin@example.com") for _ in range(2)]
        first = await world.call("GET", LIST)
        assert first.headers["X-RateLimit-Limit"] == "3"
        assert first.headers["X-RateLimit-Remaining"] == "2"
        world.clock.advance(10)
        await world.call("GET", LIST, token=tokens[0])
        last = await world.call("GET", "/api/articles/9", token=tokens[1], status=404)
        assert last.headers["X-RateLimit-Remaining"] == "0"
        refused = await world.call("GET", "/api/v2/stock", status=429)
        assert refused.body["code"] == "RATE_LIMIT_EXCEEDED"
        assert refused.headers["Retry-After"] == "50"
        await world.call("GET", LIST, company=other)
        world.clock.advance(49.9)
        await world.call("GET", LIST, status=429)
        world.clock.advance(0.1)
        await world.call("GET", LIST)


async def test_the_wall_clock_cannot_lengthen_a_wait(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 1}}) as world:
        await world.call("GET", LIST)
        world.clock.set_back(86_400)
        await world.call("GET", LIST, status=429)
        world.clock.advance(60)
        await world.call("GET", LIST)


async def test_a_sandbox_company_and_a_company_of_its_own_limit(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data") as world:
        await world.new_operator("TRY", sandbox=True)
        sandbox = await world.new_company("SAND", operator="TRY")
        assert (await world.call("GET", LIST, company=sandbox)).headers["X-RateLimit-Limit"] == "12"
        await world.installation.platform.write(
            lambda tx: tx.execute("UPDATE companies SET requests_per_minute = 500 WHERE code = 'ACME'")
        )
        assert (await world.call("GET", LIST)).headers["X-RateLimit-Limit"] == "500"


async def test_sign_ins_are_limited_by_address(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"auth_per_minute": 2}}) as world:
        body = {"email": "nobody@example.com", "password": "x", "abilities": ["*"]}
        for status in (401, 401, 429):
            answer = await world.call("POST", "/api/auth/token", body, token="", company="", status=status)
        assert int(answer.headers["Retry-After"]) == 60
        await world.call("GET", LIST)


@pytest.mark.parametrize(
    ("token", "company"), [("wrong", None), (None, "999")], ids=["without a token", "without access"]
)
async def test_what_is_refused_uses_up_the_address_and_not_the_company(
    tmp_path: Path, token: str | None, company: str | None
) -> None:
    limits = {"limits": {"data_per_minute": 2, "refused_per_minute": 3}}
    async with open_world(tmp_path / "data", limits) as world:
        status = 401 if token else 422
        for expected in (status, status, status, 429, 429):
            await world.call("GET", LIST, token=token, company=company, status=expected)
        answer = await world.call("GET", LIST)
        assert answer.headers["X-RateLimit-Remaining"] == "1"


async def test_a_503_uses_up_no_address(tmp_path: Path) -> None:
    """A 503 answer does not count for the address, so clients that repeat requests until the service works are not
    locked out.
    """
    async with open_world(tmp_path / "data", {"limits": {"refused_per_minute": 1}}) as world:
        world.installation.files.path(world.company).write_bytes(b"not a database" * 1000)
        assert [(await world.send("GET", LIST)).status for _ in range(5)] == [503] * 5
        refused = [(await world.send("GET", LIST, token="wrong")).status for _ in range(2)]
        assert refused == [401, 429]


async def test_a_503_that_says_who_asks_cannot_be_told_uses_up_no_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cannot_tell(token: str | None, address: str) -> Caller:
        raise unavailable("The server cannot use its disk now.")

    async with open_world(tmp_path / "data", {"limits": {"refused_per_minute": 1}}) as world:
        with monkeypatch.context() as patch:
            patch.setattr(world.installation.access, "caller", cannot_tell)
            for _ in range(5):
                await world.call("GET", LIST, status=503)
        for status in (401, 429):
            await world.call("GET", LIST, token="wrong", status=status)


async def test_only_a_trusted_proxy_speaks_for_others(tmp_path: Path) -> None:
    body = {"email": "nobody@example.com", "password": "x", "abilities": ["*"]}

    async def statuses(folder: str, proxies: list[str], forwarded: list[str]) -> list[int]:
        settings = {"limits": {"auth_per_minute": 1}, "server": {"trusted_proxies": proxies}}
        async with open_world(tmp_path / folder, settings) as world:
            return [
                (
                    await world.send(
                        "POST", "/api/auth/token", body, token="", headers={"X-Forwarded-For": address}
                    )
                ).status
                for address in forwarded
            ]

    assert await statuses("a", [], ["203.0.113.1", "203.0.113.2"]) == [401, 429]
    assert await statuses("b", ["127.0.0.0/8"], ["203.0.113.1", "203.0.113.2"]) == [401, 401]
    assert await statuses("c", ["127.0.0.0/8"], ["1.1.1.1, 203.0.113.1", "2.2.2.2, 203.0.113.1"]) == [401, 429]
    assert await statuses("d", ["127.0.0.0/8"], ["2001:db8::1", "2001:db8::ffff", "2001:db8:0:1::1"]) == [
        401,
        429,
        401,
    ]
    assert await statuses("e", ["127.0.0.0/8"], ["nonsense", "x, nonsense"]) == [401, 429]


def test_a_flood_of_keys_gives_no_window_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_KEYS", 50)
    monkeypatch.setattr(limits, "SHARED", 4)
    limiter = Limiter()
    limiter.take("refused:192.0.2.1", 1, 0.0)
    for number in range(1000):
        with suppress(Problem):
            limiter.take(f"refused:10.0.0.{number}", 1, 1.0)
    with pytest.raises(Problem):
        limiter.take("refused:192.0.2.1", 1, 2.0)
    assert sum(map(len, limiter._kinds.values())) <= 54


def test_what_is_over_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_KEYS", 50)
    limiter = Limiter()
    for number in range(50):
        limiter.take(f"open:10.0.0.{number}", 1, 0.0)
    for number in range(50):
        limiter.take(f"open:10.0.1.{number}", 1, WINDOW + 1)
    assert len(limiter._kinds["open"]) == 50


def test_addresses_take_nothing_from_companies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_KEYS", 50)
    limiter = Limiter()
    for number in range(1000):
        with suppress(Problem):
            limiter.take(f"refused:10.0.0.{number}", 1, 0.0)
    for company in range(50):
        assert limiter.take(f"company:{company}", 2, 0.0).remaining == 1


async def test_what_is_open_counts_by_address(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"open_per_minute": 6}}) as world:
        for path in ("/api", "/api", "/openapi.json", "/api/meta", "/api/nothing", "/api/nothing"):
            assert (await world.send("GET", path, token="", company="")).status in (200, 404)
        for path in (
            "/api",
            "/openapi.json",
            "/api/nothing",
            "/api/graphql/schema",
        ):
            refused = await world.send("GET", path, token="", company="")
            assert (refused.status, refused.headers["Retry-After"]) == (429, "60"), path
        assert (await world.send("PUT", "/api", token="", company="")).status == 429
        for status in (200, 200, 200, 200, 200, 200, 429):  # with a separate window
            assert (await world.send("GET", "/api/health", token="", company="")).status == status
        assert (await world.send("GET", "/sign-in", token="", company="")).status == 200, "nor is it for the pages"
        for status in (404, 404, 404, 404, 404, 404, 429):  # missing pages have a separate window
            assert (await world.send("GET", "/nothing", token="", company="")).status == status
        await world.call("GET", "/api/articles")


async def test_a_company_has_a_limit_of_documents_of_its_own(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"graphql_per_minute": 1}}) as world:
        changes = {"graphql_per_minute": 2}
        await world.installation.platform.write(lambda tx: update_row(tx, "companies", 1, changes))
        document = {"query": "{ __typename }"}
        found = [(await world.send("POST", "/api/graphql", document)).status for _ in range(3)]
        assert found == [200, 200, 429]


async def test_each_mutation_is_a_request_of_its_company(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"limits": {"data_per_minute": 3}}) as world:
        fields = " ".join(f'm{n}: create_article(input: {{code: "A{n}", name: "A"}}) {{ id }}' for n in range(5))
        answer = await world.send("POST", "/api/graphql", {"query": f"mutation {{ {fields} }}"})
        assert [answer.body["data"][f"m{n}"] is not None for n in range(5)] == [True] * 3 + [False] * 2
        assert {error["extensions"]["code"] for error in answer.body["errors"]} == {"RATE_LIMIT_EXCEEDED"}
        assert all(error["extensions"]["retry_after"] == 60 for error in answer.body["errors"])
        await world.call("GET", LIST, status=429)
