"""The address at which people open the server."""

from urllib.parse import urlsplit

from wmsd.host.listen_sockets import EVERY_IPV4, EVERY_IPV6, place_of
from wmsd.host.tls.machine_names import lan_address
from wmsd.interfaces.cli.kit.command_line import CommandLine, note
from wmsd.interfaces.cli.kit.exposure_warnings import is_loopback


def address_for_people(address: str, listen: str) -> str:
    """Return the address for people: the machine's address in the LAN if the server listens on all networks."""
    host, _ = place_of(listen)
    if host not in (EVERY_IPV4, EVERY_IPV6):
        return address
    lan = lan_address(has_ipv6=host == EVERY_IPV6)
    scheme, port = address.partition("://")[0], address.rpartition(":")[2]
    return address if lan is None else f"{scheme}://{f'[{lan}]' if ':' in str(lan) else lan}:{port}"


def address_of_links(command_line: CommandLine) -> str:
    """Return the address for links, such as `https://wms.example.com`.

    It is the first of these that exists: `server.public_url`, the address of the running server, or the address
    that follows from `server.listen`. If no server runs, print a note that says so.
    """
    server, settings = command_line.folder.server(), command_line.settings.server
    if server is None:
        note("No server is running. The link works while a server runs.")
    if settings.public_url:
        return settings.public_url
    if server is not None and server.address:
        return server.address
    listen = settings.listen if server is None else server.listen
    return address_for_people(f"{'https' if settings.has_tls else 'http'}://{listen}", settings.listen)


def is_of_this_machine(address: str) -> bool:
    """Return True if the address can be opened on this machine only."""
    return is_loopback(urlsplit(address).hostname or "")
