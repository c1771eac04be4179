"""The verification of ID tokens (OpenID Connect Core 1.0, section 3.1.3.7) with the keys of their provider.

PyJWT is imported only when it is first needed, as in `accounts/tokens.py`. Times are checked here and not by
PyJWT, because the checks use the installation's clock.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from wmsd.tenants.sign_on.providers import Provider

LONGEST: Final = 32 * 1024
LEEWAY_SECONDS: Final = 60
LONGEST_SUBJECT: Final = 255
ALGORITHMS: Final[Mapping[str, tuple[str, str | None]]] = {
    **{f"{family}{bits}": ("RSA", None) for family in ("RS", "PS") for bits in (256, 384, 512)},
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}
"""The accepted algorithms. The value is the type of the keys and, if the algorithm needs one, their curve. All
other algorithms of JWS are unsafe: an attacker could sign a token with a public key, or without any key.
"""
NEEDED: Final = ("iss", "sub", "aud", "exp", "iat", "nonce")


class BadToken(Exception):
    """The error for an ID token that is refused. Its message ends a sentence that begins "the ID token"."""


class Head(NamedTuple):
    algorithm: str
    kid: str | None


def head_of(token: object) -> Head:
    """Return the algorithm and the key id in the header of the token. Raise BadToken if the token cannot be read,
    or if wmsd does not accept the algorithm.
    """
    import jwt

    if not isinstance(token, str) or len(token) > LONGEST:
        raise BadToken(f"is missing, or is longer than {LONGEST // 1024} kB")
    try:
        head = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise BadToken("cannot be read") from None
    algorithm, kid = head.get("alg"), head.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise BadToken("is signed with an algorithm that wmsd does not accept")
    return Head(algorithm, kid if isinstance(kid, str) else None)


def verify_id_token(
    token: str, head: Head, keys: Sequence[dict[str, Any]], provider: Provider, nonce: str, now: datetime
) -> Any:
    """Return the claims of the token, which must be valid at the time `now`. Raise BadToken if it is not valid.

    The token must have a valid signature. Its provider must have issued it for wmsd and for this `nonce`.
    """
    import jwt

    key = _key(head, keys)
    try:
        claims = jwt.decode(
            token,
            jwt.PyJWK(key, algorithm=head.algorithm),
            algorithms=[head.algorithm],
            audience=provider.client_id,
            issuer=provider.issuer,
            options={
                "require": list(NEEDED),
                "verify_exp": False,
                "verify_iat": False,
                "verify_nbf": False,
                "enforce_minimum_key_length": True,
            },
        )
    except jwt.InvalidAudienceError:
        raise BadToken("is for another client") from None
    except jwt.InvalidIssuerError:
        raise BadToken("is from another issuer") from None
    except jwt.MissingRequiredClaimError as error:
        raise BadToken(f"lacks the claim {error.claim}") from None
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
        raise BadToken("has no valid signature") from None
    _check(claims, provider.client_id, nonce, now.timestamp())
    return claims


def _key(head: Head, keys: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the key that can verify the token: the suitable key with the id in the header. If the header has no
    id, return the only suitable key. Raise BadToken if there is no such key.
    """
    kind, curve = ALGORITHMS[head.algorithm]
    suitable = [
        key
        for key in keys
        if key.get("kty") == kind
        and (curve is None or key.get("crv") == curve)
        and key.get("use", "sig") == "sig"
        and key.get("alg", head.algorithm) == head.algorithm
        and head.kid in (None, key.get("kid"))
    ]
    if len(suitable) != 1:
        raise BadToken("is signed with a key that the provider does not publish")
    return suitable[0]


def _check(claims: Mapping[str, Any], client_id: str, nonce: str, now: float) -> None:
    audience, party = claims["aud"], claims.get("azp")
    if (isinstance(audience, list) and len(audience) > 1) or party is not None:
        _need(party == client_id, "was issued for another client")
    _need(claims["nonce"] == nonce, "belongs to another sign-in")
    ends, made, begins = claims["exp"], claims["iat"], claims.get("nbf", 0)
    _need(all(map(_is_time, (ends, made, begins))), "has a time that is not a number (exp, iat or nbf)")
    _need(now < ends + LEEWAY_SECONDS, "has expired")
    _need(
        max(made, begins) <= now + LEEWAY_SECONDS,
        "has a time in the future: check the clocks of the provider and of this server",
    )
    subject = claims["sub"]
    is_subject = isinstance(subject, str) and 0 < len(subject) <= LONGEST_SUBJECT
    _need(is_subject and subject.isascii() and subject.isprintable(), "has no valid subject (the claim sub)")


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise BadToken(otherwise)
