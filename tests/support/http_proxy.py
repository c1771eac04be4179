"""An HTTP proxy that connects every name to this machine."""

import asyncio
from contextlib import closing, suppress
from dataclasses import dataclass, field


@dataclass
class Proxy:
    """A proxy, used with `async with`. If `refusal` is set, every request is answered with this status."""

    refusal: str = ""
    asked: list[str] = field(default_factory=list)
    """The first line of each request."""

    async def __aenter__(self) -> "Proxy":
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(asyncio.ensure_future(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            await self._lead(reader, writer)

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        line = head.partition(b"\r\n")[0].decode()
        self.asked.append(line)
        method, target, _ = line.split(" ")
        if self.refusal:
            writer.write(f"HTTP/1.1 {self.refusal}\r\nContent-Length: 0\r\n\r\n".encode())
            return
        place = target.removeprefix("http://").partition("/")[0]
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", int(place.rpartition(":")[2]))
        with closing(far_writer):
            if method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                far_writer.write(head.replace(f"http://{place}".encode(), b"", 1))
            await asyncio.gather(_pipe(reader, far_writer), _pipe(far_reader, writer))


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
    writer.close()
