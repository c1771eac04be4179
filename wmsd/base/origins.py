"""The origins of web addresses, in the one form that browsers use: https://wms.example.com:8443."""

import re
from functools import lru_cache
from typing import Final

HOST: Final = re.compile(r"([\w.-]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?", re.ASCII)
"""A host, with or without a port."""
PORTS: Final = {"http": 80, "https": 443}
"""The default port of each scheme. Browsers leave it out of an origin."""


@lru_cache(maxsize=64)
def written_origin(scheme: str, host: str) -> str:
    """Return the origin of a host, which may have a port. Return "" if the scheme, the host or the port is not
    valid.
    """
    named = HOST.fullmatch(host)
    if scheme not in PORTS or named is None:
        return ""
    port = int(named[2] or PORTS[scheme])
    if not 0 < port < 65_536:
        return ""
    return f"{scheme}://{named[1].lower()}{'' if port == PORTS[scheme] else f':{port}'}"
