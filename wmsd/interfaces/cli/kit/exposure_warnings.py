"""Warnings when the server starts with settings that are allowed but expose it."""

import ipaddress
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from wmsd.settings.all_settings import Settings


def risks(settings: Settings, platform_file: Path) -> Iterator[str]:
    server = settings.server
    if os.geteuid() == 0:
        yield (
            "wmsd runs as root: an attacker who breaks into wmsd controls the whole machine. Run wmsd as "
            "a separate user."
        )
    host = server.listen.rpartition(":")[0].strip("[]")
    if not server.has_tls and not server.trusted_proxies and not is_loopback(host):
        yield (
            f"wmsd listens on {host} without TLS: others in the network can read passwords and tokens. Serve "
            "with --tls lan, set server.tls, or put a TLS proxy in front and name the proxy in "
            "server.trusted_proxies."
        )
    if server.certificate_files is not None and _is_open_to_others(key := server.certificate_files[1]):
        yield f"Other users on this machine can read the private key in {key}: chmod 600 {key}"
    if not server.key_file and all(map(_is_open_to_others, (platform_file, platform_file.parent))):
        yield (
            f"Other users on this machine can read {platform_file}, which contains keys: chmod 600 {platform_file}"
        )


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_open_to_others(path: Path) -> bool:
    """Return True if the group or all users may read the file."""
    try:
        return bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))
    except OSError:
        return False
