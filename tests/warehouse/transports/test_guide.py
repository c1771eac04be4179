"""The guide's page on transports: its requests work as printed."""

import json
import re
import shlex
from datetime import timedelta
from pathlib import Path

from tests.support.planner import Planner
from wmsd import docs


async def test_the_requests_of_the_guide_do_what_it_says(planner: Planner) -> None:
    """The requests run as printed, one after the other."""
    for _ in range(2):
        await planner.shop.order(status="IN_LUCRU")
    guide = (Path(docs.__file__).parent / "transports.md").read_text(encoding="utf-8")
    lines = "\n".join(re.findall(r"^```\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)).replace("\\\n", " ")
    requests = re.findall(r"^curl [^\n']*(?:'[^']*')?", lines, re.MULTILINE)
    planner.world.clock.advance(timedelta(hours=6).total_seconds())
    answers = []
    for request in requests:
        words = shlex.split(request)
        address = next(word for word in words if word.startswith("http://127.0.0.1:8480/api/"))
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        body = json.loads(words[words.index("-d") + 1]) if "-d" in words else None
        assert words[words.index("-H") + 1] == "Authorization: Bearer $SITE_TOKEN"
        path = address.removeprefix("http://127.0.0.1:8480")
        answers.append(await planner.world.send(method, path, body, token=planner.token, company=""))
    assert [answer.status for answer in answers] == [200, 201, 200, 200]
    assert [answer.body["status"] for answer in answers[1:]] == ["CREAT", "INCARCAT", "LIVRAT"]
    assert await planner.packaging() == {("EUR", 1): 1}
    await planner.is_right()
