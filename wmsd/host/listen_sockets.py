"""The sockets on which the service listens. A start makes them, and so does who only tries whether it could."""

import socket
from contextlib import ExitStack
from typing import Final

BACKLOG: Final = 4096
"""The connections that the system holds until they are accepted, unless it has a lower bound (net.core.somaxconn).
The client of one more tries again after a second.
"""


def place_of(listen: str) -> tuple[str, int]:
    """Host and port of a setting, HOST:PORT."""
    host, _, port = listen.rpartition(":")
    return host.strip("[]"), int(port)


def try_listening(listen: str) -> None:
    """Raises OSError or UnicodeError as `listeners` would."""
    for each in listeners(*place_of(listen)):
        each.close()


def listeners(host: str, port: int) -> list[socket.socket]:
    """A listener for each address of the host. Raises OSError or UnicodeError when one of them cannot be used."""
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    made: list[socket.socket] = []
    with ExitStack() as closing:
        for family, _, _, _, address in found:
            listener = closing.enter_context(socket.create_server(address, family=family, backlog=BACKLOG))
            listener.setblocking(False)
            made.append(listener)
        closing.pop_all()
    return made
