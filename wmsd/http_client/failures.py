"""Explains why an attempt failed, in a sentence for people, without the libraries' own messages."""

import errno
import socket
import ssl
from collections.abc import Iterator
from typing import Final

from wmsd.base.aiohttp_without_cas import left_unread
from wmsd.base.repeated_failures import RepeatedFailures
from wmsd.http_client.connector import Attempt, NotAllowed, Phase, ProxyUnknown
from wmsd.http_client.dns_resolver import LookupFailed
from wmsd.http_client.trusted_authorities import AuthoritiesError
from wmsd.http_client.urls import literal

with left_unread():
    import aiohttp

NOWHERE: Final = (
    "{host} could not be found, or points to a network that is not allowed. A platform admin finds the reason "
    "in the log, and can change {section}.allow_networks and {section}.allow_ports."
)
"""One sentence for two cases: the host is unknown, or its address is not allowed. So users cannot find out which
host names exist in this network.
"""
BY_ERRNO: Final = {
    errno.ECONNREFUSED: "{host} refused the connection at port {port}.",
    errno.EHOSTUNREACH: "{host} cannot be reached: there is no network route to it.",
    errno.ENETUNREACH: "{host} cannot be reached: there is no route to its network.",
    errno.EADDRNOTAVAIL: "{host} cannot be reached: there is no route to its address.",
    errno.ETIMEDOUT: "{host} did not answer at port {port}.",
}
BY_PHASE: Final = {
    Phase.NAME: "The name {host} cannot be looked up.",
    Phase.CONNECTION: "{host} cannot be reached at port {port}.",
    Phase.TLS: "{host} closed the connection during the TLS handshake.",
    Phase.ANSWER: "{host} closed the connection without an answer.",
    Phase.BODY: "{host} closed the connection in the middle of its answer.",
}
"""The error sentence for each phase of an attempt. Used if the error number is not in BY_ERRNO."""
SHORTAGES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)
BY_VERIFY_CODE: Final = {
    9: "The certificate of {host} is not valid yet.",
    10: "The certificate of {host} has expired.",
    62: "The certificate of {host} is for another host name.",
    64: "The certificate of {host} is for another address.",
    **dict.fromkeys(
        (2, 18, 19, 20, 21),
        "The certificate of {host} is from an authority that wmsd does not trust. A platform admin can add "
        "a private authority in {section}.ca_file.",
    ),
}
"""The error sentence for each code with which OpenSSL rejects a certificate (X509_V_ERR_…)."""
NO_PROXY: Final = "The proxy in {section}.proxy cannot be reached."
PROXY_REFUSES: Final = "The proxy in {section}.proxy did not connect to {host}, and answered with status {status}."
OLD_TLS: Final = {"UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION", "VERSION_TOO_LOW", "WRONG_SSL_VERSION"}
NO_TLS: Final = {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE"}


def out_of_time(attempt: Attempt, seconds: float) -> str:
    return (
        f"{attempt.host} took too long: the attempt ended after {seconds:g} seconds, while waiting for "
        f"{attempt.phase.value}."
    )


def is_shortage(error: Exception) -> bool:
    """Return True if the attempt failed because this machine lacked files, threads or memory. The receiver did not
    cause such a failure.
    """
    return any(
        isinstance(cause, MemoryError | LookupFailed)
        or (isinstance(cause, OSError) and cause.errno in SHORTAGES)
        or (isinstance(cause, RuntimeError) and "start new thread" in str(cause))
        for cause in _causes(error)
    )


def sentence(error: Exception, attempt: Attempt, complaints: RepeatedFailures, section: str) -> str:
    """Return a sentence that says why the attempt failed. The sentence is for the person in charge of the
    receiver. `complaints` logs details for the admin. `section` is the section of the settings that lists allowed
    addresses.
    """
    found = _known(error, attempt)
    if found is None:
        complaints.failed(f"an error in wmsd stopped an attempt to reach {attempt.host}", error)
        found = "The attempt failed because of an error in wmsd. The log of the service says why."
    elif found is NO_PROXY:
        complaints.failed(f"the proxy in {section}.proxy cannot be reached", _innermost(error))
    elif found is NOWHERE:
        complaints.failed(f"nothing can be sent to {attempt.host} at port {attempt.port}", _innermost(error))
    status = getattr(error, "status", "")
    return found.format(host=attempt.host, port=attempt.port, section=section, status=status)


def _known(error: Exception, attempt: Attempt) -> str | None:
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return PROXY_REFUSES
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return NO_PROXY
    for cause in _causes(error):
        if isinstance(cause, ProxyUnknown):
            return NO_PROXY
        if isinstance(cause, NotAllowed) and literal(attempt.host) is None:
            return NOWHERE
        if isinstance(cause, NotAllowed | AuthoritiesError):
            return _literally(str(cause))
        if isinstance(cause, ssl.SSLCertVerificationError):
            return BY_VERIFY_CODE.get(cause.verify_code, "The certificate of {host} is not valid.")
        if isinstance(cause, ssl.SSLError):
            return _tls_sentence(cause)
        if isinstance(cause, socket.gaierror | UnicodeError):
            return _name_sentence(cause)
    if isinstance(error, aiohttp.ClientResponseError):
        return "{host} answered with something that is not HTTP."
    if attempt.wire is not None and attempt.wire.is_flooded:
        return f"{{host}} sent more than {attempt.most // 1024} kB, but no complete answer."
    if isinstance(error, aiohttp.ClientError | OSError | TimeoutError):
        return BY_ERRNO.get(getattr(error, "errno", None) or 0) or BY_PHASE[attempt.phase]
    return None


def _literally(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes. Leave out aiohttp's own errors, because some of them look like ssl
    errors.
    """
    seen: BaseException | None = error
    while seen is not None:
        if not isinstance(seen, aiohttp.ClientError):
            yield seen
        seen = seen.__cause__


def _innermost(error: BaseException) -> BaseException:
    return list(_causes(error))[-1]


def _tls_sentence(error: ssl.SSLError) -> str:
    reason = error.reason or ""
    if reason in OLD_TLS:
        return "{host} supports only TLS versions older than 1.2."
    if reason in NO_TLS:
        return "{host} does not use TLS at port {port}."
    return "The TLS handshake with {host} failed."


def _name_sentence(error: BaseException) -> str:
    if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
        return "The name {host} cannot be looked up at the moment: its name server does not answer."
    return NOWHERE
