"""Receivers of webhooks that do not work: a quarter each hang, refuse, answer 500, and reset.

    python -m benchmarks.dead_receivers PORT COUNT

GET / of PORT returns their ports. The sender treats each port as a separate host.
"""

import asyncio
import json
import socket
import struct
import sys
from collections.abc import Awaitable, Callable

import uvloop

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
HOST = "127.0.0.1"
END_OF_HEAD = b"\r\n\r\n"
AT_ONCE = struct.pack("ii", 1, 0)
"""SO_LINGER with a time of 0 seconds, which makes a close reset the connection."""


async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(65_536):
        pass
    writer.close()


async def fail(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(END_OF_HEAD):
            lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            await reader.readexactly(int(lengths[0].partition(b":")[2]))
            writer.write(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\n\r\nSorry")
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    writer.close()


async def _listen(handler: Handler) -> int:
    server = await asyncio.start_server(handler, HOST, 0)
    port: int = server.sockets[0].getsockname()[1]
    await server.start_serving()
    SERVERS.append(server)
    return port


def _refuse() -> int:
    """Return a port that is bound, but not listening."""
    closed = socket.socket()
    closed.bind((HOST, 0))
    CLOSED.append(closed)
    port: int = closed.getsockname()[1]
    return port


SERVERS: list[asyncio.Server] = []
CLOSED: list[socket.socket] = []


async def _serve(port: int, count: int) -> None:
    ports: list[int] = []
    for _ in range(count // 4):
        ports += [await _listen(hang), _refuse(), await _listen(fail), await _listen(reset)]

    async def tell(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = json.dumps(ports).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        writer.close()

    teller = await asyncio.start_server(tell, HOST, port)
    await teller.serve_forever()


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1]), int(sys.argv[2])))
