"""API tokens: JWTs (RFC 7519) with HS256 only. Each token has a row in the database, so that it can be revoked.

PyJWT imports all of `cryptography`, which takes 40 ms. Therefore it is imported only when it is first needed, and
not at the start of the program.
"""

import base64
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from wmsd.base import timestamps
from wmsd.base.strict_json import dumps
from wmsd.db.engine.transaction import Transaction
from wmsd.tenants.keys import key_store

ALGORITHM = "HS256"
ISSUER = "wmsd"
LONGEST_TOKEN = 4096
INSERT_TOKEN: Final = """
    INSERT INTO tokens (jti, user_id, name, abilities, company_ids, created_at, expires_at, signed_in)
    VALUES (:jti, :user_id, :name, :abilities, :company_ids, :now, :expires_at, :signed_in)
"""


class Issued(NamedTuple):
    """A new token. `token` is shown only once."""

    id: int
    token: str
    expires_at: str


def issue(
    tx: Transaction,
    *,
    user_id: int,
    name: str,
    abilities: Sequence[str],
    company_ids: Sequence[int] | None,
    lifetime: timedelta,
    signed_in: bool,
) -> Issued:
    """Issue a token, and insert its row. If `company_ids` is None, the token is valid for every company of its
    user.

    `signed_in` is True if the user received the token by signing in with a password. It is False if an admin
    created the token.
    """
    import jwt

    jti = tx.ids.unique()
    expires = tx.now + lifetime
    row = {
        "jti": jti,
        "user_id": user_id,
        "name": name,
        "abilities": dumps(list(abilities)),
        "company_ids": None if company_ids is None else dumps(list(company_ids)),
        "now": tx.timestamp,
        "expires_at": timestamps.to_text(expires),
        "signed_in": signed_in,
    }
    token_id = tx.insert(INSERT_TOKEN, row)
    kid, secret = key_store.signing_keys(tx)[0]
    claims = {
        "iss": ISSUER,
        "sub": str(user_id),
        "jti": jti,
        "iat": int(tx.now.timestamp()),
        "exp": int(expires.timestamp()),
    }
    token = jwt.encode(claims, secret, algorithm=ALGORITHM, headers={"kid": kid})
    return Issued(token_id, token, timestamps.to_text(expires))


def jti_of(token: str, keys: Mapping[str, str]) -> str | None:
    """Return the id of the token (`jti`). Return None if no key of the installation has signed the token. `keys`
    has the secret keys by key id.

    This function does not check whether the token is still valid. The caller must check the token's row in the
    database.
    """
    import jwt

    if len(token) > LONGEST_TOKEN or not _is_canonical(token):
        return None
    try:
        key = keys.get(str(jwt.get_unverified_header(token).get("kid")))
        if key is None:
            return None
        claims = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            issuer=ISSUER,
            options={
                "require": ["iss", "sub", "jti", "iat", "exp"],
                "verify_exp": False,
                "verify_iat": False,
            },
        )
    except (jwt.InvalidTokenError, ValueError):
        return None
    return str(claims["jti"])


def _is_canonical(token: str) -> bool:
    """Return True if the token is encoded exactly as `issue` encodes tokens. Without this check, a decoder could
    accept several different texts as the same token.
    """
    parts = token.split(".")
    try:
        return len(parts) == 3 and all(_recoded(part) == part for part in parts)
    except ValueError:
        return False


def _recoded(part: str) -> str:
    """Decode and re-encode base64url without padding (RFC 7515, section 2). Raise ValueError if `part` is not
    base64url.
    """
    decoded = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    return base64.urlsafe_b64encode(decoded).rstrip(b"=").decode()
