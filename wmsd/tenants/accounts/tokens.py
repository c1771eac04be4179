"""API tokens: JWTs (RFC 7519), HS256 only. Each has a row, by which it can be revoked.

PyJWT is imported when the first token is seen: it imports all of `cryptography`, 40 ms that a start does not need.
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
    """Inserts the token's row. `company_ids` None means every company of its user.

    `signed_in`: it was made by signing in with a password, not by an admin.
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
    """The token's id if one of our keys signed it, else None. Whether it is still valid, only its row says."""
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
    """Whether the token is encoded exactly as `issue` does it: a lenient decoder accepts many texts
    for one token.
    """
    parts = token.split(".")
    try:
        return len(parts) == 3 and all(_recoded(part) == part for part in parts)
    except ValueError:
        return False


def _recoded(part: str) -> str:
    """Decodes and encodes base64url without padding (RFC 7515, section 2). Raises ValueError for other texts."""
    decoded = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    return base64.urlsafe_b64encode(decoded).rstrip(b"=").decode()
