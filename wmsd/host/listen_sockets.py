"""Opens the sockets on which the service listens, and tests whether an address can be used."""

import socket
from contextlib import ExitStack
from typing import Final

BACKLOG: Final = 4096
"""The number of connections that may wait in the system until wmsd accepts them. The system may have a lower limit
(net.core.somaxconn). If there are more, the clients try again after a second.
"""


EVERY_IPV4: Final = "0.0.0.0"  # noqa: S104  (the value that users set)
EVERY_IPV6: Final = "::"


def place_of(listen: str) -> tuple[str, int]:
    """Return the host and the port of a setting in the form HOST:PORT. If the host is another spelling of `::`,
    return `::`.
    """
    host, _, port = listen.rpartition(":")
    host = host.strip("[]")
    return EVERY_IPV6 if ":" in host and not host.strip(":0") else host, int(port)


def try_listening(listen: str) -> None:
    """Check that the service can listen on this address. Raise the same errors as `listeners`."""
    for each in listeners(*place_of(listen)):
        each.close()


def listeners(host: str, port: int) -> list[socket.socket]:
    """Return a socket for each address of the host. Raise OSError or UnicodeError if an address cannot be used.

    `::` means every address of the machine, including IPv4. IPv4 has a separate socket. A shared socket shows IPv4
    callers with IPv6 addresses, which settings such as server.trusted_proxies do not contain.
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
