"""Access to the kernel interface."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.support.raw_http import Caller
from tests.support.world import KERNEL, Answer, World, open_world
from wmsd.contract.route import Route
from wmsd.db.engine.sqlite import connect
from wmsd.interfaces.kernel.routes import ROUTES
from wmsd.interfaces.rest_v1.routes import ROUTES as V1
from wmsd.interfaces.rest_v2.routes import ROUTES as V2
from wmsd.tenants.accounts import kernel_tokens

A_DAY = 24 * 3600


def path_of(route: Route) -> str:
    path = route.path
    for name, value in {"module": "stock", "code": "A", "id": "1", "delivery": "1"}.items():
        path = path.replace(f"{{{name}}}", value)
    return path


def name_of(route: Route) -> str:
    return f"{route.method} {route.path}"


async def rotated(world: World, at_once: bool = False) -> str:
    made = await world.installation.platform.write(lambda tx: kernel_tokens.rotate(tx, at_once))
    return made.token


async def nothing(world: World) -> str:
    return ""


async def an_admins(world: World) -> str:
    return world.token


async def a_wrong_one(world: World) -> str:
    return f"{kernel_tokens.PREFIX}{'x' * 43}"


async def one_that_goes_on(world: World) -> str:
    return f"{world.kernel_token}x"


async def one_cut_short(world: World) -> str:
    return world.kernel_token[:-1]


async def one_in_capitals(world: World) -> str:
    return world.kernel_token.upper()


async def its_hash(world: World) -> str:
    digest: str = await world.installation.platform.read(lambda tx: tx.value("SELECT hash FROM kernel_tokens"))
    return digest


async def one_revoked(world: World) -> str:
    await world.installation.platform.write(lambda tx: kernel_tokens.revoke(tx, 1))
    return world.kernel_token


async def the_old_one_a_day_after(world: World) -> str:
    await rotated(world)
    world.clock.advance(A_DAY)
    return world.kernel_token


async def the_old_one_rotated_at_once(world: World) -> str:
    await rotated(world, at_once=True)
    return world.kernel_token


async def the_right_one(world: World) -> str:
    return world.kernel_token


async def the_old_one_within_a_day(world: World) -> str:
    await rotated(world)
    world.clock.advance(A_DAY - 1)
    return world.kernel_token


async def the_new_one(world: World) -> str:
    return await rotated(world)


async def the_new_one_after_a_revoked(world: World) -> str:
    await one_revoked(world)
    return (await world.installation.platform.write(kernel_tokens.create)).token


Bearer = Callable[[World], Awaitable[str]]
REFUSED: tuple[Bearer, ...] = (
    *(nothing, an_admins, a_wrong_one, one_that_goes_on, one_cut_short, one_in_capitals, its_hash, one_revoked),
    *(the_old_one_a_day_after, the_old_one_rotated_at_once),
)
ADMITTED: tuple[Bearer, ...] = (
    *(the_right_one, the_old_one_within_a_day, the_new_one, the_new_one_after_a_revoked),
)


async def ask(world: World, route: Route, token: str) -> Answer:
    return await world.send(
        route.method, path_of(route), {"enabled": False} if route.operation.body else None, token=token
    )


@pytest.mark.parametrize("bearer", REFUSED, ids=lambda bearer: bearer.__name__)
async def test_all_others_are_401_everywhere_and_change_nothing(kernel: World, bearer: Bearer) -> None:
    token = await bearer(kernel)
    for route in ROUTES:
        answer = await ask(kernel, route, token)
        assert (answer.status, answer.body["code"]) == (401, "UNAUTHORIZED"), name_of(route)
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        assert answer.headers["X-Request-Id"]
    await kernel.call("GET", "/api/stock")


@pytest.mark.parametrize("bearer", ADMITTED, ids=lambda bearer: bearer.__name__)
async def test_who_holds_the_token_is_let_in_everywhere(kernel: World, bearer: Bearer) -> None:
    token = await bearer(kernel)
    for route in ROUTES:
        assert (await ask(kernel, route, token)).status == 200, name_of(route)


async def test_without_any_platform_token_nobody_is_let_in(world: World) -> None:
    for token in ("", world.token, kernel_tokens.PREFIX, "x"):
        for route in ROUTES:
            assert (await ask(world, route, token)).status == 401


@pytest.mark.parametrize("route", [r for r in (*V1, *V2) if r.operation.signed_in], ids=name_of)
async def test_it_opens_nothing_else(kernel: World, route: Route) -> None:
    answer = await ask(kernel, route, kernel.kernel_token)
    assert (answer.status, answer.body["code"]) == (401, "UNAUTHORIZED")


async def test_it_names_no_company_where_a_token_may(kernel: World) -> None:
    await kernel.call("GET", "/api/v2/meta", token=kernel.kernel_token, status=401)


@pytest.mark.parametrize("token", [b"\xff\xfe", b"wmsdk_\xe9", b"\xc3\xa9"])
async def test_bytes_that_are_no_text_are_401(kernel: World, token: bytes) -> None:
    caller: Caller = kernel.caller
    head = b"GET /api/kernel/v1/stats HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + b"\r\n\r\n"
    async with caller.connections(1) as (connection,):
        await connection.send(head)
        assert await connection.begin_to_read() == 401


async def test_a_token_in_the_address_is_not_looked_at(kernel: World) -> None:
    await kernel.call("GET", f"{KERNEL}stats?token={kernel.kernel_token}", token="", status=401)


async def test_only_the_hash_is_kept(kernel: World) -> None:
    await rotated(kernel)
    rows = await kernel.installation.platform.read(
        lambda tx: tx.rows("SELECT hash, expires_at FROM kernel_tokens")
    )
    assert [len(digest) for digest, _ in rows] == [64, 64]
    file = kernel.installation.folder.platform_file
    for each in (file, file.with_name(f"{file.name}-wal")):
        assert kernel.kernel_token.encode() not in each.read_bytes()


async def test_what_is_refused_uses_up_the_address(tmp_path: Path) -> None:
    limits = {"limits": {"data_per_minute": 2, "refused_per_minute": 3}}
    async with open_world(tmp_path / "data", limits) as world:
        await world.open_kernel()
        for status in (401, 401, 401, 429, 429):
            answer = await world.call("GET", f"{KERNEL}stats", token="wrong", status=status)
        assert int(answer.headers["Retry-After"]) == 60
        for _ in range(5):  # more than a company may send
            assert "X-RateLimit-Limit" not in (await world.call("GET", f"{KERNEL}stats")).headers
        assert (await world.call("GET", "/api/articles")).headers["X-RateLimit-Remaining"] == "1"


async def test_a_token_that_was_replaced_holds_for_a_day_and_not_a_moment_longer(kernel: World) -> None:
    """Nothing is written in the meantime, so the data of the token stay in memory."""
    await rotated(kernel)
    for wait, status in ((0, 200), (A_DAY - 1, 200), (0.999, 200), (0.001, 401), (A_DAY, 401)):
        kernel.clock.advance(wait)
        await kernel.call("GET", f"{KERNEL}stats", status=status)


async def test_headers_about_companies_do_nothing(kernel: World) -> None:
    headers = {"X-Three-Pl-Id": "99", "Idempotency-Key": " ", "If-Match": '"x"'}
    for company in ("", "999", "x"):
        for route in ROUTES:
            body = {"enabled": True} if route.operation.body else None
            await kernel.call(route.method, path_of(route), body, company=company, headers=headers)


async def test_what_another_process_changes_is_noticed(kernel: World) -> None:
    await kernel.call("GET", f"{KERNEL}stats")
    await kernel.installation.access.forget_if_changed()
    other = connect(kernel.installation.folder.platform_file)
    other.execute("UPDATE kernel_tokens SET revoked_at = '2026'")
    other.close()
    await kernel.installation.access.forget_if_changed()
    await kernel.call("GET", f"{KERNEL}stats", status=401)
