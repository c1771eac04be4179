"""The form of the try-out: how tests fill it in, send it, and read the answer."""

import html
import json
import re
from typing import Any

from tests.interfaces.pages.records.test_browse import text_of
from tests.interfaces.pages.visitor import Seen, Visitor
from tests.support.world import World

CREATE = "/try/v1/create_article"
LIST = "/try/v1/list_articles"
BODY = {"code": "NEW", "name": "New"}
OF_THE_SERVER = {
    *("Date", "Server", "Content-Length", "Vary", "X-Content-Type-Options", "X-Request-Id", "Cache-Control"),
    *("Content-Encoding", "X-Ratelimit-Remaining", "Ratelimit"),
}
"""The headers that HTTP adds, and the headers with counters."""


def typed_in(seen: Seen) -> dict[str, str]:
    """Return the values in the form of the page."""
    form = seen.text[seen.text.rindex('method="post" action="/try/') :]
    inputs = re.findall(r'<input[^>]*? name="([^"]+)"[^>]*? value="([^"]*)"', form)
    areas = re.findall(r'<textarea[^>]*? name="([^"]+)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL)
    typed = {name: html.unescape(value) for name, value in (*reversed(inputs), *areas)}
    return {**typed, "as": "me"}


async def send(visitor: Visitor, path: str, company: int | str = 1, **fields: str) -> Seen:
    """Open the form and send it, with these fields instead of the initial values."""
    shown = await visitor.get(f"{path}?company={company}" if company else path)
    assert shown.status == 200, shown.text
    named = {name.replace("__", "-"): value for name, value in fields.items()}
    return await visitor.post(path, {**typed_in(shown), **named})


def answered(seen: Seen) -> tuple[int, dict[str, str], Any]:
    """Return the displayed status, headers and body."""
    status = re.search(r'<h2 id="answer"><span class="\w+">(\d+)</span>', seen.text)
    assert status, text_of(seen.text)
    shown = seen.text[status.start() : seen.text.index("The same with curl")]
    headers = {name.title(): text_of(value) for name, value in re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", shown)}
    body = re.search(r'id="answer-body">(.*?)</code>', shown, re.DOTALL)
    is_whole = body is not None and "Only the beginning of the answer is shown." not in shown
    return int(status[1]), headers, json.loads(html.unescape(body[1])) if body and is_whole else None


async def codes(world: World) -> list[str]:
    return [each["code"] for each in (await world.send("GET", "/api/articles")).body["data"]]
