"""The reasons why an e-mail was not sent, as sentences for the admin who chose the relay."""

import errno
import socket
import ssl
from collections.abc import Iterator
from typing import Final

from wmsd.server.alerts.alert_json import one_line
from wmsd.settings.sections.alerts import Alerts

LONGEST_SAID: Final = 200
AUTHENTICATION_REQUIRED: Final = 530
BY_ERRNO: Final = {
    errno.ECONNREFUSED: "{relay} refused the connection at port {port}. Check alerts.mail_relay and "
    "alerts.mail_port, and that the relay is running.",
    errno.EHOSTUNREACH: "{relay} cannot be reached: there is no network route to it.",
    errno.ENETUNREACH: "{relay} cannot be reached: there is no route to its network.",
    errno.ETIMEDOUT: "{relay} did not answer at port {port}.",
}
BY_VERIFY_CODE: Final = {
    9: "The certificate of {relay} is not valid yet.",
    10: "The certificate of {relay} has expired.",
    62: "The certificate of {relay} is for another host name. Set alerts.mail_relay to the name in the "
    "certificate.",
    64: "The certificate of {relay} is for another address. Set alerts.mail_relay to the name in the certificate.",
    **dict.fromkeys(
        (2, 18, 19, 20, 21),
        "The certificate of {relay} is from an unknown authority. If it is your own or a self-signed "
        "certificate, set alerts.ca_file to the file of the authority or certificate.",
    ),
}
"""The error sentences by OpenSSL's error code (X509_V_ERR_…)."""
NO_TLS: Final = (
    "{relay} does not use TLS at port {port}. Set alerts.mail_tls to starttls (usual at port 587), "
    "or alerts.mail_port to the TLS port (usually 465)."
)
NO_STARTTLS: Final = (
    "{relay} does not offer STARTTLS at port {port}. Set alerts.mail_tls to tls if the relay uses "
    "TLS from the first byte, or to none if the relay is in your own network."
)


class MailRefused(Exception):
    """The error for an e-mail that was not sent. Its text is a sentence for the admin."""


def mail_failure_sentence(error: BaseException, settings: Alerts, seconds: float) -> str:
    """Return the reason of a failure as a sentence for the admin. The sentence never contains the password.
    `seconds` is the time limit of the attempt, in seconds.
    """
    from aiosmtplib import SMTPException

    relay, port = settings.mail_relay, settings.mail_port
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, MailRefused):
            return str(cause)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return BY_VERIFY_CODE.get(cause.verify_code, "The certificate of {relay} is not valid.").format(
                relay=relay
            )
        if isinstance(cause, ssl.SSLError):
            is_tls = settings.mail_tls == "tls"
            return NO_TLS.format(relay=relay, port=port) if is_tls else f"The TLS handshake with {relay} failed."
        if isinstance(cause, socket.gaierror | UnicodeError):
            return f"The host {relay} in alerts.mail_relay could not be found."
    for cause in causes:
        if isinstance(cause, OSError) and cause.errno in BY_ERRNO:
            return BY_ERRNO[cause.errno].format(relay=relay, port=port)
    if isinstance(error, TimeoutError):
        return f"{relay} did not accept the e-mail within {seconds:g} s."
    if isinstance(error, SMTPException):
        return _of_relay(error, relay, port)
    if isinstance(error, OSError):
        return f"{relay} closed the connection at port {port}."
    return f"The e-mail could not be created: {error}."


def _of_relay(error: Exception, relay: str, port: int) -> str:
    from aiosmtplib import (
        SMTPAuthenticationError,
        SMTPNotSupported,
        SMTPRecipientsRefused,
        SMTPResponseException,
        SMTPSenderRefused,
        SMTPServerDisconnected,
    )

    match error:
        case SMTPRecipientsRefused():
            said = "; ".join(f"{each.recipient}: {_said(each.code, each.message)}" for each in error.recipients)
            first = error.recipients[0] if error.recipients else None
            if first is not None and first.code == AUTHENTICATION_REQUIRED:
                return _wants_sign_in(relay, _said(first.code, first.message))
            return f"{relay} refused the recipients in alerts.mail_to: {said}."
        case SMTPAuthenticationError():
            return (
                f"{relay} refused the sign-in: {_said(error.code, error.message)}. Correct alerts.mail_user, "
                "or the password in the file of alerts.mail_password_file."
            )
        case SMTPSenderRefused() if error.code == AUTHENTICATION_REQUIRED:
            return _wants_sign_in(relay, _said(error.code, error.message))
        case SMTPSenderRefused():
            said = _said(error.code, error.message)
            return (
                f"{relay} refused the sender: {said}. Set alerts.mail_from to an address that the relay accepts."
            )
        case SMTPResponseException():
            return f"{relay} did not accept the e-mail: {_said(error.code, error.message)}."
        case SMTPServerDisconnected():
            return f"{relay} closed the connection at port {port}."
    if "STARTTLS" in str(error):
        return NO_STARTTLS.format(relay=relay, port=port)
    if isinstance(error, SMTPNotSupported) or "auth" in str(error).lower():
        return (
            f"{relay} offers no sign-in method that wmsd supports; some relays offer sign-in only over TLS. "
            "Leave alerts.mail_user empty if the relay needs no sign-in."
        )
    return f"{relay} closed the connection at port {port}, or does not use SMTP at this port."


def _wants_sign_in(relay: str, said: str) -> str:
    return f"{relay} requires a sign-in: {said}. Set alerts.mail_user and alerts.mail_password_file."


def _said(code: int, text: str) -> str:
    return f"{code} {one_line(text)[:LONGEST_SAID]}".rstrip(" .")


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__
