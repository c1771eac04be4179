"""Forms are accepted only from pages of this service. A refusal is logged, and its page names the setting to
change.
"""

import html
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import PASSWORD, World, open_world

EMAIL: Final = "ana@example.com"
PUBLIC: Final = "https://wms.example.com"
LAN: Final = {"Host": "wms.lan", "Origin": "http://wms.lan:8080"}
"""The headers from nginx with `Host $host` at another port, without TLS: browsers then send no Sec-Fetch-Site."""


async def signing_in(world: World, headers: Mapping[str, str]) -> Seen:
    fields = {"email": EMAIL, "password": PASSWORD, "next": ""}
    return await Visitor(world).post("/sign-in", fields, dict(headers), site="")


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [each.getMessage() for each in caplog.records if each.name == "wmsd.pages"]
    caplog.clear()
    return found


async def test_without_a_public_url_host_decides(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    await world.new_user(EMAIL, "platform-admin")
    for good in (
        {"Host": "wms.lan", "Origin": "http://wms.lan"},
        {"Host": "WMS.lan:80", "Origin": "http://wms.lan"},
        {"Host": "wms.lan:8080", "Origin": "http://wms.lan:8080"},
    ):
        assert (await signing_in(world, good)).status == 303, good
    assert told(caplog) == []
    refused = await signing_in(world, LAN)
    assert refused.status == 403
    assert 'a platform admin must set server.public_url = "http://wms.lan:8080"' in html.unescape(refused.text)
    assert 'href="/docs/reverse-proxies"' in refused.text
    assert told(caplog) == [
        "refused a form, because it did not come from http://wms.lan (the address of the request; "
        "server.public_url is not set): the request had the headers Origin 'http://wms.lan:8080', "
        "Sec-Fetch-Site none, Host 'wms.lan', X-Forwarded-Proto none, X-Forwarded-Host none, X-Forwarded-Port "
        "none. See /docs/reverse-proxies."
    ]


async def test_nobody_is_told_to_let_another_site_in(world: World, caplog: pytest.LogCaptureFixture) -> None:
    hostile = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    endless = {"Origin": f"http://{'x' * 5000}"}
    markup = {"Origin": "http://<script>"}
    for headers in (hostile, endless, markup, {}):
        refused = await signing_in(world, headers)
        assert refused.status == 403
        assert "evil.example" not in refused.text
        assert "<script>" not in refused.text
    lines = told(caplog)
    assert "Origin 'https://evil.example', Sec-Fetch-Site 'cross-site'" in lines[0]
    assert max(map(len, lines)) < 700


async def test_trusted_proxies_say_what_host_lacks(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"server": {"trusted_proxies": ["127.0.0.0/8"]}}) as world:
        await world.new_user(EMAIL, "platform-admin")
        for said in (
            {**LAN, "X-Forwarded-Port": "8080"},
            {**LAN, "Host": "127.0.0.1:8480", "X-Forwarded-Host": "wms.lan:8080"},
            {"Origin": PUBLIC, "Host": "wms.example.com", "X-Forwarded-Proto": "https", "X-Forwarded-Port": "443"},
        ):
            done = await signing_in(world, said)
            assert done.status == 303, said
            assert ("; Secure" in done.headers["Set-Cookie"]) == (said["Origin"] == PUBLIC)
        assert (
            await signing_in(world, {**LAN, "X-Forwarded-Proto": "ws", "X-Forwarded-Port": "8080"})
        ).status == 403


async def test_a_proxy_that_hides_the_scheme_is_told_of_once(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """Browsers report on their own that such a form comes from this service."""
    await world.new_user(EMAIL, "platform-admin")
    for _ in range(2):
        headers = {"Origin": PUBLIC, "Host": "wms.example.com", "Sec-Fetch-Site": "same-origin"}
        assert (await signing_in(world, headers)).status == 303
    assert told(caplog) == [
        "forms come from 'https://wms.example.com', but wmsd uses 'http://wms.example.com' as its own "
        "address. If the first address is right, set server.public_url to it. See /docs/reverse-proxies."
    ]


async def test_with_a_public_url_forms_are_accepted_from_it_only(tmp_path: Path) -> None:
    async with open_world(tmp_path / "data", {"server": {"public_url": PUBLIC}}) as world:
        await world.new_user(EMAIL, "platform-admin")
        for good in (
            {"Origin": PUBLIC},
            {"Origin": PUBLIC, "Host": "wms.example.com", "Sec-Fetch-Site": "same-origin"},
            {"Sec-Fetch-Site": "same-origin"},
        ):
            done = await signing_in(world, good)
            assert done.status == 303, good
            assert "; Secure" in done.headers["Set-Cookie"]
        straight = {"Host": "10.0.0.5:8480", "Origin": "http://10.0.0.5:8480"}
        for bad in (
            straight,
            {**straight, "Sec-Fetch-Site": "same-origin"},
            {"Origin": PUBLIC, "Sec-Fetch-Site": "cross-site"},
            {"Origin": "http://wms.example.com"},
            {"Origin": f"{PUBLIC}:8443"},
            {"Origin": "null"},
            {},
        ):
            refused = await signing_in(world, bad)
            assert refused.status == 403, bad
            assert f'<a class="button main" href="{PUBLIC}">{PUBLIC}</a>' in refused.text
            assert f"wmsd accepts forms only from {PUBLIC}" in refused.text
