"""Answers whose body is complete: head and body are sent together."""

from typing import Final

from wmsd.interfaces.http.aiohttp_web import AbstractStreamWriter, HttpVersion11, rfc822_formatted_time, web

NO_CONTENT: Final = 204
UNCHANGED: Final = 304


class Answer(web.Response):
    """An answer that writes its head and body itself. This is faster than aiohttp, which also handles cookies,
    compression and closing connections.

    If an answer needs one of these, aiohttp sends it.
    """

    is_sent = False

    @property
    def keep_alive(self) -> bool | None:
        return True if self.is_sent else super().keep_alive

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        body = self.body
        if not isinstance(body, bytes) or not self._is_plain(request):
            return await super().prepare(request)
        headers, writer = self.headers, request.writer
        if self.status != UNCHANGED:
            headers["Content-Length"] = str(len(body))
        headers["Date"] = rfc822_formatted_time()
        await writer.write_headers(f"HTTP/1.1 {self.status} {self.reason}", headers)
        await writer.write_eof(body)
        self.is_sent = True
        return writer

    async def write_eof(self, data: bytes = b"") -> None:
        if not self.is_sent:
            await super().write_eof(data)

    def _is_plain(self, request: web.BaseRequest) -> bool:
        return (
            request.version == HttpVersion11
            and request.keep_alive
            and self.keep_alive is not False
            and request.method != "HEAD"
            and self.status != NO_CONTENT
            and not self.compression
            and not self.cookies
        )
