"""Answers to plain HTTP on the HTTPS port. The first byte shows whether a client speaks TLS or plain HTTP.

Requests for pages are redirected to HTTPS. All other requests are refused, such as those of the API. A program may
have sent its token unencrypted, so the answer must not look like success.
"""

import asyncio
import re
import socket
from contextlib import suppress
from typing import Final

HANDSHAKE: Final = b"\x16"
"""The first byte of TLS: the content type of a handshake (RFC 8446, section 5.1)."""
MOST_READ: Final = 16 * 1024
LINGERING_SECONDS: Final = 1.0
"""The seconds in which wmsd reads what the client still sends, before it closes the socket.

If a socket is closed with unread data, the system discards the answer.
"""
PAGE: Final = re.compile(rb"(?:GET|HEAD) (/(?!api[/? ]|openapi\.json)[!-~]*) HTTP/1\.[01]\r\n")
HOST: Final = re.compile(rb"(?i)\r\nhost:[ \t]*([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?[ \t]*\r\n")
SENTENCE: Final = (
    b"This port speaks https, and this was plain http: nothing was done. Begin the address with https://.\n"
)
ANSWER: Final = (
    b"HTTP/1.1 %s\r\nServer: wmsd\r\n%sContent-Type: text/plain\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%s"
)


async def speaks_tls(opened: socket.socket) -> bool:
    """Wait for the client's first byte. Return True if it starts a TLS handshake. The byte stays in the socket.

    Return False if the client leaves without sending anything.
    """
    loop = asyncio.get_running_loop()
    has_come = asyncio.Event()
    loop.add_reader(opened, has_come.set)
    try:
        await has_come.wait()
    finally:
        loop.remove_reader(opened)
    return opened.recv(1, socket.MSG_PEEK) == HANDSHAKE


async def refuse_plain_http(opened: socket.socket) -> None:
    """Answer the data that has arrived so far, and close the socket. Raise OSError if the client has left."""
    loop = asyncio.get_running_loop()
    try:
        if head := await loop.sock_recv(opened, MOST_READ):
            await loop.sock_sendall(opened, answer(head))
            opened.shutdown(socket.SHUT_WR)
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGERING_SECONDS):
                    while await loop.sock_recv(opened, MOST_READ):
                        pass
    finally:
        opened.close()


def answer(head: bytes) -> bytes:
    """Return the answer to a plain HTTP request with this head: a redirect for a page, or else an error."""
    page, host = PAGE.match(head), HOST.search(head)
    if page is None or host is None:
        return _written(b"400 Bad Request", b"")
    address = b"https://" + host[1] + (host[2] or b"") + page[1]
    return _written(b"307 Temporary Redirect", b"Location: %s\r\n" % address)


def _written(status: bytes, headers: bytes) -> bytes:
    return ANSWER % (status, headers, len(SENTENCE), SENTENCE)
