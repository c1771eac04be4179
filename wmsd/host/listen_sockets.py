"""The sockets on which the service listens. A start makes them, and so does who only tries whether it could."""

import socket
from contextlib import ExitStack
from typing import Final

BACKLOG: Final = 4096
"""The connections that the system holds until they are accepted, unless it has a lower bound (net.core.somaxconn).
The client of one more tries again after a second.
"""


EVERY_IPV4: Final = "0.0.0.0"  # noqa: S104  (what people ask for)
EVERY_IPV6: Final = "::"


def place_of(listen: str) -> tuple[str, int]:
    """Host and port of a setting, HOST:PORT. `::` is written so, however the setting writes it."""
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    return EVERY_IPV6 if ":" in host and not host.strip(":0") else host, int(port)


def try_listening(listen: str) -> None:
    """Raises OSError or UnicodeError as `listeners` would."""
    for each in listeners(*place_of(listen)):
        each.close()


def listeners(host: str, port: int) -> list[socket.socket]:
    """A listener for each address of the host. Raises OSError or UnicodeError when one of them cannot be used.

    `::` stands for every address of the machine, also those of IPv4. They have a listener of their own: one for
    both would show callers with addresses of IPv6 that no setting, such as server.trusted_proxies, names.
    """
    made: list[socket.socket] = []
    with ExitStack() as closing:
        for each in (EVERY_IPV6, EVERY_IPV4) if host == EVERY_IPV6 else (host or None,):
            free = made[0].getsockname()[1] if made and not port else port
            found = socket.getaddrinfo(each, free, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            for family, _, _, _, address in found:
                listener = closing.enter_context(socket.create_server(address, family=family, backlog=BACKLOG))
                listener.setblocking(False)
                made.append(listener)
        closing.pop_all()
    return made
