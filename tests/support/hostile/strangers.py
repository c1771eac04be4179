"""Attacks that need no token, each as often as the default limits allow one address."""

import asyncio
import random
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from tests.support.hostile.scene import Scene, Stranger, as_json, request

GARBAGE: Final = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)),
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nBad Header: \x00\r\n\r\n",
    b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: y\r\n" % place for place in range(500)) + b"\r\n",
    b"POST /api/auth/token HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nExpect: \x80\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
)
OFTEN: Final = ("the", "a", "is", "company", "order", "wh", "st", "pa", "token", "in", "server", "re", "e-mail")
ADDRESSES: Final = (
    "/docs/api",
    "/openapi.json",
    "/api/v2/openapi.json",
    "/api/graphql/schema",
    "/docs/webhooks",
    "/docs/" + "a" * 400,
    "/api/a%0aX",
    "/api/%1b%5b31mred",
    "/api/../../etc/passwd",
    "/first-admin?code=" + "x" * 500,
    "/api/health",
    "/api/v2/meta",
)
FORM: Final = b'--x\r\nContent-Disposition: form-data; name="code"\r\n\r\n' + b"a" * 100_000 + b"\r\n--x--\r\n"


async def sign_in_with_many_errors(scene: Scene, address: str, rounds: Iterator[int]) -> None:
    bodies = (
        b'{"abilities":[' + b",".join([b"NaN"] * 4_000) + b"]}",
        b'{"abilities":[' + b",".join([b"NaN"] * 260_000) + b"]}",
        b"{" + b",".join(b'"a%d":1' % place for place in range(1_500)) + b"}",
        b"[" * 15_000,
    )
    await scene.ask("sign-in, errors", address, "POST", "/api/auth/token", bodies[next(rounds) % len(bodies)])


async def guess(scene: Scene, address: str, rounds: Iterator[int]) -> None:
    number = next(rounds)
    email = scene.victim if number % 2 else f"nobody{random.randrange(10**9)}@example.com"
    body = as_json({"email": email, "password": f"guess {number}", "abilities": ["*"]})
    await scene.ask("sign-in, guesses", address, "POST", "/api/auth/token", body)


async def ask_for_what_is_open(scene: Scene, address: str, rounds: Iterator[int]) -> None:
    number = next(rounds)
    path = ADDRESSES[number % len(ADDRESSES)]
    await scene.ask("open addresses", address, "GET", path, headers={"X-Company-Id": "1 user=7 admin"})
    if number % 7 == 0:
        headers = {"Content-Type": "multipart/form-data; boundary=x", "Content-Length": str(len(FORM))}
        await scene.ask("first admin, multipart", address, "POST", "/first-admin", FORM, headers)


async def search_the_guide(scene: Scene, address: str, rounds: Iterator[int]) -> None:
    """Search for common words, never the same words twice."""
    words = " ".join(random.choice(OFTEN) for _ in range(8))
    path = ("/docs/search", "/docs/api")[next(rounds) % 2]
    query = f"{words} {random.randrange(10**9)}".replace(" ", "+")
    await scene.ask("guide", address, "GET", f"{path}?q={query}")


async def leave_the_answer(scene: Scene, address: str, rounds: Iterator[int]) -> None:
    """Send many requests over one connection, and read no answer."""
    async with scene.connected(address) as (_, writer):
        writer.write(request("GET", "/openapi.json", headers={"Connection": "keep-alive"}) * 20)
        scene.answers["unread answers", "sent"] += 20
        await scene.pause(30)


async def forge_tokens(scene: Scene, address: str, rounds: Iterator[int]) -> None:
    number = next(rounds)
    token = random.choice(("x" * 4000, "eyJhbGciOiJub25lIn0.e30.", "a.b.c", f"{number}" * 50))
    path = random.choice(("/api/articles", "/api/graphql", "/api/v2/batch", "/api/kernel/v1/stats"))
    body = b'{"requests":[' + b",".join([b"NaN"] * 50_000) + b"]}" if number % 5 == 0 else b""
    await scene.ask(
        "forged tokens", address, "POST" if body else "GET", path, body, {"Authorization": f"Bearer {token}"}
    )


async def hold_half_a_head(scene: Scene, address: str, rounds: Iterator[int]) -> None:
    async with scene.connected(address) as (reader, writer):
        scene.answers["half heads", "opened"] += 1
        for byte in b"GET /api/articles HTTP/1.1\r\nHost: x\r\nX-Slow: " + b"y" * 60:
            writer.write(bytes([byte]))
            await writer.drain()
            await scene.pause(1)
            if reader.at_eof() or scene.is_over:
                return


async def hold_half_a_body(scene: Scene, address: str, rounds: Iterator[int]) -> None:
    headers = {"Content-Type": "application/json", "Content-Length": "9999"}
    head = request("POST", "/api/auth/token", headers=headers) + b"{"
    async with scene.connected(address) as (reader, writer):
        writer.write(head)
        scene.answers["half bodies", "opened"] += 1
        for _ in range(120):
            writer.write(b" ")
            await writer.drain()
            await scene.pause(1)
            if reader.at_eof() or scene.is_over:
                return


async def hoard(scene: Scene, address: str, rounds: Iterator[int]) -> None:
    """Open silent connections: as many as one address may have, and more."""
    opened = []
    try:
        for _ in range(40):
            opened.append(await asyncio.open_connection("127.0.0.1", scene.port, local_addr=(address, 0)))
        scene.answers["silent connections", "opened"] += len(opened)
        await scene.pause(15)
    finally:
        for _, writer in opened:
            writer.close()


async def talk_garbage(scene: Scene, address: str, rounds: Iterator[int]) -> None:
    async with scene.connected(address) as (reader, writer):
        writer.write(GARBAGE[next(rounds) % len(GARBAGE)])
        scene.answers["garbage", "sent"] += 1
        async with asyncio.timeout(5):
            await reader.read(1000)


class Attack(NamedTuple):
    run: Stranger
    per_minute: float


ATTACKS: Final[Mapping[str, Attack]] = {
    "sign-in with many errors": Attack(sign_in_with_many_errors, 5),
    "guesses": Attack(guess, 5),
    "open addresses": Attack(ask_for_what_is_open, 100),
    "guide": Attack(search_the_guide, 110),
    "unread answers": Attack(leave_the_answer, 2),
    "forged tokens": Attack(forge_tokens, 110),
    "half heads": Attack(hold_half_a_head, 10),
    "half bodies": Attack(hold_half_a_body, 10),
    "silent connections": Attack(hoard, 4),
    "garbage": Attack(talk_garbage, 60),
}
