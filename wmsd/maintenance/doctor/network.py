"""Findings about the network: whether a server can listen at its addresses, and which proxies it trusts."""

import errno
import http.client
import ipaddress
import json
import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from wmsd.base.client_addresses import networks
from wmsd.base.machine.private_files import user_name
from wmsd.contract.findings import FindingKind, Found
from wmsd.data_folder.folder import LOCK
from wmsd.host.listen_sockets import place_of, try_listening
from wmsd.maintenance.doctor.situation import Situation

PROCESSES: Final = Path("/proc")
TABLES: Final = ("/proc/net/tcp", "/proc/net/tcp6")
LISTENS: Final = "0A"
ANSWER_SECONDS: Final = 2.0
"""The timeout of each read of a response."""
LONGEST_SECONDS: Final = 5.0
"""The timeout of the whole response."""
LONGEST_ANSWER: Final = 65_536
WIDEST: Final = {4: 8, 6: 16}
"""The shortest allowed prefix of a trusted proxy's network, by IP version. A network with a shorter prefix is too
large: it belongs to several organisations.
"""
EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  (compared, not bound)
PROCESS: Final = "process {number} ({name})"
OF_ANOTHER_USER: Final = "a process of another user"
HIDDEN_FOLDER: Final = "a data folder of another user"

PORT_TAKEN: Final = FindingKind(
    "port-taken",
    "wrong",
    "Another program listens on {listen}: {process}.",
    "Stop that program, or choose another address in {setting}.",
    words=(PROCESS, OF_ANOTHER_USER),
)
PORT_SERVED: Final = FindingKind(
    "port-served",
    "wrong",
    "Another wmsd listens on {listen}: it serves {folder}.",
    "Stop that wmsd, or choose another address in {setting}.",
    words=(HIDDEN_FOLDER,),
)
PORT_OF_WMSD: Final = FindingKind(
    "port-of-wmsd",
    "warning",
    PORT_SERVED.says,
    "If you examine only a copy of the data, change nothing. Otherwise stop that wmsd, or choose another "
    "address in {setting}.",
    words=PORT_SERVED.words,
)
ADDRESS_UNKNOWN: Final = FindingKind(
    "address-unknown",
    "wrong",
    "wmsd cannot listen on {listen}: this machine has no such address.",
    "Set {setting} to an address of this machine; 0.0.0.0 means all its addresses.",
)
PORT_PRIVILEGED: Final = FindingKind(
    "port-forbidden",
    "wrong",
    "The user {user} may not listen on {listen}: ports below 1024 are reserved for root.",
    "Choose a higher port in {setting}, or give the service the capability CAP_NET_BIND_SERVICE.",
)
PROXY_EVERYBODY: Final = FindingKind(
    "proxy-everybody",
    "wrong",
    "server.trusted_proxies contains {network}: any client in this network can pretend to have any address.",
    "In server.trusted_proxies, list only the addresses of your proxies. Limits and the audit use the client "
    "addresses that these proxies report.",
)
PROXY_ELSEWHERE: Final = FindingKind(
    "proxy-elsewhere",
    "warning",
    "Only programs on this machine, such as a proxy, can reach {listen}, but server.trusted_proxies does not "
    "contain {loopback}.",
    "If a proxy forwards the requests, add {loopback} to server.trusted_proxies. Otherwise all clients of the "
    "proxy count as one address.",
)
KINDS: Final = (
    *(PORT_TAKEN, PORT_SERVED, PORT_OF_WMSD, ADDRESS_UNKNOWN, PORT_PRIVILEGED),
    *(PROXY_EVERYBODY, PROXY_ELSEWHERE),
)


def findings(at: Situation) -> Found:
    """Find problems of proxies and addresses.

    If another wmsd already uses the configured address, this is only a warning. The examined data may be a copy of
    the data of that running server.
    """
    yield from _proxies(at)
    if at.server is None:
        for found in _listening(at):
            yield replace(found, kind=PORT_OF_WMSD) if found.kind is PORT_SERVED else found


def findings_before_start(at: Situation) -> Found:
    yield from _proxies(at)
    yield from _listening(at)


def _proxies(at: Situation) -> Found:
    trusted = networks(at.settings.server.trusted_proxies)
    for network in trusted:
        if network.prefixlen < WIDEST[network.version]:
            yield PROXY_EVERYBODY.of(network=network)
    listen = at.settings.server.listen
    host, _ = place_of(listen)
    with suppress(ValueError):
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
        is_trusted = any(each.version == address.version and address in each for each in trusted)
        if trusted and address.is_loopback and not is_trusted:
            yield PROXY_ELSEWHERE.of(listen=listen, loopback=address)


def _listening(at: Situation) -> Found:
    """Find addresses where the server cannot listen.

    If the running server of this data folder uses an address, this is no problem. A new server would replace the
    running one.
    """
    for setting, listen in (
        ("server.listen", at.settings.server.listen),
        ("metrics.listen", at.settings.metrics.listen),
    ):
        failed = _failure(listen) if listen else 0
        if failed == errno.EADDRINUSE:
            yield from held_by(listen, setting, at.data)
        elif failed in (errno.EACCES, errno.EPERM):
            yield PORT_PRIVILEGED.of(listen=listen, setting=setting, user=user_name(at.user))
        elif failed:
            yield ADDRESS_UNKNOWN.of(listen=listen, setting=setting)


def _failure(listen: str) -> int:
    """Return the error number if a server cannot listen at this address, otherwise 0."""
    try:
        try_listening(listen)
    except (socket.gaierror, UnicodeError):
        return errno.EADDRNOTAVAIL
    except OSError as error:
        return error.errno or errno.EADDRNOTAVAIL
    return 0


def held_by(listen: str, setting: str, own: Path | None = None) -> Found:
    """Report which program listens at the occupied address `listen`. Report nothing if this program is the server
    of the data folder `own`.
    """
    host, port = place_of(listen)
    process = _process_at(port)
    folder = _served_by(process)
    if folder is not None and own is not None and folder == own.resolve():
        return
    if folder is not None or is_wmsd(host, port):
        yield PORT_SERVED.of(listen=listen, setting=setting, folder=folder or HIDDEN_FOLDER)
    else:
        yield PORT_TAKEN.of(listen=listen, setting=setting, process=_named(process))


def is_wmsd(host: str, port: int) -> bool:
    """Return True if the program that listens at this address of the machine responds like wmsd."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the server is on this machine
    place = EVERYWHERE.get(host, host)
    for connection in (
        http.client.HTTPConnection(place, port, timeout=ANSWER_SECONDS),
        http.client.HTTPSConnection(place, port, timeout=ANSWER_SECONDS, context=context),
    ):
        with suppress(OSError, ValueError, http.client.HTTPException), closing(connection):
            connection.connect()
            with _broken_off(connection):
                connection.request("GET", "/api/health")
                return _is_of_wmsd(connection.getresponse().read(LONGEST_ANSWER))
    return False


@contextmanager
def _broken_off(connection: http.client.HTTPConnection) -> Iterator[None]:
    """Close the connection after LONGEST_SECONDS.

    The timeout of the socket is not enough: a program that sends one byte from time to time never exceeds it.
    """
    timer = threading.Timer(LONGEST_SECONDS, _end, (connection.sock,))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _end(connected: socket.socket) -> None:
    with suppress(OSError):  # the other side has closed the connection
        connected.shutdown(socket.SHUT_RDWR)


def _is_of_wmsd(answer: bytes) -> bool:
    """Return True if the response comes from wmsd's health check. Another program may send anything."""
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        return False
    checks = found.get("checks") if isinstance(found, dict) else None
    return isinstance(checks, dict) and "job_queue" in checks


def _process_at(port: int) -> Path | None:
    """Return the folder in /proc of the process that listens on the port. Return None if no such process is found,
    for example because this user may not see it.
    """
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    processes = (each for each in PROCESSES.iterdir() if each.name.isdecimal())
    return next((each for each in processes if sockets.intersection(_opened(each))), None)


def _named(process: Path | None) -> str:
    with suppress(OSError):
        if process is not None:
            name = (process / "comm").read_text(encoding="utf-8").strip()
            return PROCESS.format(number=process.name, name=name)
    return OF_ANOTHER_USER


def _served_by(process: Path | None) -> Path | None:
    """Return the data folder that a process serves, or None if the process is no server of wmsd or its files
    cannot be seen. A server has the lock file of its folder open.

    `process` is the folder of the process in /proc, or None.
    """
    opened = () if process is None else map(Path, _opened(process))
    return next((each.parent for each in opened if each.name == LOCK), None)


def _inodes(port: int) -> set[str]:
    """Return the inodes of the sockets that listen on the port, proc_net(5)."""
    found: set[str] = set()
    for table in TABLES:
        with suppress(OSError):
            for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if fields[3] == LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    found.add(fields[9])
    return found


def _opened(process: Path) -> Iterator[str]:
    """Yield the files and sockets that a process has open."""
    with suppress(OSError), os.scandir(process / "fd") as all_opened:
        for opened in all_opened:
            with suppress(OSError):
                yield os.readlink(opened.path)  # noqa: PTH115  (a socket is no path)
