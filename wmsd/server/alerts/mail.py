"""The channel that sends alerts by e-mail, through a mail relay that the admin names.

wmsd connects only to addresses to which alerts may be sent (`alerts.allow_networks`), and only to the port
`alerts.mail_port`. If a relay hangs, wmsd stops the attempt after a fixed time. No step blocks the event loop for
long.
"""

import asyncio
import contextlib
import logging
import socket
import ssl
from datetime import UTC
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wmsd.base import timestamps
from wmsd.base.machine.regular_files import reason_of
from wmsd.base.machine.secret_files import read_mail_password
from wmsd.contract.command_hints import NOTHING_ADDED, Complete
from wmsd.http_client.dns_resolver import DnsResolver
from wmsd.http_client.guard import Guard
from wmsd.server.alerts.alert_json import Outcome, alert_body, one_line
from wmsd.server.alerts.alerts_file import ChannelName, Notice
from wmsd.server.alerts.mail_failures import MailRefused, mail_failure_sentence
from wmsd.settings.sections.alerts import Alerts

if TYPE_CHECKING:  # imported at the first e-mail: the server can start without it
    from aiosmtplib import SMTP

LOG = logging.getLogger("wmsd.alerts")
HEALTH: Final = "/admin/health"
"""The path of the health page, to which the e-mail has a link."""
SECONDS: Final = 30.0
"""The time limit for one attempt to send an e-mail, in seconds."""


class ToMail:
    name: ChannelName = "mail"

    def __init__(
        self,
        settings: Alerts,
        data: Path,
        code: str = "",
        seconds: float = SECONDS,
        complete: Complete = NOTHING_ADDED,
        public_url: str = "",
    ) -> None:
        """Create the channel.

        `code` is the code that a test e-mail contains and the admin types. `public_url` is the address of wmsd's
        pages, or "".
        """
        self._settings = settings
        self._data = data
        self._code = code
        self._seconds = seconds
        self._complete = complete
        self._public_url = public_url
        self._resolver = DnsResolver()
        self._guard = Guard(settings.allow_networks, allow_ports=[settings.mail_port], section="alerts")

    async def send(self, notice: Notice, attempt: int) -> Outcome:
        from aiosmtplib import SMTPException

        settings = self._settings
        try:
            async with asyncio.timeout(self._seconds):
                refused = await self._sent(self._message(notice))
        except (MailRefused, SMTPException, OSError, ValueError) as error:  # TimeoutError is an OSError
            return Outcome(mail_failure_sentence(error, settings, self._seconds))
        except asyncio.IncompleteReadError as error:
            return Outcome(mail_failure_sentence(ConnectionResetError(str(error)), settings, self._seconds))
        said = (
            f"{settings.mail_relay} accepted the e-mail for "
            f"{', '.join(to for to in settings.mail_to if to not in refused)}"
        )
        if refused:
            said = f"{said}, but refused {', '.join(refused)}"
            LOG.warning("an alert was not sent to all recipients: %s", said)
        return Outcome(None, said)

    def _message(self, notice: Notice) -> EmailMessage:
        return message(notice, self._data, self._settings, self._code, self._complete, self._public_url)

    async def _sent(self, mail: EmailMessage) -> list[str]:
        """Send the e-mail. Return the recipients that the relay refused. Raise SMTPRecipientsRefused if the relay
        refuses all recipients.
        """
        password = await asyncio.to_thread(password_of, self._settings)
        client = await self._connected(password)
        try:
            refused, _ = await client.send_message(
                mail, sender=sender_of(self._settings), recipients=self._settings.mail_to
            )
            with contextlib.suppress(Exception):  # the relay has the e-mail
                await client.quit()
            return sorted(refused)
        finally:
            client.close()

    async def _connected(self, password: str | None) -> "SMTP":
        from aiosmtplib import SMTP

        settings = self._settings
        is_tls = settings.mail_tls == "tls"
        context = await asyncio.to_thread(_tls_context, settings.ca_file) if settings.mail_tls != "none" else None
        opened = await self._dialled()
        client = SMTP(
            hostname=settings.mail_relay,
            sock=opened,
            use_tls=is_tls,
            start_tls=settings.mail_tls == "starttls",
            tls_context=context,
            username=settings.mail_user or None,
            password=password,
            local_hostname=_own_name(),
            timeout=self._seconds,
        )
        try:
            await client.connect()
        except BaseException:
            client.close()
            opened.close()
            raise
        return client

    async def _dialled(self) -> socket.socket:
        """Connect to the relay, and return the socket. If the relay has several addresses, try them one after the
        other.

        Raise MailRefused if the relay has no address, or an address that is not allowed. Raise OSError if no
        address accepts a connection.
        """
        host, port = self._settings.mail_relay, self._settings.mail_port
        addresses = await self._resolver.addresses(host)
        for address in addresses:
            if objection := self._objection(address):
                raise MailRefused(objection)
        for last, address in enumerate(addresses, start=1):
            try:
                return await _socket_to(address, port)
            except OSError:
                if last == len(addresses):
                    raise
        raise MailRefused(f"The name {host} has no address.")

    def _objection(self, address: str) -> str | None:
        objection = self._guard.objection_to_address(address, self._settings.mail_port)
        if objection is not None or self._settings.mail_tls != "none" or self._guard.lists(address):
            return objection
        return (
            f"alerts.mail_tls = none is allowed only for relays in alerts.allow_networks, and {address} is "
            "not in these networks."
        )

    async def close(self) -> None:
        """Do nothing: each attempt opens and closes its own connection."""


async def _socket_to(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    opened.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(opened, (address, port))
    except BaseException:
        opened.close()
        raise
    return opened


def _tls_context(ca_file: str) -> ssl.SSLContext:
    """Return a TLS context. Raise MailRefused if the authorities' certificates cannot be read."""
    from wmsd.http_client.trusted_authorities import AuthoritiesError, dialling_context

    try:
        context = dialling_context(ca_file)
    except AuthoritiesError:
        raise MailRefused(
            f"wmsd cannot read PEM certificates from the file {ca_file} in alerts.ca_file."
        ) from None
    context.set_alpn_protocols([])  # by default the context offers HTTP (ALPN)
    return context


def _own_name() -> str:
    name = socket.gethostname()
    return (
        name if name and all(each.isalnum() or each in "-." for each in name) and name.isascii() else "localhost"
    )


def password_of(settings: Alerts) -> str | None:
    """Return the relay's password, or None if the settings name no user. Raise MailRefused if the password file
    cannot be used.
    """
    if not settings.mail_user:
        return None
    file = Path(settings.mail_password_file)
    try:
        return read_mail_password(file)
    except OSError as error:
        raise MailRefused(
            f"The file {file} of alerts.mail_password_file cannot be read: {reason_of(error)}."
        ) from None
    except ValueError as error:
        raise MailRefused(str(error)) from None


def sender_of(settings: Alerts) -> str:
    return settings.mail_from or settings.mail_to[0]


def message(
    notice: Notice,
    data: Path,
    settings: Alerts,
    code: str = "",
    complete: Complete = NOTHING_ADDED,
    public_url: str = "",
) -> EmailMessage:
    """Return the e-mail for an alert. Data that tenants have typed is only in the text of the e-mail, never in a
    header.
    """
    content = alert_body(notice, data, complete)["data"]
    host, is_over = content["host"], notice.event == "alert.over"
    mail = EmailMessage()
    mail["From"] = sender_of(settings)
    mail["To"] = ", ".join(settings.mail_to)
    mail["Subject"] = one_line(f"wmsd on {host}: {'resolved: ' if is_over else ''}{content['title']}")
    mail["Date"] = format_datetime(timestamps.from_text(notice.at).astimezone(UTC))
    mail["Message-ID"] = f"<{notice.id}@{_own_name()}>"
    mail["Auto-Submitted"] = "auto-generated"
    lines = [content["sentence"], content["remedy"]]
    if code:
        typed = complete(f"wmsd alerts confirm {code}")
        lines.append(f"To confirm that this e-mail arrived, run this command on the server: {typed}")
    if public_url:
        lines.append(f"Health: {public_url}{HEALTH}")
    lines.append(f"Since: {content['begun_at']}" + (f"\nResolved: {content['over_at']}" if is_over else ""))
    lines.append(f"Machine: {host}\nData folder: {content['data_folder']}\nAlert: {content['alert']}")
    mail.set_content("\n\n".join(filter(None, lines)) + "\n", cte="quoted-printable")
    return mail
