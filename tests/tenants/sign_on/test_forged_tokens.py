"""Forged ID tokens, and keys that cannot verify tokens: nobody can sign in."""

from collections.abc import Callable
from typing import Any

import jwt
import pytest

from tests.interfaces.pages.visitor import Visitor
from tests.tenants.sign_on.providers import Scene, key, nobody_came_in, public, signed_with_public_key, unsigned

Claims = dict[str, Any]


@pytest.mark.parametrize(
    ("forge", "says"),
    [
        (unsigned, "is signed with an algorithm that wmsd does not accept"),
        (lambda claims: unsigned(claims, "NONE"), "is signed with an algorithm that wmsd does not accept"),
        (lambda claims: unsigned(claims, "ES256"), "has no valid signature"),
        (
            lambda claims: signed_with_public_key(claims, "pem"),
            "is signed with an algorithm that wmsd does not accept",
        ),
        (
            lambda claims: signed_with_public_key(claims, "jwk"),
            "is signed with an algorithm that wmsd does not accept",
        ),
        (
            lambda claims: jwt.encode(claims, key("ES256", 2), "ES256", {"kid": "ES256-1"}),
            "has no valid signature",
        ),
        (
            lambda claims: jwt.encode(claims, key("ES256"), "ES256", {"kid": "x"}),
            "that the provider does not publish",
        ),
        (lambda claims: jwt.encode(claims, key("RS256"), "RS256", {"kid": "ES256-1"}), "does not publish"),
        (lambda claims: _own_key(claims), "has no valid signature"),
        (
            lambda claims: jwt.encode(claims, key("ES256"), "ES256", {"kid": "ES256-1", "crit": ["x"]}),
            "cannot be read",
        ),
        (lambda claims: "x" * 40_000, "is missing, or is longer than 32 kB"),
        (lambda claims: "a.b.c", "cannot be read"),
        (lambda claims: "", "cannot be read"),
    ],
)
async def test_a_forged_id_token(scene: Scene, forge: Callable[[Claims], str], says: str) -> None:
    scene.provider.token = forge
    seen = await scene.provider.sign_on(scene.visitor)
    nobody_came_in(scene, seen)
    assert says in seen.text
    scene.provider.token = None
    assert (await scene.provider.sign_on(scene.visitor)).status == 303


def _own_key(claims: Claims) -> str:
    """Forge a token that carries its own key; wmsd must ignore that key."""
    head = {"kid": "ES256-1", "jwk": public("ES256", 2), "jku": "http://127.0.0.1:1/keys"}
    return jwt.encode(claims, key("ES256", 2), "ES256", head)


@pytest.mark.parametrize(
    ("claims", "says"),
    [
        ({"iss": "https://evil.example"}, "is from another issuer"),
        ({"aud": "another"}, "is for another client"),
        ({"aud": ["another", "third"]}, "is for another client"),
        ({"aud": ["wmsd at home", "another"]}, "was issued for another client"),
        ({"aud": ["wmsd at home", "another"], "azp": "another"}, "was issued for another client"),
        ({"azp": "another"}, "was issued for another client"),
        ({"nonce": "of another sign-on"}, "belongs to another sign-in"),
        ({"nonce": None}, "lacks the claim nonce"),
        ({"nonce": ["x"]}, "belongs to another sign-in"),
        ({"iss": None}, "lacks the claim iss"),
        ({"aud": None}, "lacks the claim aud"),
        ({"exp": None}, "lacks the claim exp"),
        ({"iat": None}, "lacks the claim iat"),
        ({"sub": None}, "lacks the claim sub"),
        ({"sub": ""}, "has no valid subject (the claim sub)"),
        ({"sub": "ș"}, "has no valid subject (the claim sub)"),
        ({"sub": "x" * 256}, "has no valid subject (the claim sub)"),
        ({"exp": "tomorrow"}, "has a time that is not a number (exp, iat or nbf)"),
        ({"exp": True}, "has a time that is not a number (exp, iat or nbf)"),
    ],
)
async def test_an_id_token_that_says_something_else(scene: Scene, claims: Claims, says: str) -> None:
    scene.provider.claims |= claims
    seen = await scene.provider.sign_on(scene.visitor)
    nobody_came_in(scene, seen)
    assert says in seen.text


@pytest.mark.parametrize(
    ("name", "seconds", "says"),
    [
        ("exp", -60, "has expired"),
        ("exp", -59, None),
        ("iat", 61, "has a time in the future"),
        ("iat", 60, None),
        ("nbf", 61, "has a time in the future"),
        ("nbf", 60, None),
    ],
)
async def test_the_times_of_an_id_token(scene: Scene, name: str, seconds: int, says: str | None) -> None:
    """A difference of one minute between the clocks is accepted."""
    scene.provider.claims[name] = int(scene.world.clock.now().timestamp()) + seconds
    seen = await scene.provider.sign_on(scene.visitor)
    assert (seen.status, says is None or says in seen.text) == (303 if says is None else 401, True)


async def test_several_audiences_are_good_when_we_are_the_party(scene: Scene) -> None:
    scene.provider.claims |= {"aud": ["wmsd at home", "another"], "azp": "wmsd at home"}
    assert (await scene.provider.sign_on(scene.visitor)).status == 303


async def test_new_keys_are_looked_for_at_most_once_a_minute(scene: Scene) -> None:
    provider = scene.provider
    assert (await provider.sign_on(scene.visitor)).status == 303
    provider.keys = [public("ES256", 2)]
    provider.signs_with, provider.head = ("ES256", 2), {"kid": "ES256-2"}
    scene.visitor = Visitor(scene.world)
    nobody_came_in(scene, await provider.sign_on(scene.visitor))
    scene.world.clock.advance(60)
    assert (await provider.sign_on(scene.visitor)).status == 303
    assert provider.asked.count("/jwks") == 2
    provider.head = {"kid": "unknown"}
    for _ in range(5):
        assert (await provider.sign_on(Visitor(scene.world))).status == 401
    assert provider.asked.count("/jwks") == 2


async def test_keys_that_are_no_longer_published_are_not_accepted_after_an_hour(scene: Scene) -> None:
    assert (await scene.provider.sign_on(scene.visitor)).status == 303
    scene.provider.keys = [public("ES256", 2)]
    assert (await scene.provider.sign_on(scene.visitor)).status == 303
    scene.world.clock.advance(3600)
    assert (await scene.provider.sign_on(scene.visitor)).status == 401


@pytest.mark.parametrize(
    "keys",
    [
        [],
        [{"kty": "oct", "k": "AAAA", "kid": "ES256-1"}],
        [public("ES256", use="enc")],
        [public("ES256", alg="ES384")],
        [{**public("ES256"), "crv": "P-384"}],
        [{**public("ES256"), "x": "AAAA"}],
        [{**public("ES256"), "x": 7}],
        [public("ES256"), public("ES256")],
        ["key", 7, None],
    ],
)
async def test_keys_that_cannot_be_used(scene: Scene, keys: list[Any]) -> None:
    scene.provider.keys = keys
    nobody_came_in(scene, await scene.provider.sign_on(scene.visitor))
