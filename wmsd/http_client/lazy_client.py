"""A wrapper that imports and opens the guarded HTTP client at the first request, so that the server
starts faster.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from wmsd.http_client.answer import Answer
from wmsd.http_client.guard import Guard

if TYPE_CHECKING:
    from wmsd.http_client.client import GuardedClient


class LazyClient:
    """A guarded client that opens at its first use. `close` works whether or not the client was used."""

    def __init__(
        self,
        guard: Guard,
        ca_file: str = "",
        keep_answers: bool = True,
        wanted: int | None = None,
        proxy: str = "",
    ) -> None:
        """Create the client. If `keep_answers` is False, `post` returns answers without headers and body.
        `GuardedClient` explains the other parameters.
        """
        self._guard = guard
        self._wanted = wanted
        self._proxy = proxy
        self._ca_file = ca_file
        self._keep_answers = keep_answers
        self._client: GuardedClient | None = None

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, party: int = 0) -> Answer:
        """Send a POST request. See `GuardedClient.post`."""
        answer = await self._opened().post(url, headers, body, party)
        return answer if self._keep_answers else answer._replace(headers={}, body=b"", is_kept=False)

    async def get(self, url: str, headers: Mapping[str, str]) -> Answer:
        """Send a GET request. See `GuardedClient.get`."""
        return await self._opened().get(url, headers)

    def _opened(self) -> "GuardedClient":
        if self._client is None:
            from wmsd.http_client.client import GuardedClient

            self._client = GuardedClient(self._guard, self._ca_file, wanted=self._wanted, proxy=self._proxy)
        return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
