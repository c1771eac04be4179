"""People sign in through a real OpenID provider (npm's oidc-provider), with the provider's own forms and rules."""

import asyncio
import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin

import aiohttp
import pytest

from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.programs import packages, program
from tests.support.world import UNLIMITED, World, open_world
from wmsd.tenants.accounts import store

FOLDER: Final = Path(__file__).parent / "openid_provider"
HOST: Final = {"Host": "wms.test"}
BACK_TO: Final = "http://wms.test/sign-in/real/back"
PATIENCE: Final = 30
MOST_STEPS: Final = 12
FORM: Final = re.compile(r'<form[^>]* action="([^"]+)" method="post">(.*?)</form>', re.DOTALL)
HIDDEN: Final = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
RULES: Final = [{"claim": "groups", "value": "of-ana", "companies": ["ACME"], "role": "company-admin"}]


@asynccontextmanager
async def running(algorithm: str) -> AsyncIterator[str]:
    """Run the provider, and yield its issuer."""
    packages(FOLDER)
    provider = await asyncio.create_subprocess_exec(
        program("node"),
        FOLDER / "provider.mjs",
        BACK_TO,
        algorithm,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert provider.stdout is not None
        async for line in provider.stdout:
            if line.startswith(b"http"):
                yield line.decode().strip()
                break
    finally:
        provider.kill()
        await provider.wait()


@asynccontextmanager
async def opened(folder: Path, algorithm: str, **configured: object) -> AsyncIterator[World]:
    """Open an installation with the provider `real`."""
    async with running(algorithm) as issuer:
        provider = {
            "name": "real",
            "title": "The real one",
            "issuer": issuer,
            "client_id": "wmsd",
            "client_secret": "a secret / of + the client",
            **configured,
        }
        section: dict[str, Any] = {
            "allow_networks": ["127.0.0.1/32"],
            "allow_ports": ["1-65535"],
            "allow_http": True,
            "providers": [provider],
        }
        async with open_world(folder, {**UNLIMITED, "sign_on": section}) as world:
            world.clock.wall = datetime.now(UTC)
            yield world


async def signed_on(world: World, who: str) -> tuple[Visitor, Seen]:
    """Sign on completely, as a browser does."""
    visitor = Visitor(world)
    back = await at_provider(await begun(visitor), who)
    return visitor, await come_back(visitor, back)


async def begun(visitor: Visitor) -> str:
    """Start the sign-on, and return the address of the redirect."""
    seen = await visitor.get("/sign-in/real", HOST)
    assert seen.status == 303, seen.text
    return seen.goes_to


async def come_back(visitor: Visitor, back: str) -> Seen:
    return await visitor.get(back.removeprefix("http://wms.test"), HOST)


async def at_provider(url: str, who: str) -> str:
    """Sign in at the provider and consent. Return the address to which the provider finally redirects the
    browser.
    """
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as browser, asyncio.timeout(PATIENCE):
        method, fields = "GET", None
        for _ in range(MOST_STEPS):
            if url.startswith(BACK_TO):
                return url
            async with browser.request(method, url, data=fields, allow_redirects=False) as answer:
                text = await answer.text()
                assert answer.status < 400, text
                if "Location" in answer.headers:
                    method, url, fields = "GET", urljoin(url, answer.headers["Location"]), None
                    continue
                found = FORM.search(text)
                assert found, text
                method, url = "POST", urljoin(url, html.unescape(found[1]))
                fields = {**dict(HIDDEN.findall(found[2])), "login": who, "password": "any"}
    raise AssertionError(f"the provider leads from place to place, last to {url}")


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
async def test_the_whole_way(tmp_path: Path, algorithm: str) -> None:
    async with opened(tmp_path / "data", algorithm) as world:
        await world.new_user("ana@example.com", "member", ["ACME"])
        visitor, seen = await signed_on(world, "ana")
        assert (seen.status, seen.goes_to) == (303, "/today"), seen.text
        account = await visitor.get("/account")
        assert (account.status, account.heading) == (200, "ana@example.com")


async def test_new_users_get_what_their_groups_give(tmp_path: Path) -> None:
    """The groups are in the ID token, and the e-mail address comes from userinfo."""
    async with opened(tmp_path / "data", "ES256", create_users=True, rules=RULES) as world:
        visitor, seen = await signed_on(world, "ana")
        assert seen.status == 303, seen.text
        user = await world.installation.platform.read(lambda tx: store.user_by_email(tx, "ana@example.com"))
        assert user is not None
        assert (user.name, user.role) == ("Name of ana", "company-admin")
        assert user.company_ids == {world.company}
        assert (await visitor.get("/today")).status == 200
        for who, says in (("ion", "no rule matches this account"), ("unverified", "is verified")):
            other, refused = await signed_on(world, who)
            assert (refused.status, says in refused.text) == (403, True), refused.text
            assert other.secret is None


async def test_a_code_is_good_once_and_for_who_began(tmp_path: Path) -> None:
    async with opened(tmp_path / "data", "ES256") as world:
        await world.new_user("ana@example.com", "member", ["ACME"])
        victim, attacker = Visitor(world), Visitor(world)
        back = await at_provider(await begun(victim), "ana")
        stolen = re.search(r"code=([^&]+)", back)
        own = await at_provider(await begun(attacker), "ion")
        assert stolen
        injected = re.sub(r"code=[^&]+", f"code={stolen[1]}", own)
        assert (await come_back(attacker, injected)).status == 503, "PKCE binds it"
        assert attacker.secret is None
