"""Alerts by e-mail, through a real relay: what the relay receives, and what is reported if the relay refuses an
e-mail.
"""

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.authority import Authority, found_authority
from tests.support.mail_relay import PASSWORD, USER, MailRelay, mail_relay
from wmsd.base.clock import SystemClock
from wmsd.server.alerts.alert_json import Outcome
from wmsd.server.alerts.alerts_file import Notice
from wmsd.server.alerts.channels import channels_of
from wmsd.server.alerts.mail import ToMail
from wmsd.settings.all_settings import Settings
from wmsd.settings.sections.alerts import Alerts
from wmsd.settings.sections.server import Server

AT = "2026-11-24T12:00:00.000Z"
TO = ["admin@example.com", "night@example.com"]


def notice(**changes: Any) -> Notice:
    facts = {"company": "ACME", "why": "Fișierul lipsește.\r\nBcc: thief@example.com"}
    given = {"kind": "company-down", "subject": "7", "facts": facts, "event": "alert.begun"}
    return Notice(id="alert_1", number=1, begun_at=AT, at=AT, **{**given, **changes})


def settings(relay: MailRelay, **changes: Any) -> Alerts:
    given: dict[str, Any] = {
        "mail_to": TO,
        "mail_from": "wms@example.com",
        "mail_relay": "127.0.0.1",
        "mail_port": relay.port,
        "mail_tls": "none",
        "allow_networks": ["127.0.0.1/32"],
    }
    return Alerts(**{**given, **changes})


async def send(relay: MailRelay, tmp_path: Path, seconds: float = 10.0, **changes: Any) -> Outcome:
    return await ToMail(settings(relay, **changes), tmp_path, seconds=seconds).send(notice(), 1)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return found_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\nnot this\n")
    return file


async def test_an_alert_comes_with_its_sentence(tmp_path: Path) -> None:
    with mail_relay() as relay:
        outcome = await send(relay, tmp_path)
    assert outcome == Outcome(None, "127.0.0.1 accepted the e-mail for admin@example.com, night@example.com")
    [(envelope, mail)] = relay.taken
    assert (envelope.mail_from, envelope.rcpt_tos) == ("wms@example.com", TO)
    assert mail["Subject"] == f"wmsd on {socket.gethostname()}: A company is down"
    assert (mail["To"], mail["From"]) == (", ".join(TO), "wms@example.com")
    assert mail["Auto-Submitted"] == "auto-generated"
    text = mail.get_content()
    assert "The file of the company ACME cannot be used or written: Fișierul lipsește." in text
    assert "Run wmsd doctor. If the file is damaged, restore this company from a backup." in text


async def test_it_leads_to_the_page_of_health(tmp_path: Path) -> None:
    with mail_relay() as relay:
        public = Settings(server=Server(public_url="https://wms.example.com"), alerts=settings(relay))
        (channel,) = channels_of(public, tmp_path, SystemClock())
        assert (await channel.send(notice(), 1)).error is None
    assert "Health: https://wms.example.com/admin/health\r\n" in relay.mail().get_content()


async def test_what_a_tenant_has_typed_stands_in_no_header(tmp_path: Path) -> None:
    with mail_relay() as relay:
        assert (await send(relay, tmp_path)).error is None
    assert relay.mail()["Bcc"] is None
    assert not any("thief" in str(value) for value in relay.mail().values())
    assert "Bcc: thief@example.com" in relay.mail().get_content()


async def test_the_end_of_an_alert_says_so(tmp_path: Path) -> None:
    with mail_relay() as relay:
        await ToMail(settings(relay), tmp_path).send(notice(event="alert.over"), 1)
    assert "resolved: A company is down" in relay.mail()["Subject"]
    assert "The company ACME can be used again." in relay.mail().get_content()


@pytest.mark.parametrize("mode", ["starttls", "tls"])
async def test_over_tls_with_a_sign_in(
    tmp_path: Path, authority: Authority, password_file: Path, mode: str
) -> None:
    context: dict[str, Any] = {mode: authority.server_context()}
    with mail_relay(**context, wants_sign_in=True) as relay:
        outcome = await send(
            relay,
            tmp_path,
            mail_tls=mode,
            ca_file=str(authority.ca_file),
            mail_user=USER,
            mail_password_file=str(password_file),
        )
    assert outcome.error is None
    assert (relay.signed_in, relay.was_encrypted) == ([USER], [True])


@pytest.mark.parametrize("mode", ["starttls", "tls"])
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("stranger", "is from an unknown authority. If it is your own or a self-signed certificate, set"),
        ("expired", "has expired"),
        ("elsewhere", "is for another"),
    ],
)
async def test_a_certificate_that_is_not_good(
    tmp_path: Path, authority: Authority, mode: str, kind: str, said: str
) -> None:
    context: dict[str, Any] = {mode: authority.server_context(kind)}
    with mail_relay(**context) as relay:
        outcome = await send(relay, tmp_path, mail_tls=mode, ca_file=str(authority.ca_file))
    assert outcome.error is not None
    assert outcome.error.startswith("The certificate of 127.0.0.1")
    assert said in outcome.error
    assert relay.taken == []


async def test_a_self_signed_certificate_is_trusted_when_it_is_named(tmp_path: Path, authority: Authority) -> None:
    with mail_relay(tls=authority.server_context("stranger")) as relay:
        outcome = await send(relay, tmp_path, mail_tls="tls", ca_file=str(authority.folder / "stranger.pem"))
    assert outcome.error is None


async def test_a_relay_without_starttls(tmp_path: Path) -> None:
    with mail_relay() as relay:
        outcome = await send(relay, tmp_path, mail_tls="starttls")
    assert outcome.error is not None
    assert outcome.error.startswith(f"127.0.0.1 does not offer STARTTLS at port {relay.port}.")
    assert relay.taken == []


async def test_a_relay_that_speaks_no_tls(tmp_path: Path) -> None:
    with mail_relay() as relay:
        outcome = await send(relay, tmp_path, mail_tls="tls")
    assert outcome.error is not None
    assert outcome.error.startswith(f"127.0.0.1 does not use TLS at port {relay.port}.")


async def test_a_relay_that_wants_a_sign_in(tmp_path: Path, password_file: Path) -> None:
    with mail_relay(wants_sign_in=True) as relay:
        unsigned = await send(relay, tmp_path)
        refused = await send(relay, tmp_path, mail_user="another", mail_password_file=str(password_file))
    assert unsigned.error is not None
    assert unsigned.error.startswith("127.0.0.1 requires a sign-in: 530")
    assert refused.error is not None
    assert refused.error.startswith("127.0.0.1 refused the sign-in: 535")
    assert PASSWORD not in refused.error
    assert relay.taken == []


async def test_a_relay_that_offers_no_sign_in(tmp_path: Path, password_file: Path) -> None:
    with mail_relay() as relay:
        outcome = await send(relay, tmp_path, mail_user=USER, mail_password_file=str(password_file))
    assert outcome.error is not None
    assert outcome.error.startswith("127.0.0.1 offers no sign-in method that wmsd supports")


async def test_refused_addresses_are_named(tmp_path: Path) -> None:
    with mail_relay(refuses=("wms@example.com", *TO)) as relay:
        sender = await send(relay, tmp_path)
        recipients = await send(relay, tmp_path, mail_from="other@example.com")
    assert sender.error is not None
    assert sender.error.startswith("127.0.0.1 refused the sender: 553 5.7.1 not yours.")
    assert recipients.error is not None
    assert "admin@example.com: 550 5.1.1 nobody here; night@example.com: 550" in recipients.error


async def test_where_one_of_two_is_refused_the_other_has_it_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The e-mail is not sent again: the other recipient would receive it every 15 minutes for a day."""
    with mail_relay(refuses=(TO[1],)) as relay:
        outcome = await send(relay, tmp_path)
    assert outcome == Outcome(None, f"127.0.0.1 accepted the e-mail for {TO[0]}, but refused {TO[1]}")
    assert f"refused {TO[1]}" in caplog.text
    assert len(relay.taken) == 1


async def test_a_relay_that_refuses_the_connection(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        relay = MailRelay(port=closed.getsockname()[1])
        outcome = await send(relay, tmp_path)
    assert outcome.error is not None
    assert outcome.error.startswith(f"127.0.0.1 refused the connection at port {relay.port}.")


@pytest.fixture(params=["silent", "dripping"])
def hanging(request: pytest.FixtureRequest) -> Iterator[MailRelay]:
    """Start a relay that sends nothing, or sends a line from time to time without end."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        over = threading.Event()

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                while not over.wait(0.05):
                    if request.param == "dripping":
                        try:
                            connection.sendall(b"220-wait\r\n")
                        except OSError:
                            return

        thread = threading.Thread(target=serve)
        thread.start()
        yield MailRelay(port=server.getsockname()[1])
        over.set()
        thread.join()


async def test_a_relay_that_hangs_is_left_and_holds_up_nothing(tmp_path: Path, hanging: MailRelay) -> None:
    loop = asyncio.get_running_loop()
    began, longest = loop.time(), 0.0
    sending = asyncio.ensure_future(send(hanging, tmp_path, seconds=0.5))
    while not sending.done():
        before = loop.time()
        await asyncio.sleep(0.01)
        longest = max(longest, loop.time() - before)
    outcome = await sending
    assert outcome.error == "127.0.0.1 did not accept the e-mail within 0.5 s."
    assert loop.time() - began < 5
    assert longest < 0.3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"allow_networks": []},
            "127.0.0.1 is a loopback address; to allow it, add 127.0.0.1/32 to alerts.allow_networks",
        ),
        ({"mail_relay": "169.254.169.254"}, "169.254.169.254 is a metadata address of a cloud"),
        ({"mail_relay": "8.8.8.8"}, "alerts.mail_tls = none is allowed only for relays in alerts.allow_networks"),
    ],
)
async def test_the_relay_obeys_the_guard_of_alerts(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with mail_relay() as relay:
        outcome = await send(relay, tmp_path, **changes)
    assert outcome.error is not None
    assert said in outcome.error
    assert relay.taken == []


@pytest.mark.parametrize(
    ("content", "said"), [(None, "cannot be read: no such file"), ("\n", "must contain the password")]
)
async def test_a_password_that_is_not_there(tmp_path: Path, content: str | None, said: str) -> None:
    file = tmp_path / "empty"
    if content is not None:
        file.write_text(content)
    with mail_relay() as relay:
        outcome = await send(relay, tmp_path, mail_user=USER, mail_password_file=str(file))
    assert outcome.error is not None
    assert said in outcome.error
