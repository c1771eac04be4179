"""The curl command describes exactly the request, whatever characters the request contains."""

import shlex
from typing import Any

from tests.request_history.keeping import whole
from tests.support.world import World
from wmsd.request_history import curl

HERE = "http://wms.local:8480"


def arguments(request: dict[str, Any]) -> list[str]:
    """Split the curl command of a request into words, as the shell does."""
    return shlex.split(curl.line(request, HERE))


async def test_it_is_the_request(world: World) -> None:
    sent = {"Idempotency-Key": "it's-1"}
    answer = await world.send("POST", "/api/articles", {"code": "it's $HOME `id`", "name": "\u0219"}, headers=sent)
    assert arguments(whole(world, answer)) == [
        *("curl", "-X", "POST", f"{HERE}/api/articles"),
        *("-H", "Authorization: Bearer $TOKEN"),
        *("-H", "X-Company-Id: 1", "-H", "Content-Type: application/json", "-H", "Accept: */*"),
        *("-H", "Idempotency-Key: it's-1"),
        *("--data", '{"code": "it\'s $HOME `id`", "name": "\\u0219"}'),
    ]


async def test_only_the_token_is_left_to_the_shell(world: World) -> None:
    answer = await world.send("GET", "/api/articles?search=$(id)'%22;ls")
    line = curl.line(whole(world, answer), HERE)
    assert line.startswith("curl 'http://wms.local:8480/api/articles?search=$(id)'\"'\"'%22;ls' -H \"Auth")
    head = await world.send("HEAD", "/api/articles")
    assert arguments(whole(world, head))[:3] == ["curl", "--head", f"{HERE}/api/articles"]


async def test_a_body_that_is_not_kept_whole_comes_from_a_file(world: World) -> None:
    long = await world.send("POST", "/api/articles", {"code": "A", "description": "x" * 9000})
    broken = await world.send("POST", "/api/articles", raw=b'{"code": ')
    for answer in (long, broken):
        assert arguments(whole(world, answer))[-2:] == ["--data", "@body.json"]
