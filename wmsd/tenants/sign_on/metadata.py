"""The data that a provider publishes: its metadata (OpenID Connect Discovery 1.0), and the keys with which it
signs.

wmsd caches both for an hour. A provider may replace its keys earlier. So if a key is missing, wmsd requests the
keys again, at most once a minute.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

from wmsd.base.clock import Clock
from wmsd.base.dataclass import dataclass
from wmsd.http_client.lazy_client import LazyClient
from wmsd.tenants.sign_on import provider_requests
from wmsd.tenants.sign_on.provider_requests import NoAnswer
from wmsd.tenants.sign_on.providers import Provider

WELL_KNOWN: Final = "/.well-known/openid-configuration"
KEPT_SECONDS: Final = 3600.0
KEYS_AGAIN_SECONDS: Final = 60.0
FAILED_SECONDS: Final = 10.0
"""After a failure, wmsd sends no request to the provider for this number of seconds."""
MOST_KEYS: Final = 100
URL: Final = re.compile(r"https?://[\x21\x22\x24-\x7e]{1,1000}")
ASKED_BY_CLIENTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True, slots=True)
class Metadata:
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None
    names_itself: bool
    """Whether the provider's responses contain the provider's name, its issuer (RFC 9207)."""
    takes_basic: bool
    """Whether the provider accepts the client's secret as HTTP Basic authentication. Otherwise the secret is sent
    as a field of the form.
    """


class Published:
    """The published data of one provider.

    If a request fails, all callers that wait for the data get the same error. For the next FAILED_SECONDS, further
    calls raise this error without a new request.
    """

    def __init__(self, provider: Provider, client: LazyClient, clock: Clock) -> None:
        self.provider = provider
        self.client = client
        self.clock = clock
        self._metadata = _Kept(clock, self._ask_for_metadata)
        self._keys = _Kept(clock, self._ask_for_keys)

    async def metadata(self) -> Metadata:
        """Return the metadata. Raise NoAnswer, and the same Problem as `provider_requests.get`."""
        found: Metadata = await self._metadata.get(KEPT_SECONDS)
        return found

    async def keys(self, kid: str | None) -> list[dict[str, Any]]:
        """Return all keys. If the key with the id `kid` is missing, request the keys again, at most once a minute.
        Raise the same errors as `metadata`.
        """
        keys: list[dict[str, Any]] = await self._keys.get(KEPT_SECONDS)
        if kid is not None and all(key.get("kid") != kid for key in keys):
            keys = await self._keys.get(KEYS_AGAIN_SECONDS)
        return keys

    async def _ask_for_metadata(self) -> Metadata:
        issuer = self.provider.issuer
        found = await provider_requests.get(self.client, issuer.rstrip("/") + WELL_KNOWN)
        if found.get("issuer") != issuer:
            shown = str(found.get("issuer"))[:200]
            raise NoAnswer(
                f"The sign-in provider at {issuer} has a different issuer: {shown!r}. If this is the right "
                "provider, set issuer in sign_on.providers to exactly this text."
            )
        urls = {name: _url(found, name) for name in ASKED_BY_CLIENTS}
        methods = found.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return Metadata(
            **urls,
            userinfo_endpoint=_url(found, "userinfo_endpoint") if "userinfo_endpoint" in found else None,
            names_itself=found.get("authorization_response_iss_parameter_supported") is True,
            takes_basic=not isinstance(methods, list) or "client_secret_basic" in methods,
        )

    async def _ask_for_keys(self) -> list[dict[str, Any]]:
        uri = (await self.metadata()).jwks_uri
        keys = (await provider_requests.get(self.client, uri)).get("keys")
        if not isinstance(keys, list) or len(keys) > MOST_KEYS:
            raise NoAnswer(
                f"{uri} must contain a list of signing keys, with at most {MOST_KEYS} keys. Tell the admin of "
                "the sign-in provider."
            )
        return [key for key in keys if isinstance(key, dict)]


class _Kept:
    """A cache for one response. If several callers need the response at the same time, only one of them sends the
    request. The others wait.
    """

    def __init__(self, clock: Clock, ask: Callable[[], Awaitable[Any]]) -> None:
        self._clock = clock
        self._ask = ask
        self._turn = asyncio.Lock()
        self._found: Any = None
        self._asked_at: float | None = None
        self._failure: tuple[float, str] | None = None

    async def get(self, seconds: float) -> Any:
        """Return the cached response if it is newer than `seconds`. Otherwise request it with `ask`, and raise the
        errors of `ask`. If `ask` raises NoAnswer, raise the same error again during the next FAILED_SECONDS,
        without a request.
        """
        async with self._turn:
            now = self._clock.monotonic()
            if self._asked_at is not None and now - self._asked_at < seconds:
                return self._found
            if self._failure is not None and now - self._failure[0] < FAILED_SECONDS:
                raise NoAnswer(self._failure[1])
            try:
                self._found = await self._ask()
            except NoAnswer as error:
                self._failure = now, str(error)
                raise
            self._asked_at, self._failure = now, None
            return self._found


def _url(found: dict[str, Any], name: str) -> str:
    """Return the URL with this name in the metadata. Raise NoAnswer if it is missing or not valid.

    This check is necessary for the URL that the browser opens. The HTTP client checks the other URLs, which wmsd
    itself requests.
    """
    url = found.get(name)
    if not isinstance(url, str) or not URL.fullmatch(url):
        raise NoAnswer(
            f"The metadata of the sign-in provider has no valid URL in {name}. Check the issuer in "
            "sign_on.providers, or tell the admin of the provider."
        )
    return url
