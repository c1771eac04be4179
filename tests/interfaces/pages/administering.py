"""Common steps of the tests of the administration."""

import html
import re
from urllib.parse import parse_qs, urlsplit

from tests.interfaces.pages.records.test_act import sent
from tests.interfaces.pages.records.test_browse import rows, text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import PASSWORD, World

NEW_PASSWORD = "correct horse battery staple"
MEMBER = "ion@example.com"
LEAD = "lead@example.com"
SHOWN_ONCE = re.compile(r'<pre class="code" id="(\w+)".*?>(.*?)</pre>', re.DOTALL)


async def signed_in_as(world: World, email: str, password: str = PASSWORD) -> Visitor:
    visitor = Visitor(world)
    seen = await visitor.sign_in(email, password)
    assert seen.status == 303, seen.text
    return visitor


def shown_once(seen: Seen) -> dict[str, str]:
    assert seen.status == 200, seen.text
    return {name: html.unescape(text) for name, text in SHOWN_ONCE.findall(seen.text)}


async def invited(visitor: Visitor, email: str = MEMBER, **typed: str) -> str:
    """Invite a user, and return the link."""
    fields = {"email": email, "name": "Ion", "role": "member", "company_codes": "OTHER", **typed}
    return shown_once(await sent(visitor, "/admin/users/new", **fields))["link"]


async def chosen(visitor: Visitor, link: str, password: str = NEW_PASSWORD, again: str = NEW_PASSWORD) -> Seen:
    (code,) = parse_qs(urlsplit(link).query)["code"]
    return await visitor.post("/welcome", {"code": code, "password": password, "again": again})


async def id_of(visitor: Visitor, email: str) -> int:
    seen = await visitor.get(f"/admin/users?search={email}")
    (found,) = re.findall(rf'href="/admin/users/(\d+)">{email}', seen.text)
    return int(found)


async def errors(seen: Seen) -> list[str]:
    assert seen.status in (422, 403), seen.text
    return [text_of(each) for each in re.findall(r'<p class="error".*?>(.*?)</p>', seen.text)]


async def audit(visitor: Visitor) -> list[list[str]]:
    """Return the latest entries, the newest first: actor, action, subject, address and changes."""
    return [cells[1:] for cells in rows(await visitor.get("/admin/audit"))]
