"""The trusted certificate authorities for outgoing connections: the system's, and those of webhooks.ca_file."""

import ssl
from contextlib import suppress
from pathlib import Path
from typing import Final

from wmsd.base.machine.regular_files import check_regular

BUNDLES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  # Red Hat
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # BSD
)


class AuthoritiesError(Exception):
    """The authorities cannot be read; the message names the setting."""


def dialling_context(ca_file: str) -> ssl.SSLContext:
    """The TLS context. It reads files, for 20 ms or more. Raises AuthoritiesError."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    _see_that_they_were_read(context)
    if not _has_authorities():
        _add_bundle(context)
    if ca_file:
        _add(context, ca_file)
    return context


def knows_authorities(context: ssl.SSLContext) -> bool:
    """Whether this system has any. Those in a folder are read when they are asked for."""
    return bool(context.cert_store_stats()["x509_ca"]) or _has_authorities()


def _see_that_they_were_read(context: ssl.SSLContext) -> None:
    """Reads the system's file if OpenSSL failed to, which it does not report. Raises OSError."""
    file = ssl.get_default_verify_paths().cafile
    if file is not None and not context.cert_store_stats()["x509_ca"]:
        with suppress(ssl.SSLError):  # the file holds none
            context.load_verify_locations(file)


def _has_authorities() -> bool:
    """Whether OpenSSL looks where this system keeps its authorities; a built executable's may look elsewhere."""
    paths = ssl.get_default_verify_paths()
    return paths.cafile is not None or (paths.capath is not None and any(Path(paths.capath).glob("*.0")))


def _add_bundle(context: ssl.SSLContext) -> None:
    for bundle in BUNDLES:
        if Path(bundle).is_file():
            context.load_verify_locations(bundle)
            return


def _add(context: ssl.SSLContext, ca_file: str) -> None:
    try:
        check_regular(Path(ca_file))
        context.load_verify_locations(ca_file)
    except OSError as error:  # ssl.SSLError is an OSError
        raise AuthoritiesError("The file of webhooks.ca_file cannot be read as certificates in PEM.") from error
