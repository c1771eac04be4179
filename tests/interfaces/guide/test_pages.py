"""The guide as it is served: frame, search, and the replies to nonsense."""

import asyncio
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.interfaces.pages.visitor import Visitor, with_secret
from tests.support.messages import GUIDE
from tests.support.world import PASSWORD, UNLIMITED, World, open_world
from wmsd.base.problems import STATUS_OF_CODE
from wmsd.events.outbox.events import EVENTS
from wmsd.interfaces.cli.kit.commands_page import OF_RECORDS
from wmsd.interfaces.cli.main import COMMANDS
from wmsd.interfaces.guide.contents import ORDER, READERS, address_of
from wmsd.settings.all_settings import declared_settings

FIRST_FOUND = re.compile(r'<ol class="found">\n<li><h2><a href="([^"]+)">\s*(.*?)\s*</a></h2>', re.DOTALL)


async def best(visitor: Visitor, query: str) -> tuple[str, str]:
    """Return address and heading of the first hit."""
    seen = await visitor.get(f"/docs/search?q={quote(query)}")
    assert (seen.status, seen.headers["Cache-Control"]) == (200, "no-store")
    found = FIRST_FOUND.search(seen.text)
    assert found, query
    return found[1], re.sub(r"</?mark>", "", found[2])


@pytest.mark.usefixtures("whole_processor")
async def test_every_name_is_found_where_it_is_explained(world: World) -> None:
    visitor = Visitor(world)
    for code in STATUS_OF_CODE:
        assert await best(visitor, code) == (f"/docs/errors#{code.lower()}", code)
    for section, key, _ in declared_settings():
        assert await best(visitor, f"{section}.{key}") == (f"/docs/settings#{section}", f"{section}.{key}")
    for name in COMMANDS:
        page = "record-commands" if name in OF_RECORDS else "commands"
        assert await best(visitor, f"wmsd {name}") == (f"/docs/{page}#wmsd-{name}", f"wmsd {name}")
    for name in EVENTS:
        assert (await best(visitor, name))[1] == name


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("token", "/docs/administration#tokens"),
        ("backup", "/docs/backup"),
        ("rate limit", "/docs/using-the-api#limits"),
        ("over receipt", "/docs/inbound#how-much"),
        ("lost phone", "/docs/sign-on#two-factors"),
        ("verify signature", "/docs/webhooks#signatures"),
        ("restore", "/docs/backup"),
        ("csv", "/docs/importing"),
        ("keycloak", "/docs/sign-on#setting-it-up"),
    ],
)
async def test_what_people_look_for_is_among_the_first(world: World, query: str, address: str) -> None:
    seen = await Visitor(world).get(f"/docs/search?q={quote(query)}")
    assert address in re.findall(r'<li><h2><a href="([^"]+)"', seen.text)[:5]


async def test_each_page_leads_to_the_one_before_and_the_one_after(world: World) -> None:
    visitor = Visitor(world)
    for before, name, after in zip(ORDER, ORDER[1:], ORDER[2:], strict=False):
        text = (await visitor.get(address_of(name))).text
        assert f'rel="prev" href="{address_of(before)}"' in text
        assert f'rel="next" href="{address_of(after)}"' in text
        assert text.count('aria-current="page"') == 1


async def test_the_beginning_has_a_door_for_each_reader(world: World) -> None:
    text = (await Visitor(world).get("/docs")).text
    doors = re.findall(r'<section class="sheet".*?</section>', text, re.DOTALL)
    assert len(doors) == len(READERS)
    for door, reader in zip(doors, READERS, strict=True):
        assert re.findall(r'<a href="([^"]+)"', door) == [address_of(name) for name in reader.most_wanted]


async def test_who_is_signed_in_is_led_back_to_the_pages(world: World) -> None:
    stranger, signed_in = Visitor(world), with_secret(world, "whatever it is")
    for path in ("/docs", "/docs/stock", "/docs/search?q=stock", "/docs/nothing"):
        assert 'href="/sign-in"' in (await stranger.get(path)).text
        assert 'href="/sign-in"' not in (await signed_in.get(path)).text
        assert '<a href="/today">Back to wmsd</a>' in (await signed_in.get(path)).text
    tag = (await world.send("GET", "/docs", token="", company="")).headers["ETag"]
    known = {"If-None-Match": tag}
    assert [(await visitor.get("/docs", known)).status for visitor in (stranger, signed_in)] == [304, 200]


@pytest.mark.parametrize("path", ["/docs", "/docs/stock", "/docs/search?q=stock", "/docs/nothing"])
async def test_the_frame_is_in_the_language_of_each_reader(world: World, path: str) -> None:
    """A page is created once for each language, and its language does not depend on the first reader."""
    visitor = Visitor(world)
    for wish, written in (("ro", "Cuprins"), ("en", "Contents"), ("ro", "Cuprins"), ("de", "Contents")):
        seen = await visitor.get(path, {"Accept-Language": wish})
        assert f"<summary>{written}</summary>" in seen.text
        assert ('<html lang="ro">' in seen.text) == (wish == "ro")


@pytest.mark.parametrize("path", ["/docs", "/docs/search?q=stock", "/docs/nothing"])
async def test_whoever_has_chosen_a_language_reads_the_guide_in_it(world: World, path: str) -> None:
    await world.new_user("ana@example.com", "platform-admin")
    visitor = Visitor(world)
    await visitor.sign_in("ana@example.com", PASSWORD)
    account = await visitor.get("/account")
    await visitor.post("/account/language", {"form_token": account.form_token, "language": "ro"})
    seen = await visitor.get(path, {"Accept-Language": "en"})
    assert ('<html lang="ro">' in seen.text, "<summary>Cuprins</summary>" in seen.text) == (True, True)


async def test_a_page_in_another_language_than_its_frame_says_so(world: World) -> None:
    visitor, wish = Visitor(world), {"Accept-Language": "ro"}
    seen = await visitor.get("/docs/stock", wish)
    assert "Această pagină a ghidului este în engleză." in seen.text
    assert '<div class="text" lang="en">' in seen.text
    assert seen.headers["Vary"] == "Accept-Language, Cookie, Accept-Encoding"
    home = await visitor.get("/docs", wish)
    assert (">Ghidul</h1>" in home.text, 'lang="en"' in home.text) == (True, False)


def test_the_first_page_has_the_same_parts_in_each_language() -> None:
    english, *others = sorted(GUIDE.rglob("index.md"))
    assert others
    for each in others:
        counted = [
            [text.count(sign) for sign in ("\n## ", "\n|", "](/docs/")]
            for text in (english.read_text(encoding="utf-8"), each.read_text(encoding="utf-8"))
        ]
        assert counted[0] == counted[1], each


async def test_there_is_no_other_page(world: World) -> None:
    seen = await Visitor(world).get("/docs/%3Cscript%3E")
    assert (seen.status, seen.heading) == (404, "Page not found")
    assert "<script>" not in seen.text
    assert 'action="/docs/search"' in seen.text


@pytest.mark.parametrize(
    "query",
    [
        '"><script>alert(1)</script>',
        "' OR 1=1 --",
        "stock NEAR/2 *",
        "{{ 7 * 7 }}",
        "\0",
        "\u202e\ud7ff",
        "a" * 4_000,
    ],
)
async def test_a_hostile_query_is_only_text(world: World, query: str) -> None:
    seen = await Visitor(world).get(f"/docs/search?q={quote(query)}")
    assert (seen.status, seen.heading) == (200, "Search the guide")
    assert "script-src 'self'" in seen.headers["Content-Security-Policy"]
    assert not re.search(r"<script>|alert\(1\)<|>49<", seen.text)
    assert len(seen.text) < 20_000


async def test_many_who_search_at_once_are_answered(world: World) -> None:
    visitor = Visitor(world)
    seen = await asyncio.gather(*(visitor.get(f"/docs/search?q=stock&n={number}") for number in range(20)))
    assert {(each.status, "sections have these words" in each.text) for each in seen} == {(200, True)}


async def test_searches_are_counted_by_address(tmp_path: Path) -> None:
    async with open_world(tmp_path, {"limits": {**UNLIMITED["limits"], "open_per_minute": 3}}) as world:
        statuses = [(await Visitor(world).get("/docs/search?q=x")).status for _ in range(4)]
    assert statuses == [200, 200, 200, 429]


async def test_its_commands_begin_with_the_public_url(tmp_path: Path) -> None:
    public = {"server": {"public_url": "https://wms.example.com"}}
    async with open_world(tmp_path / "data", public) as world:
        world.installation.folder.address = "http://127.0.0.1:9101"
        assert (
            "https://wms.example.com/api/v2/sales-orders" in (await Visitor(world).get("/docs/sales-orders")).text
        )
        lines = (await Visitor(world).get("/docs/reverse-proxies")).text
        assert lines.count("127.0.0.1:8480") == 5, "a proxy leads to where wmsd listens"


async def test_its_commands_have_the_address_of_this_server(world: World) -> None:
    world.installation.folder.address = "https://192.168.1.20:9101"
    visitor = Visitor(world)
    shown = (await visitor.get("/docs/sales-orders")).text
    assert "https://192.168.1.20:9101/api/v2/sales-orders" in shown
    assert "127.0.0.1:8480" not in shown
    assert "127.0.0.1:8480" in (await visitor.get("/docs/settings")).text, "a default stays what it is"
