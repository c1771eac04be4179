"""The requests of open browsers: `python -m benchmarks.browsers PORT live|today COOKIE...`

Each cookie is a session with an event stream. With `today`, each session loads the page Today again after an event
reports a change, as the live pages do. The program ends when its standard input is closed.
"""

import asyncio
import sys
from typing import Final

from benchmarks.processes import HOST

BETWEEN_SECONDS: Final = 1.0
"""The shortest time between two loads of a page, in seconds."""


async def browse(port: int, cookie: str, has_page: bool, begun: asyncio.Event) -> None:
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(_request(port, "/live", cookie))
    assert b" 200 " in await reader.readline()
    changed, looking = asyncio.Event(), None
    if has_page:
        looking = asyncio.ensure_future(look(port, cookie, changed))
    while line := await reader.readline():
        if line.startswith(b"data: "):
            begun.set()
            changed.set()
    if looking is not None:
        looking.cancel()


async def look(port: int, cookie: str, changed: asyncio.Event) -> None:
    reader, writer = await asyncio.open_connection(HOST, port)
    while True:
        await changed.wait()
        changed.clear()
        writer.write(_request(port, "/today", cookie))
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head.partition(b"\r\n")[0], head
        length = next(each for each in head.lower().split(b"\r\n") if each.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        await asyncio.sleep(BETWEEN_SECONDS)


def _request(port: int, path: str, cookie: str) -> bytes:
    lines = (f"GET {path} HTTP/1.1", f"Host: {HOST}:{port}", f"Cookie: {cookie}", "X-By-Itself: 1", "", "")
    return "\r\n".join(lines).encode()


async def main(port: int, kind: str, cookies: list[str]) -> None:
    begun = [asyncio.Event() for _ in cookies]
    browsing = [
        asyncio.ensure_future(browse(port, cookie, kind == "today", event))
        for cookie, event in zip(cookies, begun, strict=True)
    ]
    for event in begun:
        await event.wait()
    print("begun", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for each in browsing:
        if each.done():
            each.result()
            raise SystemExit("An event stream has ended.")
        each.cancel()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
