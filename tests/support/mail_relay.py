"""A real mail relay on loopback: aiosmtpd, with a separate event loop and thread."""

import asyncio
import email
import ssl
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USER, PASSWORD = "wms", "pass word {ă}"


@dataclass
class MailRelay:
    """A relay that stores the mail that it accepts.

    The relay refuses the addresses in `refuses`, as senders and as recipients.
    """

    port: int = 0
    refuses: tuple[str, ...] = ()
    taken: list[tuple[Envelope, EmailMessage]] = field(default_factory=list)
    signed_in: list[str] = field(default_factory=list)
    was_encrypted: list[bool] = field(default_factory=list)

    async def handle_MAIL(  # noqa: N802  (aiosmtpd's name)
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refuses:
            return "553 5.7.1 not yours"
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802  (aiosmtpd's name)
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refuses:
            return "550 5.1.1 nobody here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        assert isinstance(envelope.content, bytes)
        self.taken.append((envelope, email.message_from_bytes(envelope.content, policy=default)))
        self.was_encrypted.append(
            server.transport is not None and server.transport.get_extra_info("sslcontext") is not None
        )
        return "250 taken"

    def authenticate(self, server: SMTP, session: Session, envelope: Envelope, kind: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        is_right = (data.login, data.password) == (USER.encode(), PASSWORD.encode())
        if is_right:
            self.signed_in.append(data.login.decode())
        return AuthResult(success=is_right, handled=False)

    def mail(self) -> EmailMessage:
        """Return the only mail that was accepted.

        This is not a property, because aiosmtpd reads all attributes when a client connects.
        """
        [(_, message)] = self.taken
        return message


@contextmanager
def mail_relay(
    starttls: ssl.SSLContext | None = None,
    tls: ssl.SSLContext | None = None,
    wants_sign_in: bool = False,
    offers_sign_in: bool = False,
    refuses: tuple[str, ...] = (),
) -> Iterator[MailRelay]:
    relay = MailRelay(refuses=refuses)
    authenticator = relay.authenticate if wants_sign_in or offers_sign_in else None

    def connected() -> SMTP:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # aiosmtpd warns of a sign-in without TLS
            return SMTP(
                relay,
                hostname="relay.test",
                loop=loop,
                tls_context=starttls,
                auth_required=wants_sign_in,
                auth_require_tls=False,
                authenticator=authenticator,
                auth_exclude_mechanism=[] if authenticator else ["LOGIN", "PLAIN"],
            )

    async def serve(is_up: threading.Event, stop: asyncio.Event) -> None:
        server = await asyncio.get_running_loop().create_server(connected, "127.0.0.1", 0, ssl=tls)
        async with server:
            relay.port = server.sockets[0].getsockname()[1]
            is_up.set()
            await stop.wait()
        under_way = asyncio.all_tasks() - {asyncio.current_task()}
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    is_up = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=[serve(is_up, stop)])
    thread.start()
    is_up.wait(10)
    try:
        yield relay
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
