"""The example programs of the guide do what the guide says, each time they run, and wherever a reply breaks
off.
"""

import asyncio
import os
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.programs import program
from tests.support.raw_http import RESET_WHEN_CLOSED
from tests.support.world import World
from wmsd import docs
from wmsd.installation import demo

GUIDE = (Path(docs.__file__).parent / "examples.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"```(\w+)\n(.*?)```", GUIDE, re.DOTALL))
RUN = {
    "bash": ("bash", "example.sh"),
    "javascript": ("node", "example.mjs"),
    "python": ("python3", "example.py"),
    "php": ("php", "example.php"),
}
AT_ONCE = {language: re.sub(r"2 ?\*\* ?\$?attempt", "0", text) for language, text in PROGRAMS.items()}
"""The same programs, but without a wait before they try again."""
ASKING = {
    "bash": "for i in $(seq TIMES); do ask $WMSD_URL -H 'Idempotency-Key: k' -d '{}'; cat answer.json; done",
    "javascript": "for (let i = 0; i < TIMES; i++) console.log(JSON.stringify(await ask('POST', '/x', {}, 'k')));",
    "python": "for _ in range(TIMES): print(json.dumps(ask('POST', '/x', {}, 'k')))",
    "php": "for ($i = 0; $i < TIMES; $i++) echo json_encode(ask('POST', '/x', ['a' => 1], 'k'));",
}
"""The code that replaces the requests of each program."""
BEGIN = re.compile(r"^(const order|order|\$order|ask) ?[=\"].*", re.MULTILINE | re.DOTALL)
CREATED = b'{"code":"SO-1"}'
HEAD = b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"
ANSWERS = {
    "of a length": b"%sContent-Length: %d\r\n\r\n%s" % (HEAD, len(CREATED), CREATED),
    "in chunks": b"%sTransfer-Encoding: chunked\r\n\r\n6\r\n%s\r\n9\r\n%s\r\n0\r\n\r\n"
    % (HEAD, CREATED[:6], CREATED[6:]),
}
PATIENCE = 60


def test_there_is_one_in_each_language() -> None:
    assert PROGRAMS.keys() == RUN.keys()


@pytest.fixture
async def demo_world(world: World) -> World:
    """Load the demo's company and its token, with which a reader first tries the guide."""
    loaded = await demo.load(world.installation)
    world.company, world.token = loaded.company_id, loaded.token
    return world


@pytest.mark.parametrize("language", RUN)
async def test_it_makes_one_order_and_reads_on_where_it_was(
    demo_world: World, tmp_path: Path, language: str
) -> None:
    first = await run(demo_world, tmp_path, language)
    (order,) = await orders_of_the_example(demo_world)
    assert order["ship_to"]["city"] == "Cluj-Napoca"
    assert order["code"] in first
    shown = [line for line in first.splitlines() if line.startswith("sales_order.created")]
    assert shown[-1:] == ([] if language == "bash" else [f"sales_order.created {order['id']}"])
    before = (tmp_path / "place.txt").read_text().strip()
    await demo_world.send("PATCH", f"/api/sales-orders/{order['id']}", {"notes": "changed"})
    again = await run(demo_world, tmp_path, language)
    assert len(await orders_of_the_example(demo_world)) == 1
    if language != "bash":
        assert again.splitlines()[1:] == [f"sales_order.updated {order['id']}"]
    place = (tmp_path / "place.txt").read_text().strip()
    assert place != before
    rest = (await demo_world.call("GET", f"/api/v2/events?cursor={place}")).body
    assert (rest["data"], rest["next_cursor"]) == ([], None)


@pytest.mark.parametrize("language", RUN)
async def test_a_refusal_is_told_and_fails(demo_world: World, tmp_path: Path, language: str) -> None:
    wrong = PROGRAMS[language].replace("85123A", "NONE-1")
    assert wrong != PROGRAMS[language]
    code, written, complaints = await run_program(
        demo_world.base_url, demo_world.token, demo_world.company, tmp_path, language, wrong
    )
    assert code != 0
    assert "lines.0.article_code" in written + complaints
    assert not (tmp_path / "place.txt").exists()


@pytest.mark.parametrize("framing", ANSWERS)
@pytest.mark.parametrize("language", RUN)
async def test_it_asks_again_with_its_key_wherever_the_answer_breaks_off(
    tmp_path: Path, language: str, framing: str
) -> None:
    answer = ANSWERS[framing]
    # the head is the same for all framings, so only one framing cuts it
    places = range(0 if framing == "of a length" else len(HEAD), len(answer))
    asked: list[bytes] = []

    async def again(request: bytes) -> bytes:
        asked.append(request)
        return answer

    cuts = [cut for place in places for cut in (place, None)]
    text = BEGIN.sub(lambda _: ASKING[language].replace("TIMES", str(len(places))), AT_ONCE[language])
    async with breaking_off(again, cuts) as url:
        code, written, complaints = await run_program(url, "", 0, tmp_path, language, text)
    assert (code, "".join(written.split())) == (0, CREATED.decode() * len(places)), complaints
    assert len(asked) > 1.5 * len(places)
    assert all(re.search(rb"(?i)\r\nIdempotency-Key: k\r\n", each) for each in asked)
    assert len({each.partition(b"\r\n\r\n")[2] for each in asked}) == 1


@pytest.mark.parametrize("language", RUN)
async def test_it_makes_one_order_however_often_its_answer_is_lost(
    demo_world: World, tmp_path: Path, language: str
) -> None:
    async with breaking_off(partial(passed_on, demo_world), [0, 40, 700, None, 0, 40, 700]) as url:
        code, written, _ = await run_program(
            url, demo_world.token, demo_world.company, tmp_path, language, AT_ONCE[language]
        )
    assert code == 0
    (order,) = await orders_of_the_example(demo_world)
    assert order["code"] in written
    assert (tmp_path / "place.txt").read_text().strip()


@pytest.mark.parametrize("language", RUN)
async def test_the_page_of_a_proxy_is_told_as_it_is(tmp_path: Path, language: str) -> None:
    page = b"<html><h1>Too large \xe9</h1></html>"
    head = b"HTTP/1.1 413 Content Too Large\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"

    async def refuse(request: bytes) -> bytes:
        return head % len(page) + page

    async with breaking_off(refuse, []) as url:
        code, written, complaints = await run_program(url, "", 0, tmp_path, language, PROGRAMS[language])
    assert code != 0
    assert written == ""
    assert "413" in complaints
    assert "<h1>Too large" in complaints
    assert "Traceback" not in complaints


@asynccontextmanager
async def breaking_off(
    answer: Callable[[bytes], Awaitable[bytes]], cuts: Iterable[int | None]
) -> AsyncIterator[str]:
    """Yield an address whose replies are cut after the given numbers of bytes, one after the other. A cut of None,
    and replies after the last cut, are complete. The connection is closed, or reset at every other byte.
    """
    cutting = iter(cuts)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(EOFError):
            head = await reader.readuntil(b"\r\n\r\n")
            sent = re.search(rb"(?i)\r\nContent-Length: (\d+)", head)
            body = await reader.readexactly(int(sent[1]) if sent else 0)
            cut = next(cutting, None)
            writer.write((await answer(head + body))[:cut])
            await writer.drain()
            if cut is not None and cut % 2:
                opened = writer.get_extra_info("socket")
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_WHEN_CLOSED)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def passed_on(world: World, request: bytes) -> bytes:
    """Return the complete reply of wmsd."""
    reader, writer = await asyncio.open_connection("127.0.0.1", world.caller.port)
    line, rest = request.split(b"\r\n", 1)
    writer.write(line + b"\r\nConnection: close\r\n" + re.sub(rb"(?i)connection: .*\r\n", b"", rest, count=1))
    answer = await reader.read()
    writer.close()
    return answer


async def orders_of_the_example(world: World) -> list[dict[str, Any]]:
    """Return the orders of the example, without those of the demo."""
    orders = (await world.call("GET", "/api/sales-orders?per_page=100")).body["data"]
    return [each for each in orders if (each["external_ref"] or "").startswith("shop-")]


async def run(world: World, folder: Path, language: str) -> str:
    code, written, complaints = await run_program(
        world.base_url, world.token, world.company, folder, language, PROGRAMS[language]
    )
    assert (code, complaints) == (0, "")
    return written


async def run_program(
    url: str, token: str, company: int, folder: Path, language: str, text: str
) -> tuple[int | None, str, str]:
    """Run the program, and return its exit code, its output and its error output."""
    interpreter, name = RUN[language]
    (folder / name).write_text(text, encoding="utf-8")
    named = {"WMSD_URL": url, "WMSD_TOKEN": token, "WMSD_COMPANY": str(company)}
    running = await asyncio.create_subprocess_exec(
        program(interpreter),
        name,
        cwd=folder,
        env={**os.environ, **named},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    written, complaints = await asyncio.wait_for(running.communicate(), PATIENCE)
    return running.returncode, written.decode(), complaints.decode(errors="replace")
