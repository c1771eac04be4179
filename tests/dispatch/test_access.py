"""Tests of authentication and tenancy: who may do what in which company, and which changes take effect
immediately.
"""

from datetime import timedelta

import jwt
import pytest

from tests.support.world import PASSWORD, World
from wmsd.contract.access import ABILITIES
from wmsd.db.engine.sqlite import sqlite3
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.accounts import actions as accounts
from wmsd.tenants.accounts import token_store
from wmsd.tenants.keys import bearers

LIST = "/api/articles"


async def sign_in(world: World, status: int = 200, **changes: object) -> dict[str, object]:
    body = {"email": "admin@example.com", "password": PASSWORD, "abilities": ["*"], "device_name": "scanner"}
    answer = await world.call("POST", "/api/auth/token", {**body, **changes}, token="", company="", status=status)
    found: dict[str, object] = answer.body
    return found


async def test_a_token_for_a_password(world: World) -> None:
    issued = await sign_in(world, abilities=["articles:read", "articles:read"])
    assert issued["abilities"] == ["articles:read"]
    token = str(issued["token"])
    await world.call("GET", LIST, token=token)
    await world.call("POST", LIST, {"code": "A", "name": "A"}, token=token, status=403)
    shown = (await world.call("GET", "/api/user", token=token, company="")).body
    assert (shown["email"], shown["role"], shown["token"]["name"]) == (
        "admin@example.com",
        "platform-admin",
        "scanner",
    )
    assert shown["token"]["expires_at"] == "2027-02-18T12:00:00.000Z"


async def test_e_mail_addresses_are_compared_without_case(world: World) -> None:
    await sign_in(world, email="Admin@Example.com")


async def test_an_unknown_user_and_a_wrong_password_read_the_same(world: World) -> None:
    wrong = await sign_in(world, 401, password="wrong")
    unknown = await sign_in(world, 401, email="nobody@example.com")
    assert wrong == unknown


async def test_abilities_outside_the_whitelist_are_422_and_beyond_the_user_403(world: World) -> None:
    refused = await sign_in(world, 422, abilities=["articles:read", "articles:eat", "returns:write"])
    assert refused["errors"] == {
        "abilities.1": ["is not an ability of this platform; the nearest is articles:read"],
        "abilities.2": ["is not needed here and cannot be granted: use returns:read instead"],
    }
    await world.new_user("member@example.com", "member", ["ACME"], ["articles:read"])
    await sign_in(world, 403, email="member@example.com", abilities=["articles:write"])
    await sign_in(world, 403, email="member@example.com", abilities=["*"])
    await sign_in(world, email="member@example.com", abilities=["articles:read"])


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer x", "Basic YTpi", "Bearer a.b.c", "Bearer " + "x" * 7000, "Bearer \xe9"],
)
async def test_no_token_or_a_wrong_one_is_401(world: World, header: str) -> None:
    headers = {"Authorization": header} if header else {}
    answer = await world.call("GET", LIST, token="", headers=headers, status=401)
    assert answer.body["code"] == "UNAUTHORIZED"
    assert answer.headers["WWW-Authenticate"] == "Bearer"


async def test_a_token_in_the_url_is_not_looked_at(world: World) -> None:
    await world.call("GET", f"{LIST}?token={world.token}", token="", status=401)
    await world.call("GET", f"{LIST}?access_token={world.token}", token="", status=401)


async def test_forged_tokens_are_401(world: World) -> None:
    claims = jwt.decode(world.token, options={"verify_signature": False})
    header = {"kid": jwt.get_unverified_header(world.token)["kid"]}
    unsigned = jwt.encode(claims, "", algorithm="none", headers=header)
    guessed = jwt.encode(claims, "secret" * 8, algorithm="HS256", headers=header)
    other_algorithm = jwt.encode(claims, "secret" * 12, algorithm="HS512", headers=header)
    for forged in (unsigned, guessed, other_algorithm, world.token[:-4] + "AAAA", world.token + "."):
        await world.call("GET", LIST, token=forged, status=401)


BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


async def test_a_token_is_accepted_in_one_spelling_only(world: World) -> None:
    header, claims, signature = world.token.split(".")
    unused_bit_set = (
        signature[:-1] + BASE64URL[BASE64URL.index(signature[-1]) + 1]
    )  # the last two bits have no meaning
    for other in (
        f"{world.token}=",
        f"{world.token}==",
        f"{header}=.{claims}.{signature}",
        f"{header}.{claims}=.{signature}",
        f"{header}.{claims}.{unused_bit_set}",
        f"{header}.{claims}.{signature[:9]}!{signature[9:]}",
        f"{header}.{claims}.{signature[:9]}%0A{signature[9:]}",
    ):
        await world.call("GET", LIST, token=other, status=401)
    await world.call("GET", LIST)


async def test_a_sign_in_is_small(world: World) -> None:
    body = {"email": "admin@example.com", "password": PASSWORD, "abilities": ["*"]}
    long = {**body, "device_name": "x" * 17_000}
    await world.call("POST", "/api/auth/token", long, token="", company="", status=413)
    await world.call("POST", "/api/auth/token", body, token="", company="")


async def test_a_token_ends(world: World) -> None:
    token = await world.new_token("admin@example.com", lifetime=timedelta(hours=1))
    await world.call("GET", LIST, token=token)
    world.clock.advance(3599)
    await world.call("GET", LIST, token=token)
    world.clock.advance(1)
    await world.call("GET", LIST, token=token, status=401)


async def test_a_token_that_was_not_used_before_ends_at_the_same_moment(world: World) -> None:
    token = await world.new_token("admin@example.com", lifetime=timedelta(hours=1))
    world.clock.advance(3600)
    await world.call("GET", LIST, token=token, status=401)


async def test_a_token_is_swept_when_it_has_ended_and_not_before(world: World) -> None:
    await world.new_token("admin@example.com", lifetime=timedelta(hours=1))
    swept = []
    for wait in (3599.999, 0.001, 1):
        world.clock.advance(wait)
        swept.append(await world.installation.platform.write(token_store.sweep_expired_tokens))
    assert swept == [0, 1, 0]


async def test_a_revoked_token_is_refused_from_the_next_request_on(world: World) -> None:
    token = str((await sign_in(world))["token"])
    await world.call("GET", LIST, token=token)
    await world.call("POST", "/api/auth/revoke", token=token, company="")
    await world.call("GET", LIST, token=token, status=401)
    await world.call("POST", "/api/auth/revoke", token=token, company="", status=401)
    await world.call("GET", LIST)


async def test_a_disabled_user_is_out_at_once(world: World) -> None:
    await world.new_user("member@example.com", "member", ["ACME"])
    token = await world.new_token("member@example.com", ["articles:read"])
    await world.call("GET", LIST, token=token)
    await world.installation.platform.write(lambda tx: accounts.disable_user(tx, "member@example.com"))
    await world.call("GET", LIST, token=token, status=401)
    await sign_in(world, 401, email="member@example.com", abilities=["articles:read"])


async def test_a_token_is_cut_to_what_its_user_may_do_now(world: World) -> None:
    await world.new_user("boss@example.com", "company-admin", ["ACME"])
    token = await world.new_token("boss@example.com")
    await world.call("POST", LIST, {"code": "A", "name": "A"}, token=token, status=201, events=["article.created"])
    await world.installation.platform.write(
        lambda tx: tx.execute("UPDATE users SET role = 'member', abilities = '[\"articles:read\"]'")
    )
    await world.call("GET", LIST, token=token)
    await world.call("POST", LIST, {"code": "B", "name": "B"}, token=token, status=403)


async def test_signing_keys_rotate_with_two_accepted(world: World) -> None:
    first = world.token
    await world.installation.platform.write(accounts.rotate_signing_key)
    second = await world.new_token("admin@example.com")
    await world.call("GET", LIST, token=first)
    await world.call("GET", LIST, token=second)
    await world.installation.platform.write(accounts.rotate_signing_key)
    await world.call("GET", LIST, token=first, status=401)
    await world.call("GET", LIST, token=second)


@pytest.mark.parametrize("company", ["", "0", "x", "1.0", "-1", "999", "9" * 100, "1,2", "٣"])
async def test_a_company_that_is_missing_or_wrong_is_422(world: World, company: str) -> None:
    answer = await world.call("GET", LIST, company="" if company == "٣" else company, status=422)
    assert answer.body["code"] == "COMPANY_REQUIRED"


async def test_a_company_of_others_reads_like_one_that_is_not(world: World) -> None:
    other = await world.new_company("OTHER")
    await world.new_user("boss@example.com", "company-admin", ["ACME"])
    token = await world.new_token("boss@example.com")
    forbidden = await world.call("GET", LIST, token=token, company=other, status=422)
    unknown = await world.call("GET", LIST, token=token, company=999, status=422)
    assert forbidden.raw == unknown.raw
    listed = (await world.call("GET", "/api/companies", token=token, company="")).body
    assert listed == {"data": [{"id": 1, "name": "Company ACME", "code": "ACME"}]}


async def test_a_token_can_be_for_some_companies(world: World) -> None:
    other = await world.new_company("OTHER")
    token = await world.new_token("admin@example.com", codes=["OTHER"])
    await world.call("GET", LIST, token=token, company=other)
    await world.call("GET", LIST, token=token, status=422)
    both = (await world.call("GET", "/api/companies", company="")).body["data"]
    assert [company["code"] for company in both] == ["ACME", "OTHER"]


async def test_a_token_for_one_of_its_users_companies_opens_no_other(world: World) -> None:
    other, third = await world.new_company("OTHER"), await world.new_company("THIRD")
    await world.new_user("boss@example.com", "company-admin", ["ACME", "OTHER"])
    token = await world.new_token("boss@example.com", codes=["OTHER"])
    await world.call("GET", LIST, token=token, company=other)
    for company in (world.company, third):
        answer = await world.call("GET", LIST, token=token, company=company, status=422)
        assert answer.body["code"] == "COMPANY_REQUIRED"
    listed = (await world.call("GET", "/api/companies", token=token, company="")).body["data"]
    assert [company["code"] for company in listed] == ["OTHER"]


async def test_a_token_keeps_no_company_that_its_user_has_lost(world: World) -> None:
    other = await world.new_company("OTHER")
    await world.new_user("boss@example.com", "company-admin", ["ACME", "OTHER"])
    token = await world.new_token("boss@example.com", codes=["OTHER"])
    await world.call("GET", LIST, token=token, company=other)
    await world.installation.platform.write(
        lambda tx: tx.execute("DELETE FROM user_companies WHERE company_id = ?", (other,))
    )
    for company in (world.company, other):
        await world.call("GET", LIST, token=token, company=company, status=422)


@pytest.mark.parametrize("module", ["articles", "api"])
async def test_a_module_that_is_off_is_403_at_once(world: World, module: str) -> None:
    await world.set_module("ACME", module, False)
    answer = await world.call("GET", LIST, status=403)
    assert module in answer.body["message"]
    await world.set_module("ACME", module, True)
    await world.call("GET", LIST)


@pytest.mark.parametrize(
    ("method", "path", "ability"),
    [
        ("GET", "/api/articles", "articles:read"),
        ("GET", "/api/articles/sync", "articles:read"),
        ("POST", "/api/articles", "articles:write"),
        ("GET", "/api/stock", "stock:read"),
        ("GET", "/api/v2/stock", "stock:read"),
        ("GET", "/api/v2/articles", "articles:read"),
        ("GET", "/api/clients", "clients:read"),
        ("GET", "/api/partners", "partners:read"),
        ("GET", "/api/warehouses", "warehouses:read"),
    ],
)
async def test_each_endpoint_needs_its_ability_and_no_other(
    world: World, method: str, path: str, ability: str
) -> None:
    body: dict[str, object] | None = {} if method == "POST" else None
    alone = await world.new_token("admin@example.com", [ability])
    rest = await world.new_token("admin@example.com", [name for name in ABILITIES if name != ability])
    assert (await world.send(method, path, body, token=alone)).status in (200, 422)
    assert (await world.call(method, path, body, token=rest, status=403)).body["code"] == "FORBIDDEN"


async def test_operators(world: World) -> None:
    operator = await world.new_operator("3PL")
    other = await world.new_operator("4PL")
    theirs = await world.new_company("THEIRS", operator="3PL")
    await world.call("GET", LIST, company=theirs, headers={"X-Three-Pl-Id": str(operator)})
    await world.call("GET", LIST, company=theirs, headers={"X-Three-Pl-Id": str(other)}, status=403)
    await world.call("GET", LIST, company=theirs, headers={"X-Three-Pl-Id": "x"}, status=403)
    await world.call("GET", LIST, headers={"X-Three-Pl-Id": str(operator)}, status=403)
    narrowed = await world.call("GET", "/api/companies", headers={"X-Three-Pl-Id": str(operator)})
    assert [company["code"] for company in narrowed.body["data"]] == ["THEIRS"]
    await world.call("GET", "/api/companies", headers={"X-Three-Pl-Id": str(other)}, status=403)


async def test_open_without_a_token(world: World) -> None:
    for path in ("/api", "/api/health", "/openapi.json", "/api/v2/openapi.json", "/api/v2/meta"):
        await world.call("GET", path, token="", company="")
    await world.call("GET", "/api/health?whatever=1", token="", company="")
    await world.call("GET", "/api?whatever=1", token="", company="")


async def test_meta_shows_a_companys_modules_to_its_token_only(world: World) -> None:
    await world.set_module("ACME", "returns", False)
    assert (await world.call("GET", "/api/v2/meta", token="")).body["features"] is None
    features = (await world.call("GET", "/api/v2/meta")).body["features"]
    assert (features["articles"], features["returns"]) == (True, False)
    await world.call("GET", "/api/v2/meta", token="wrong", status=401)


async def test_token_use_is_noted_once_a_minute_from_memory(world: World) -> None:
    async def last_used() -> object:
        return await world.installation.platform.read(lambda tx: tx.value("SELECT max(last_used_at) FROM tokens"))

    await world.call("GET", LIST)
    assert await last_used() is None
    await world.installation.access.write_token_uses()
    assert await last_used() == "2026-11-20T12:00:00.000Z"


async def test_a_use_that_could_not_be_written_down_is_written_later(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(tx: Transaction, table: str, used_at: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    await world.call("GET", "/api/user", company="")
    with monkeypatch.context() as patch:
        patch.setattr(bearers, "note_uses", full)
        with pytest.raises(sqlite3.OperationalError):
            await world.installation.access.write_token_uses()
    await world.installation.access.write_token_uses()
    used = await world.installation.platform.read(lambda tx: tx.value("SELECT max(last_used_at) FROM tokens"))
    assert used == "2026-11-20T12:00:00.000Z"
