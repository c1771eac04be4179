"""Receives a form with a file, part by part.

The file is written to the disk while it arrives, so it is never completely in memory. A small file may be kept in
memory instead.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from dataclasses import field
from pathlib import Path
from typing import IO, Final, TypeVar

from aiohttp import BodyPartReader

from wmsd.base.dataclass import dataclass
from wmsd.base.machine.disk import disk_of
from wmsd.base.machine.private_files import new_private
from wmsd.base.problems import Problem, unavailable
from wmsd.imports.upload_jobs import NO_ROOM
from wmsd.interfaces.http import requests
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.body_waits import waiting_for_body
from wmsd.interfaces.http.connections import Stopping
from wmsd.interfaces.pages.kit import browser as browsers
from wmsd.interfaces.pages.kit.browser import FORM_TOKEN, Browser

Result = TypeVar("Result")
FILE: Final = "file"
MOST_PARTS: Final = 20
LONGEST_FIELD: Final = 2000
LONGEST_NAME: Final = 200
BLOCK: Final = 64 * 1024
WRITTEN_AT_ONCE: Final = 1024 * 1024


@dataclass(slots=True)
class Sent:
    """The fields of a form, and the data of the file that was sent with it.

    `bytes` is the size of the file in bytes. It is 0 if the file is empty or missing.
    """

    fields: dict[str, str] = field(default_factory=dict)
    file_name: str = ""
    bytes: int = 0
    content: bytearray = field(default_factory=bytearray)
    """The content of the file, if it is kept in memory."""


async def receive_upload(browser: Browser, target: Path | None, most: int, too_large: str) -> Sent:
    """Receive a form with a file. Write the file to `target`, or keep it in memory if `target` is None.

    A page of this site must have sent the form in this session. If the file has more than `most` bytes, the error
    message is `too_large`. Raise Problem (403, 415, 413, 408, 400, 503) or OSError if the form cannot be received.
    """
    browsers.check_origin(browser)
    request = browser.request
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise requests.malformed(415, "Compressed forms are not accepted. Send the form uncompressed.")
    if request.content_type == "application/x-www-form-urlencoded":
        await browsers.form(browser)  # a form of another session is refused first
    if request.content_type != "multipart/form-data":
        raise requests.malformed(415, "Send the form of this page from a browser.")
    if (request.content_length or 0) > most + BLOCK:
        raise requests.malformed(413, too_large)
    is_whole = False
    try:
        sent = await _Receiving(request, browser, target, most, too_large).run()
        is_whole = True
    except (Problem, OSError):
        raise
    except Exception:  # a damaged form may raise any error in the reader of its parts
        raise requests.malformed(400, "The form cannot be read; send it again.") from None
    finally:
        if not is_whole and target is not None:
            await asyncio.to_thread(target.unlink, missing_ok=True)
    return sent


class _Receiving:
    def __init__(
        self, request: web.Request, browser: Browser, target: Path | None, most: int, too_large: str
    ) -> None:
        self._request, self._browser, self._target, self._most = request, browser, target, most
        self._sentence = too_large
        self._until = asyncio.get_running_loop().time() + requests.BODY_SECONDS
        self._sent = Sent()
        self._is_own = False

    async def run(self) -> Sent:
        reader = await self._request.multipart()
        for _ in range(MOST_PARTS):
            part = await self._wait(reader.next())
            if part is None:
                break
            if not isinstance(part, BodyPartReader) or not part.name:
                raise ValueError("a part is no field")
            if part.name == FILE:
                await self._take_file(part)
            else:
                await self._take_field(part, part.name)
        if not self._is_own:
            browsers.check_token(self._browser, "")
        return self._sent

    async def _take_field(self, part: BodyPartReader, name: str) -> None:
        content = b""
        while chunk := await self._wait(part.read_chunk(BLOCK)):
            content += chunk
            if len(content) > LONGEST_FIELD:
                raise ValueError("a field is too long")
        text = content.decode()
        if name == FORM_TOKEN:
            browsers.check_token(self._browser, text)
            self._is_own = True
        else:
            self._sent.fields[name] = text

    async def _take_file(self, part: BodyPartReader) -> None:
        """Receive the file. Write it to the target, or keep it in memory.

        Raise Problem (403) if the form's token has not arrived before the file. A form without the token may come
        from another site, so nothing is written.
        """
        if not self._is_own:
            browsers.check_token(self._browser, "")
        self._sent.file_name = _name(part.filename)
        if self._target is None:
            async for chunk in self._chunks(part):
                self._sent.content += chunk
            return
        with new_private(self._target) as file:
            waiting: list[bytes] = []
            held = 0
            async for chunk in self._chunks(part):
                waiting.append(chunk)
                held += len(chunk)
                if held >= WRITTEN_AT_ONCE:
                    await asyncio.to_thread(self._write, file, self._target.parent, waiting)
                    waiting, held = [], 0
            await asyncio.to_thread(self._write, file, self._target.parent, waiting)

    async def _chunks(self, part: BodyPartReader) -> AsyncIterator[bytes]:
        """Yield the chunks of the file. Raise Problem (413) if the file is too large."""
        while chunk := await self._wait(part.read_chunk(BLOCK)):
            self._sent.bytes += len(chunk)
            if self._sent.bytes > self._most:
                raise requests.malformed(413, self._sentence)
            yield chunk

    def _write(self, file: IO[bytes], folder: Path, chunks: list[bytes]) -> None:
        """Write the chunks to `file`, if `folder` has enough free disk space.

        Each call checks the space again, because other files may arrive at the same time. Raise Problem (503) if
        there is not enough space, or OSError if a chunk cannot be written.
        """
        disk = disk_of(folder)
        if disk.free < disk.refused_below + sum(map(len, chunks)):
            raise unavailable(NO_ROOM, 30)
        file.writelines(chunks)

    async def _wait(self, reading: Awaitable[Result]) -> Result:
        """Wait until `reading` has received the next part of the form. Return the result of `reading`.

        Raise Problem if the form arrives too slowly (408), or if the server stops (503).
        """
        try:
            async with waiting_for_body(self._request, self._until):
                found = await reading
        except Stopping:
            raise unavailable("The server is stopping. Send the file again when the server is back.") from None
        except TimeoutError:
            message = "The file did not arrive in time; send it again."
            raise Problem("REQUEST_TIMEOUT", message, headers={"Connection": "close"}) from None
        if isinstance(found, bytes | bytearray):
            self._until += len(found) / requests.LEAST_BYTES_A_SECOND
        return found


def _name(sent: str | None) -> str:
    """Return the file name without folders and invisible characters, or `file.csv` if nothing is left."""
    last = (sent or "").replace("\\", "/").rpartition("/")[2]
    shown = "".join(each for each in last if each.isprintable())
    return shown[:LONGEST_NAME] or "file.csv"
