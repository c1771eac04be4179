"""The pages on which people get the certificate of the server's own authority, so that browsers trust the server.

A server has such an authority with `tls = "lan"`.
"""

import asyncio
from typing import TYPE_CHECKING

from wmsd.base.problems import Problem
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.pages.kit.rendering import as_file, render_page

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

TRUST = "/trust"
DOWNLOAD = f"{TRUST}/wmsd-authority.crt"


async def show(installation: Installation, request: web.Request) -> web.Response:
    from wmsd.host.tls.authority import certificate_fingerprint

    authority = await _authority(installation)
    until = f"{authority.not_valid_after_utc:%Y-%m-%d}"
    return render_page("trust", fingerprint=certificate_fingerprint(authority), until=until, download=DOWNLOAD)


async def download(installation: Installation, request: web.Request) -> web.Response:
    from cryptography.hazmat.primitives.serialization import Encoding

    authority = await _authority(installation)
    name = DOWNLOAD.rpartition("/")[2]
    return as_file(authority.public_bytes(Encoding.DER), "application/x-x509-ca-cert", name)


async def _authority(installation: Installation) -> "Certificate":
    """Return the certificate of the server's own certificate authority. Raise Problem (404) if it has no
    authority.
    """
    if installation.settings.server.tls == "lan":
        from wmsd.host.tls.lan_certificate import authority_of

        if found := await asyncio.to_thread(authority_of, installation.folder.path):
            return found
    raise Problem("NOT_FOUND", "This server has no certificate authority: it does not run with --tls lan.")
