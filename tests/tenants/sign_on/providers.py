"""An OpenID provider on loopback that behaves honestly or in a hostile way as the test wants, and the browser's
path through it.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import jwt
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import UNLIMITED, World, open_world

CLIENT = "wmsd at home"
SECRET = "s+cr/t: %"
SUBJECT = "subject-1"
CODE = "code-1"
ANA = {"email": "ana@example.com", "email_verified": True, "name": "Ana"}
LOOPBACK = {"allow_networks": ["127.0.0.1/32"], "allow_ports": ["1-65535"], "allow_http": True}


@cache
def key(algorithm: str, number: int = 1) -> Any:
    """Return a private key for the algorithm; `number` selects one of several keys."""
    curves: dict[str, Callable[[], ec.EllipticCurve]] = {
        "ES256": ec.SECP256R1,
        "ES384": ec.SECP384R1,
        "ES512": ec.SECP521R1,
    }
    if algorithm in curves:
        return ec.generate_private_key(curves[algorithm]())
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public(algorithm: str, number: int = 1, **more: object) -> dict[str, Any]:
    """Return the JWK of the public key, with the members `more` added."""
    found = jwt.get_algorithm_by_name(algorithm).to_jwk(key(algorithm, number).public_key())
    return {**json.loads(found), "kid": f"{algorithm}-{number}", **more}


def unsigned(claims: dict[str, Any], algorithm: str = "none") -> str:
    return f"{_part({'alg': algorithm, 'kid': 'ES256-1'})}.{_part(claims)}."


def signed_with_public_key(claims: dict[str, Any], form: str) -> str:
    """Sign the claims by HS256 with the provider's public key as the secret, which everybody knows."""
    spoken = f"{_part({'alg': 'HS256', 'kid': 'ES256-1', 'typ': 'JWT'})}.{_part(claims)}"
    if form == "pem":
        known = (
            key("ES256")
            .public_key()
            .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        )
    else:
        known = json.dumps(public("ES256")).encode()
    return f"{spoken}.{_base64(hmac.new(known, spoken.encode(), hashlib.sha256).digest())}"


def _part(value: object) -> str:
    return _base64(json.dumps(value).encode())


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


Answering = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Provider:
    """An OpenID provider that a test can change while it is running. An entry of `answers` replaces the reply at
    its path.
    """

    now: Callable[[], datetime]
    name: str = "company"
    port: int = 0
    keys: list[dict[str, Any]] = field(default_factory=lambda: [public("ES256")])
    metadata: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=lambda: dict(ANA))
    more: dict[str, Any] = field(default_factory=dict)
    """The claims that only the userinfo endpoint returns."""
    head: dict[str, Any] = field(default_factory=lambda: {"kid": "ES256-1"})
    signs_with: tuple[str, int] = ("ES256", 1)
    token: Callable[[dict[str, Any]], str] | None = None
    """A function that creates the ID token, instead of an honest token."""
    answers: dict[str, Answering] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """The paths of the requests so far."""
    begun: dict[str, str] = field(default_factory=dict)
    """The query parameters of the latest redirect of the browser to the provider."""

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}/realm"

    def settings(self, **more: object) -> dict[str, Any]:
        own = {"name": self.name, "issuer": self.issuer, "client_id": CLIENT, "client_secret": SECRET}
        return {**own, **more}

    def id_token(self) -> str:
        now = int(self.now().timestamp())
        claims = {
            "iss": self.issuer,
            "sub": SUBJECT,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": self.begun.get("nonce", ""),
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        if self.token is not None:
            return self.token(claims)
        algorithm, number = self.signs_with
        return jwt.encode(claims, key(algorithm, number), algorithm, headers=self.head)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        path = request.path.removeprefix("/realm")
        self.asked.append(path)
        if path in self.answers:
            return await self.answers[path](request)
        match path:
            case "/.well-known/openid-configuration":
                return web.json_response(self._metadata())
            case "/jwks":
                return web.json_response({"keys": self.keys})
            case "/token":
                return await self._tokens(request)
            case "/userinfo" if request.headers.get("Authorization") == "Bearer access-1":
                return web.json_response({"sub": SUBJECT, **self.more})
        return web.Response(status=404)

    def _metadata(self) -> dict[str, Any]:
        own = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize?tenant=1",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "authorization_response_iss_parameter_supported": True,
        }
        return {name: value for name, value in {**own, **self.metadata}.items() if value is not None}

    async def _tokens(self, request: web.Request) -> web.Response:
        """Reply as RFC 6749 and RFC 7636 demand: the client must be known, and must be the one that started the
        sign-on.
        """
        sent = dict(parse_qsl(await request.text(), keep_blank_values=True))
        known = base64.b64encode(b"wmsd%20at%20home:s%2Bcr%2Ft%3A%20%25").decode()
        is_client = request.headers.get("Authorization") == f"Basic {known}" or (
            (sent.get("client_id"), sent.get("client_secret")) == (CLIENT, SECRET)
        )
        challenge = _base64(hashlib.sha256(sent.get("code_verifier", "").encode()).digest())
        is_same = (sent.get("redirect_uri"), challenge) == (
            self.begun.get("redirect_uri"),
            self.begun.get("code_challenge"),
        )
        if (
            not is_client
            or not is_same
            or (sent.get("grant_type"), sent.get("code")) != ("authorization_code", CODE)
        ):
            return web.json_response({"error": "invalid_grant"}, status=400)
        return web.json_response({"access_token": "access-1", "token_type": "Bearer", "id_token": self.id_token()})

    async def begin(self, visitor: Visitor, next_path: str = "") -> Seen:
        """Press the button of the provider in the browser, which is then redirected to the provider."""
        seen = await visitor.get(f"/sign-in/{self.name}{f'?next={next_path}' if next_path else ''}")
        query = parse_qs(urlsplit(seen.goes_to).query)
        self.begun = {name: value for name, [value] in query.items()}
        return seen

    async def come_back(self, visitor: Visitor, **changed: str | None) -> Seen:
        """Return from the provider with its parameters; a value of None in `changed` omits the parameter."""
        sent = {"code": CODE, "state": self.begun.get("state", ""), "iss": self.issuer, **changed}
        query = urlencode({name: value for name, value in sent.items() if value is not None})
        return await visitor.get(f"/sign-in/{self.name}/back?{query}", {"Sec-Fetch-Site": "cross-site"})

    async def sign_on(self, visitor: Visitor, next_path: str = "", **changed: str | None) -> Seen:
        begun = await self.begin(visitor, next_path)
        assert begun.status == 303, begun.text
        return await self.come_back(visitor, **changed)


@asynccontextmanager
async def running(provider: Provider) -> AsyncIterator[Provider]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", provider.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    provider.port = runner.addresses[0][1]
    try:
        yield provider
    finally:
        await runner.cleanup()


@dataclass
class Scene:
    """An installation with a provider, and a browser."""

    world: World
    provider: Provider
    visitor: Visitor

    async def audit(self) -> list[tuple[str, str]]:
        def read(tx: Any) -> list[tuple[str, str]]:
            return [
                (action, subject) for action, subject in tx.rows("SELECT action, subject FROM audit ORDER BY id")
            ]

        return await self.world.installation.platform.read(read)


@asynccontextmanager
async def open_scene(
    folder: Path,
    configured: dict[str, Any] | None = None,
    others: tuple[Provider, ...] = (),
    auth_per_minute: int = 10**9,
    server: dict[str, Any] | None = None,
    **sign_on: Any,
) -> AsyncIterator[Scene]:
    """Open an installation with a provider. `configured` holds settings of the provider, `sign_on` settings of the
    section.
    """
    moment: list[Callable[[], datetime]] = []
    async with AsyncExitStack() as stack:
        provider = await stack.enter_async_context(running(Provider(lambda: moment[0]())))
        for other in others:
            await stack.enter_async_context(running(other))
        section = {
            **LOOPBACK,
            "providers": [provider.settings(**(configured or {})), *(other.settings() for other in others)],
            **sign_on,
        }
        limits = {"limits": {**UNLIMITED["limits"], "auth_per_minute": auth_per_minute}}
        world = await stack.enter_async_context(
            open_world(folder, {**limits, "sign_on": section, "server": server or {}})
        )
        moment.append(world.clock.now)
        yield Scene(world, provider, Visitor(world))


def nobody_came_in(scene: Scene, seen: Seen, status: int = 401) -> None:
    assert (seen.status, seen.heading) == (status, "You are not signed in"), seen.text
    assert scene.visitor.cookies == {}, "nothing is kept of a sign-on that has ended"
