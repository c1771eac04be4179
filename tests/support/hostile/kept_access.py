"""An attack with old access: a hostile admin has chosen the password of a user, Bob, who later gets access to an
honest company.
"""

import asyncio
import html
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs, urlsplit

import aiohttp

from tests.support.hostile.persons import Account, token_of_forms
from tests.support.hostile.scene import Tenant
from wmsd.interfaces.pages.kit.browser import FORM_TOKEN

ADDRESS: Final = "127.0.3.1"
EMAIL: Final = "bob@example.com"
KEPT_PASSWORD: Final = "correct horse battery staple"
TRIED_EVERY: Final = 3.0
PATIENCE: Final = aiohttp.ClientTimeout(total=60)
LINK: Final = re.compile(r'<pre class="code" id="link".*?>(.*?)</pre>', re.DOTALL)


@dataclass
class KeptAccess:
    """The access that a hostile admin has as Bob. `grant` lets an honest admin give Bob the honest company too."""

    port: int
    code: str
    """The code of the hostile company."""
    admin: Account
    honest: Tenant
    grant: Callable[[str], None]
    tries: int = 0
    opened: list[str] = field(default_factory=list)
    """The records of the honest company that were read."""
    _session: str = ""
    _token: str = ""

    async def begin(self) -> None:
        """Create Bob, with a token and a session that can read the hostile company.

        Then an honest admin gives Bob the honest company too.
        """
        async with self._client() as client:
            admin = await self._signed_in(client, self.admin.email, self.admin.password)
            typed = {"email": EMAIL, "name": "Bob", "role": "member", "company_codes": self.code}
            typed["abilities:articles:read"] = "on"
            _, shown = await self._post(client, "/admin/users/new", typed, admin)
            found = LINK.search(shown)
            assert found is not None, shown
            (code,) = parse_qs(urlsplit(html.unescape(found[1])).query)["code"]
            chosen = {"code": code, "password": KEPT_PASSWORD, "again": KEPT_PASSWORD}
            assert (await self._post(client, "/welcome", chosen))[0] == 303
            self._session = await self._signed_in(client, EMAIL, KEPT_PASSWORD)
            asked = {"email": EMAIL, "password": KEPT_PASSWORD, "abilities": ["articles:read"]}
            async with client.post("/api/auth/token", json=asked) as answer:
                self._token = (await answer.json())["token"]
            assert [status for _, status in await self._statuses(client, self.admin.company)] == [200, 200]
            await asyncio.to_thread(self.grant, EMAIL)

    async def try_until(self, until: float) -> None:
        async with self._client() as client:
            while time.monotonic() < until:
                for what, status in await self._statuses(client, self.honest.company):
                    self.tries += 1
                    if status == 200:
                        self.opened.append(what)
                await asyncio.sleep(max(0.0, min(TRIED_EVERY, until - time.monotonic())))

    async def _statuses(self, client: aiohttp.ClientSession, company: int) -> list[tuple[str, int]]:
        """Read the company's articles with the old token and the old session. Return the name and the HTTP status
        of each; 0 means that there was no answer.
        """
        ways = (
            (
                "a kept token",
                "/api/articles",
                {"Authorization": f"Bearer {self._token}", "X-Company-Id": str(company)},
            ),
            ("a kept session", f"/companies/{company}/articles", {"Cookie": self._session}),
        )
        found = []
        for what, path, headers in ways:
            try:
                async with client.get(path, headers=headers) as answer:
                    found.append((what, answer.status))
            except (TimeoutError, aiohttp.ClientError):
                found.append((what, 0))
        return found

    def _client(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(local_addr=(ADDRESS, 0), force_close=True)
        jar = aiohttp.DummyCookieJar()
        return aiohttp.ClientSession(
            f"http://127.0.0.1:{self.port}", connector=connector, cookie_jar=jar, timeout=PATIENCE
        )

    async def _signed_in(self, client: aiohttp.ClientSession, email: str, password: str) -> str:
        fields, own = {"email": email, "password": password}, {"Sec-Fetch-Site": "same-origin"}
        async with client.post("/sign-in", data=fields, headers=own, allow_redirects=False) as answer:
            assert answer.status == 303, await answer.text()
            return answer.headers["Set-Cookie"].partition(";")[0]

    async def _post(
        self, client: aiohttp.ClientSession, path: str, fields: Mapping[str, str], cookie: str = ""
    ) -> tuple[int, str]:
        own = {**fields, FORM_TOKEN: token_of_forms(cookie)} if cookie else fields
        headers = {**({"Cookie": cookie} if cookie else {}), "Sec-Fetch-Site": "same-origin"}
        async with client.post(path, data=own, headers=headers, allow_redirects=False) as answer:
            return answer.status, await answer.text()
