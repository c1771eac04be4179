"""The sockets on which the service listens. A start makes them, and so does who only tries whether it could."""

import socket
from typing import Any, Final

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
    try:
        for family, _, _, _, address in found:
            made.append(_listener(family, address))
    except OSError:
        for each in made:
            each.close()
        raise
    return made


def _listener(family: int, address: Any) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener
