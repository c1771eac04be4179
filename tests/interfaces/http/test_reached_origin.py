"""The origin that a caller has reached: from a setting, or from Host and the headers of trusted proxies, hop by
hop.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.support.world import World, open_world

HOST: Final = {"Host": "wms.example.com"}
BACKEND: Final = {"Host": "127.0.0.1:8480"}
PROTO, NAME, PORT, BY = "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-For"
TWO: Final = {**HOST, BY: "203.0.113.9, 10.0.0.2"}
"""A request through two trusted proxies: the direct client, and 10.0.0.2 before it."""
CASES: Final[tuple[tuple[Mapping[str, str], str], ...]] = (
    (HOST, "http://wms.example.com"),
    ({"Host": "WMS.Example.com:80"}, "http://wms.example.com"),
    ({"Host": "wms.example.com:8080"}, "http://wms.example.com:8080"),
    ({**HOST, PROTO: "https"}, "https://wms.example.com"),
    ({**HOST, PROTO: "HTTPS"}, "https://wms.example.com"),
    ({"Host": "wms.example.com:443", PROTO: "https"}, "https://wms.example.com"),
    ({**HOST, PROTO: "https, http"}, "http://wms.example.com"),
    ({**HOST, PROTO: "http, https"}, "https://wms.example.com"),
    ({**TWO, PROTO: "https, http"}, "https://wms.example.com"),
    ({**TWO, PROTO: "http,https,http"}, "https://wms.example.com"),
    ({**TWO, PROTO: "https"}, "https://wms.example.com"),
    ({**TWO, PROTO: "https, ,http,"}, "https://wms.example.com"),
    ({**HOST, BY: "203.0.113.9, 198.51.100.1", PROTO: "https, http"}, "http://wms.example.com"),
    ({**HOST, PROTO: "wss"}, ""),
    ({**HOST, PROTO: "https; x"}, ""),
    ({**BACKEND, NAME: "wms.example.com", PROTO: "https"}, "https://wms.example.com"),
    ({**BACKEND, NAME: "wms.example.com:8443", PROTO: "https"}, "https://wms.example.com:8443"),
    ({**BACKEND, NAME: "evil.example, wms.example.com"}, "http://wms.example.com"),
    ({**TWO, **BACKEND, NAME: "wms.example.com, inner.lan"}, "http://wms.example.com"),
    ({**BACKEND, NAME: "a b"}, ""),
    ({**HOST, PORT: "8080"}, "http://wms.example.com:8080"),
    ({"Host": "wms.example.com:81", PORT: "8080"}, "http://wms.example.com:81"),
    ({"Host": "[fd00::5]", PORT: "8080"}, "http://[fd00::5]:8080"),
    ({**HOST, PROTO: "https", PORT: "443"}, "https://wms.example.com"),
    ({**HOST, PROTO: "https", PORT: "80"}, "https://wms.example.com"),
    ({**TWO, PROTO: "https, http", PORT: "8443, 80"}, "https://wms.example.com:8443"),
    ({**HOST, PORT: "x"}, ""),
)


async def reached(world: World, headers: Mapping[str, str]) -> str:
    answer = await world.call("GET", "/api/v2/meta", headers=dict(headers))
    return str(answer.body["changelog_url"]).removesuffix("/docs/changelog")


async def test_trusted_proxies_say_it_hop_by_hop(tmp_path: Path) -> None:
    server = {"trusted_proxies": ["127.0.0.0/8", "10.0.0.0/8"]}
    async with open_world(tmp_path / "data", {"server": server}) as world:
        assert [(sent, await reached(world, sent)) for sent, _ in CASES] == list(CASES)


async def test_nobody_else_is_believed(world: World) -> None:
    said = {**HOST, PROTO: "https", NAME: "evil.example", PORT: "8443"}
    assert await reached(world, said) == "http://wms.example.com"


async def test_what_is_set_is_above_what_is_said(tmp_path: Path) -> None:
    server = {"trusted_proxies": ["127.0.0.0/8"], "public_url": "https://lager.müller.example/"}
    async with open_world(tmp_path / "data", {"server": server}) as world:
        for sent in (HOST, {**BACKEND, NAME: "evil.example", PROTO: "http"}, {"Host": "a b"}):
            assert await reached(world, sent) == "https://lager.xn--mller-kva.example"
