"""The page of the recovery phrase: created and displayed once, checked, replaced, declined; and the messages of
other pages.
"""

import asyncio
import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.pages.admin.test_health_pages import backed_up, house
from tests.interfaces.pages.administering import audit, errors, signed_in_as
from tests.interfaces.pages.people.test_first_run import steps_done
from tests.interfaces.pages.records.test_browse import signed_in, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import World
from wmsd.maintenance.keys.recovery_phrase import Phrase, new_phrase
from wmsd.tenants.keys import recovery_phrases

PAGE = "/admin/recovery-phrase"
LOST = re.compile(r"all API tokens \([1-9]\d*\) and webhook credentials \(0\) are lost too")
__all__ = ["house"]  # a fixture


@pytest.fixture
async def admin(house: World) -> Visitor:
    return await signed_in(house)


async def pressed(visitor: Visitor, act: str, **fields: str) -> Seen:
    seen = await visitor.get(PAGE)
    replaces = re.search(r'name="replaces" value="(.*?)"', seen.text)
    known = {"replaces": replaces[1]} if replaces else {}
    return await visitor.post(PAGE, {"form_token": seen.form_token, "act": act, **known, **fields})


def words_in(seen: Seen) -> str:
    assert (seen.status, seen.heading) == (200, "The recovery phrase"), seen.text
    (shown,) = re.findall(r'<pre class="code".*?>(.*?)</pre>', seen.text, re.DOTALL)
    return " ".join(re.findall(r"\d+\. ([a-z]+)", html.unescape(shown)))


async def created(visitor: Visitor) -> str:
    return words_in(await pressed(visitor, "create"))


async def checked(visitor: Visitor) -> str:
    words = await created(visitor)
    done = await pressed(visitor, "check", phrase=words)
    assert (done.status, done.goes_to) == (303, f"{PAGE}?done=checked"), done.text
    return words


async def known(world: World) -> list[recovery_phrases.KnownPhrase]:
    return await world.installation.platform.read(recovery_phrases.every)


async def test_it_is_created_shown_once_and_checked(admin: Visitor) -> None:
    seen = await pressed(admin, "create")
    words = words_in(seen)
    assert seen.headers["Cache-Control"] == "no-store"
    fingerprint = Phrase(words).fingerprint
    assert fingerprint in seen.text
    again = await admin.get(PAGE)
    assert all(word not in text_of(again.text) for word in (words, " ".join(words.split()[:2])))
    assert f"recovery phrase {fingerprint}, which is not checked yet" in text_of(again.text)
    done = await pressed(admin, "check", phrase=f" {words.upper()} ")
    told = text_of((await admin.get(done.goes_to)).text)
    assert "The words are correct." in told
    assert f"Backups encrypt the keys with the recovery phrase {fingerprint}, last checked" in told
    assert [cells[1] for cells in await audit(admin)][:2] == ["recovery-phrase.check", "recovery-phrase.create"]


async def test_a_form_that_is_sent_twice_is_safe(admin: Visitor) -> None:
    """Until the check, the words on the screen are the valid ones. After the check, an older form creates no
    phrase.
    """
    seen = await admin.get(PAGE)
    form = {"form_token": seen.form_token, "act": "create", "replaces": ""}
    first, second = [words_in(await admin.post(PAGE, form)) for _ in range(2)]
    refused = await pressed(admin, "check", phrase=first)
    assert "which was replaced at" in text_of(refused.text)
    assert (await pressed(admin, "check", phrase=second)).status == 303
    late = await admin.post(PAGE, form)
    assert late.status == 409
    assert f"The recovery phrase in use is {Phrase(second).fingerprint}, but" in text_of(late.text)
    assert len(await known(admin.world)) == 2


async def test_two_at_once_leave_one_that_counts(admin: Visitor) -> None:
    seen = await admin.get(PAGE)
    form = {"form_token": seen.form_token, "act": "create", "replaces": ""}
    both = await asyncio.gather(*(admin.post(PAGE, form) for _ in range(2)))
    words = {Phrase(words_in(each)).recipient: words_in(each) for each in both}
    found = await known(admin.world)
    (counts,) = [each for each in found if each.replaced_at is None]
    assert (await pressed(admin, "check", phrase=words[counts.recipient])).status == 303


async def test_wrong_words_are_told_and_stay_to_be_corrected(admin: Visitor) -> None:
    words = await created(admin)
    mistyped = words.replace(words.split()[3], f"{words.split()[3]}x", 1)
    seen = await pressed(admin, "check", phrase=mistyped)
    assert seen.status == 422
    (sentence,) = await errors(seen)
    assert (
        f'Word 4, "{words.split()[3]}x", is not in the list of words. Did you mean "{words.split()[3]}"?'
        == html.unescape(sentence)
    )
    assert mistyped in html.unescape(seen.text)
    for wrong, says in (
        ("", ""),
        ("one two", "but this text has 2"),
        (new_phrase().words, "of another installation"),
    ):
        seen = await pressed(admin, "check", phrase=wrong)
        assert seen.status == 422
        assert says in text_of(seen.text)
    assert (await pressed(admin, "check", phrase="word " * 500)).status == 422
    assert [each.checked_at for each in await known(admin.world)] == [None]


async def test_a_replaced_one_is_told_of(admin: Visitor) -> None:
    old = await checked(admin)
    page = text_of((await admin.get(PAGE)).text)
    assert f"Existing backups open only with the recovery phrase {Phrase(old).fingerprint}" in page
    new = await checked(admin)
    found = await known(admin.world)
    assert [(each.fingerprint, each.replaced_at is None) for each in found] == [
        (Phrase(new).fingerprint, True),
        (Phrase(old).fingerprint, False),
    ]
    refused = await pressed(admin, "decline")
    assert refused.status == 409


def everything_in(folder: Path) -> Iterator[bytes]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.read_bytes()


async def test_the_words_are_nowhere_but_on_the_page(
    admin: Visitor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words = await checked(admin)
    await pressed(admin, "check", phrase=f"{words} more")
    await backed_up(admin)
    pairs = [" ".join(words.split()[at : at + 2]) for at in range(11)]
    assert not any(pair.encode() in content for content in everything_in(tmp_path) for pair in pairs)
    assert not any(pair in caplog.text for pair in pairs)


async def test_until_it_is_settled_every_page_says_what_is_lost(admin: Visitor) -> None:
    assert not LOST.search(text_of((await admin.get("/today")).text)), (
        "before there is a backup the question waits"
    )
    await admin.world.new_token("admin@example.com")
    backups = await backed_up(admin)
    assert "not included" in text_of(backups.text)
    for path in ("/today", "/start", "/admin/backups", "/admin/health", PAGE):
        seen = await admin.get(path)
        assert LOST.search(text_of(seen.text)), path
    assert "Write down the recovery phrase" not in steps_done(await admin.get("/start"))
    words = await checked(admin)
    await asyncio.sleep(1)  # archive names have a resolution of one second
    again = text_of((await backed_up(admin)).text)
    assert f"encrypted with the phrase {Phrase(words).fingerprint}, checked" in again
    for path in ("/today", "/start", "/admin/backups", "/admin/health", PAGE):
        assert not LOST.search(text_of((await admin.get(path)).text)), path
    assert "Write down the recovery phrase" in steps_done(await admin.get("/start"))


async def test_whoever_declines_is_told_and_nothing_is_wrong(admin: Visitor) -> None:
    await admin.world.new_token("admin@example.com")
    await backed_up(admin)
    assert (await pressed(admin, "decline")).goes_to == PAGE
    assert "Continue without a recovery phrase" not in (await admin.get(PAGE)).text
    for path in ("/today", "/start", "/admin/backups", "/admin/health", PAGE):
        assert LOST.search(text_of((await admin.get(path)).text)), path
    health = (await admin.world.send("GET", "/api/health")).body
    assert (health["status"], health["checks"]["keys"]["state"]) == ("ok", "declined")
    romanian = text_of((await admin.get("/admin/health", {"Accept-Language": "ro"})).text)
    assert "Un administrator a hotărât la" in romanian


async def test_only_platform_admins_come_to_it(admin: Visitor) -> None:
    world = admin.world
    await world.new_user("m@example.com", "member", ["ACME"], ["stock:read"])
    await world.new_token("admin@example.com")
    await backed_up(admin)
    member = await signed_in_as(world, "m@example.com")
    today = await member.get("/today")
    assert "A platform admin can prevent this." in today.text
    token = (await admin.get(PAGE)).form_token
    for fields in ({"act": "create"}, {"act": "decline"}, {"act": "check", "phrase": "x"}):
        assert (await member.post(PAGE, {"form_token": token, **fields})).status == 403
    assert await known(world) == []
