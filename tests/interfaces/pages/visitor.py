"""A browser without JavaScript: it keeps cookies, follows links and sends the forms of the pages."""

import html
import re
from dataclasses import dataclass, field
from http.cookies import SimpleCookie

from tests.support.world import World
from wmsd.interfaces.pages.kit.browser import SIGN_ON, cookie_name


@dataclass
class Seen:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def goes_to(self) -> str:
        return self.headers.get("Location", "")

    @property
    def heading(self) -> str:
        found = re.search(r"<h1>(.*?)</h1>", self.text, re.DOTALL)
        assert found, self.text
        return html.unescape(found[1])

    @property
    def form_token(self) -> str:
        found = re.search(r'name="form_token" value="(\w+)"', self.text)
        assert found, self.text
        return found[1]


def cookie_of(world: World) -> str:
    """Return the name of the session cookie."""
    return cookie_name(world.installation.files.installation)


def sign_on_cookie_of(world: World) -> str:
    """Return the name of the cookie that stores a sign-on in progress."""
    return cookie_of(world) + SIGN_ON


def with_secret(world: World, secret: str) -> "Visitor":
    """Return a visitor whose browser sends this session secret."""
    return Visitor(world, {cookie_of(world): secret})


@dataclass
class Visitor:
    world: World
    cookies: dict[str, str] = field(default_factory=dict)
    agent: str = "Tests/1.0"

    @property
    def secret(self) -> str | None:
        """The secret of the session."""
        return self.cookies.get(cookie_of(self.world))

    async def get(self, path: str, headers: dict[str, str] | None = None) -> Seen:
        return await self.send("GET", path, None, headers)

    async def post(
        self, path: str, fields: dict[str, str], headers: dict[str, str] | None = None, site: str = "same-origin"
    ) -> Seen:
        sent = {"Sec-Fetch-Site": site} if site else {}
        return await self.send("POST", path, fields, {**sent, **(headers or {})})

    async def sign_in(self, email: str, password: str, next_path: str = "") -> Seen:
        return await self.post("/sign-in", {"email": email, "password": password, "next": next_path})

    async def send(
        self,
        method: str,
        path: str,
        fields: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> Seen:
        cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        async with self.world.session.request(
            method,
            self.world.base_url + path,
            data=fields,
            headers={"User-Agent": self.agent, **(cookie if self.cookies else {}), **(headers or {})},
            allow_redirects=False,
        ) as response:
            for line in response.headers.getall("Set-Cookie", []):
                for name, morsel in SimpleCookie(line).items():
                    self.cookies.pop(name, None)
                    if morsel["max-age"] != "0":
                        self.cookies[name] = morsel.value
            return Seen(response.status, dict(response.headers), await response.text())
