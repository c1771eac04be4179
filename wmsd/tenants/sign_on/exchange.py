"""Sends the code from the browser to the provider, and receives the provider's claims about the user."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from wmsd.base.machine.secret_files import read_client_secret
from wmsd.http_client.lazy_client import LazyClient
from wmsd.tenants.sign_on import provider_requests
from wmsd.tenants.sign_on.id_tokens import head_of, verify_id_token
from wmsd.tenants.sign_on.metadata import Metadata, Published
from wmsd.tenants.sign_on.open_sign_ons import SignOn
from wmsd.tenants.sign_on.provider_requests import NoAnswer
from wmsd.tenants.sign_on.providers import Provider
from wmsd.tenants.sign_on.rules import claim_value, names_read


def authorization_url(provider: Provider, metadata: Metadata, begun: SignOn) -> str:
    """Return the URL to which the browser is sent to sign on."""
    asked = {
        "response_type": "code",
        "client_id": provider.client_id,
        "redirect_uri": begun.back_to,
        "scope": " ".join(provider.scopes),
        "state": begun.state,
        "nonce": begun.nonce,
        "code_challenge": begun.challenge,
        "code_challenge_method": "S256",
    }
    endpoint = metadata.authorization_endpoint
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked, quote_via=quote)}"


async def claims_of(published: Published, begun: SignOn, code: str) -> Mapping[str, Any]:
    """Send the code to the provider, and return the claims about the user who has signed on. Raise NoAnswer,
    BadToken, and the same Problem as `provider_requests.get`.
    """
    provider, client, now = published.provider, published.client, published.clock.now()
    metadata = await published.metadata()
    tokens = await _tokens(provider, metadata, client, begun, code)
    token = tokens.get("id_token")
    head = head_of(token)
    keys = await published.keys(head.kid)
    claims: Mapping[str, Any] = verify_id_token(str(token), head, keys, provider, begun.nonce, now)
    lacks = any(claim_value(claims, name) is None for name in names_read(provider))
    if lacks and metadata.userinfo_endpoint is not None and isinstance(tokens.get("access_token"), str):
        return {**await _more(metadata.userinfo_endpoint, client, tokens["access_token"], claims["sub"]), **claims}
    return claims


async def _tokens(
    provider: Provider, metadata: Metadata, client: LazyClient, begun: SignOn, code: str
) -> dict[str, Any]:
    fields = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": begun.back_to,
        "code_verifier": begun.verifier,
    }
    headers = {}
    secret = _secret(provider)
    if secret and metadata.takes_basic:
        pair = f"{quote(provider.client_id, safe='')}:{quote(secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        fields |= {"client_id": provider.client_id, **({"client_secret": secret} if secret else {})}
    return await provider_requests.post(client, metadata.token_endpoint, fields, headers)


async def _more(endpoint: str, client: LazyClient, access_token: str, subject: str) -> dict[str, Any]:
    """Return the claims of the userinfo endpoint (OpenID Connect Core 1.0, section 5.3). Raise NoAnswer if these
    claims are about an account other than `subject`. Also raise the errors of `provider_requests.get`.
    """
    if not (access_token.isascii() and access_token.isprintable()):
        raise NoAnswer(
            f"wmsd did not call {endpoint}: the access token of the sign-in provider contains characters that "
            "no header can contain."
        )
    found = await provider_requests.get(client, endpoint, {"Authorization": f"Bearer {access_token}"})
    if found.get("sub") != subject:
        raise NoAnswer(
            f"{endpoint} returned a different account than the ID token (their sub differs), so wmsd refused "
            "the sign-in. Tell the admin of the sign-in provider."
        )
    return found


def _secret(provider: Provider) -> str:
    if not provider.client_secret_file:
        return provider.client_secret
    try:
        return read_client_secret(Path(provider.client_secret_file))
    except OSError:
        raise NoAnswer(
            f"The file {provider.client_secret_file} of client_secret_file cannot be read. "
            "Check its path and its permissions."
        ) from None
    except ValueError as error:
        raise NoAnswer(str(error)) from None
