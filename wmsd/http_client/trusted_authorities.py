"""The trusted certificate authorities for outgoing connections: the authorities of the system and of
webhooks.ca_file.
"""

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
    """The error for a file of authorities that cannot be read. The message names the setting."""


def dialling_context(ca_file: str, section: str = "webhooks") -> ssl.SSLContext:
    """Return a TLS context that trusts the authorities of the system and of `ca_file`. Reading the files takes 20
    ms or more.

    `section` is the section of the settings that names `ca_file`. Raise AuthoritiesError if `ca_file` cannot be
    read.
    """
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    _see_that_they_were_read(context)
    if not _has_authorities():
        _add_bundle(context)
    if ca_file:
        _add(context, ca_file, section)
    return context


def knows_authorities(context: ssl.SSLContext) -> bool:
    """Return True if `context` has authorities, or if this system has a folder of authorities.

    OpenSSL reads the files of such a folder only when it needs them. Until then, `context` does not count these
    authorities.
    """
    return bool(context.cert_store_stats()["x509_ca"]) or _has_authorities()


def _see_that_they_were_read(context: ssl.SSLContext) -> None:
    """If `context` has no authorities, read the system's file of authorities again. OpenSSL does not report an
    error when it fails to read this file. Raise OSError if the file cannot be read.
    """
    file = ssl.get_default_verify_paths().cafile
    if file is not None and not context.cert_store_stats()["x509_ca"]:
        with suppress(ssl.SSLError):  # the file has no certificates
            context.load_verify_locations(file)


def _has_authorities() -> bool:
    """Return True if there are authorities in the file or folder where OpenSSL looks for them.

    A built executable contains its own OpenSSL, which may look in other places than the OpenSSL of this system.
    """
    paths = ssl.get_default_verify_paths()
    return paths.cafile is not None or (paths.capath is not None and any(Path(paths.capath).glob("*.0")))


def _add_bundle(context: ssl.SSLContext) -> None:
    for bundle in BUNDLES:
        if Path(bundle).is_file():
            context.load_verify_locations(bundle)
            return


def _add(context: ssl.SSLContext, ca_file: str, section: str) -> None:
    try:
        check_regular(Path(ca_file))
        context.load_verify_locations(ca_file)
    except OSError as error:  # ssl.SSLError is an OSError
        raise AuthoritiesError(
            f"The file in {section}.ca_file cannot be read, or has no certificates in PEM format."
        ) from error
