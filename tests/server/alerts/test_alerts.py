"""`wmsd alerts`: it lists the open alerts and tells if a test alert is accepted."""

import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Home
from tests.support.guide_receiver import is_from_wmsd
from tests.support.mail_relay import MailRelay, mail_relay
from wmsd.server.alerts.alerts_file import Failure, Kept, OpenAlert, read_alerts, write_alerts

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
AT = "2026-11-24T12:00:00.000Z"
APPEND = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read()); print('noted')"


class Receiver(HTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.received: list[tuple[dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/alerts"


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(b"thank you")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as opened:
        thread = threading.Thread(target=opened.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield opened
        opened.shutdown()
        thread.join()


def configured(home: Home, receiver: Receiver) -> None:
    home.write("secret", SECRET.encode())
    home.write(
        "config.toml",
        f"""
        [alerts]
        url = "{receiver.url}"
        secret_file = "{home.folder / "secret"}"
        allow_networks = ["127.0.0.1/32"]
        allow_ports = [{receiver.server_port}]
        allow_http = true
        command = {json.dumps([sys.executable, "-c", APPEND, str(home.folder / "told")])}
        """.encode(),
    )


def test_a_test_goes_out_by_every_way_and_says_what_came_back(home: Home, receiver: Receiver) -> None:
    configured(home, receiver)
    done = home.ok("alerts", "test", "--json")
    assert [(row["way"], row["taken"]) for row in done.json] == [("alerts.url", True), ("alerts.command", True)]
    assert "thank you" in done.json[0]["answer"]
    assert done.json[1]["answer"] == "noted"
    [(headers, body)] = receiver.received
    assert is_from_wmsd(SECRET, headers, body)
    told = json.loads(body)
    assert told == json.loads((home.folder / "told").read_text())
    assert (told["event"], told["data"]["sentence"]) == ("alert.test", "This is a test. Nothing is wrong.")


def test_a_test_that_is_not_taken_fails_and_says_why(home: Home, receiver: Receiver) -> None:
    configured(home, receiver)
    receiver.status = 500
    done = home.run("alerts", "test")
    assert done.code == 1
    assert done.wrong == ["The test alert was not accepted by alerts.url."]
    assert "The receiver answered with status 500. Its answer was: thank you." in done.out
    assert "noted" in done.out


def test_where_nobody_is_told_a_test_says_what_to_set(home: Home) -> None:
    assert "alerts.mail_relay, alerts.url with alerts.secret_file, or alerts.command" in home.refused(
        "alerts", "test"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('url = "https://x.example.com/"', "needs a secret"),
        ('url = "ftp://x"\nsecret_file = "s"', "alerts.url must be a URL such as"),
        ('command = "reboot"', "alerts.command"),
        ('command = [""]', "alerts.command must begin with a program"),
    ],
)
def test_wrong_settings_are_named(home: Home, text: str, said: str) -> None:
    home.write("config.toml", f"[alerts]\n{text}\n".encode())
    assert said in home.refused("alerts", "test")


def test_what_is_open_and_what_is_not_taken_is_listed(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    assert "There are no open alerts." in home.ok("alerts").err
    facts = {"company": "ACME", "why": "gone \x1b[31m."}
    kept = Kept(
        open=[OpenAlert(kind="company-down", subject="1", facts=facts, begun_at=AT, gone_at=AT)],
        failures={"url": Failure(since=AT, at=AT, error="The receiver answered 500.")},
    )
    write_alerts(home.data, kept)
    done = home.ok("alerts")
    assert done.out == home.ok("alerts", "list").out
    assert home.ok("alerts", "--json").json == home.ok("alerts", "list", "--json").json
    assert "A company is down" in done.out
    assert r"The file of the company ACME cannot be used or written: gone \x1b[31m." in done.out
    assert (
        f"No alert could be sent through alerts.url since {AT} (waiting: 0): The receiver answered 500."
        in done.err
    )
    assert "Run wmsd doctor. If the file is damaged, restore this company from a backup." in done.out
    assert (
        f"The problem has been gone since {AT}. If the problem does not return, the alert ends automatically."
        in done.out
    )
    assert "No server is running: these are the alerts of the last server, as of 20" in done.err
    shown = home.ok("alerts", "list", "--json").json
    [shown_alert] = shown["open"]
    assert (shown_alert["kind"], shown_alert["remedy"][:16]) == ("company-down", "Run wmsd doctor.")
    assert shown["failures"]["url"]["error"] == "The receiver answered 500."


def test_a_running_server_tells_of_a_damaged_company(home: Home, receiver: Receiver) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    configured(home, receiver)
    (home.data / "companies" / "1.db").write_bytes(b"not a database" * 1000)
    with home.serving():
        until = time.monotonic() + 40
        while not receiver.received and time.monotonic() < until:
            time.sleep(0.1)
        assert [each.kind for each in read_alerts(home.data).open] == ["company-down"]
        assert "A company is down" in home.ok("alerts").out
        [said] = [each for each in home.run("status").wrong if "alert" in each]
        assert said == "1 alert is open: `wmsd alerts` says which, and what to do."
    told = [json.loads(body)["data"] for _, body in receiver.received]
    assert [(each["kind"], each["facts"]["company"]) for each in told] == [("company-down", "ACME")]
    assert Path(told[0]["data_folder"]) == home.data.resolve()


def mailing(home: Home, relay: MailRelay, to: str = "admin@example.com") -> None:
    home.write(
        "config.toml",
        f"""
        [alerts]
        mail_to = ["{to}"]
        mail_relay = "127.0.0.1"
        mail_port = {relay.port}
        mail_tls = "none"
        allow_networks = ["127.0.0.1/32"]
        """.encode(),
    )


def test_an_e_mail_counts_as_set_up_when_its_code_was_typed(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    assert "no one; to set up alerts, see" in home.run("status").out
    with mail_relay() as relay:
        mailing(home, relay)
        unconfirmed = "No one has confirmed that alert e-mails arrive at admin@example.com."
        status = home.run("status")
        assert (status.code, "admin@example.com (not confirmed yet)" in status.out) == (1, True)
        assert unconfirmed in status.err
        done = home.ok("alerts", "test")
        assert "An e-mail with a code was sent to admin@example.com." in done.err
        [code] = re.findall(r"wmsd alerts confirm (\d{6})", relay.mail().get_content())
        assert unconfirmed in home.ok("alerts").err
        wrong = "111111" if code != "111111" else "222222"
        assert f"{wrong} is not the code of the last test" in home.refused("alerts", "confirm", wrong)
        assert "Confirmed: wmsd sends alerts to admin@example.com." in home.ok("alerts", "confirm", code).err
        status = home.run("status")
        assert "admin@example.com (confirmed 20" in status.out
        assert "by e-mail" not in status.err
        assert code not in (home.data / "alerts-mail.json").read_text()
        mailing(home, relay, "other@example.com")  # these settings differ from the confirmed ones
        assert "other@example.com (not confirmed yet)" in home.run("status").out
        assert "is not the code" in home.refused("alerts", "confirm", code)


def test_a_relay_that_does_not_take_the_test_confirms_nothing(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    with mail_relay(refuses=("admin@example.com",)) as relay:
        mailing(home, relay)
        done = home.run("alerts", "test")
    assert (done.code, done.wrong) == (1, ["The test alert was not accepted by alerts.mail."])
    assert "127.0.0.1 refused the sender: " in done.out
    assert not (home.data / "alerts-mail.json").exists()


def test_where_no_e_mail_is_set_nothing_is_confirmed(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    assert "E-mail is not set up: name addresses in alerts.mail_to" in home.refused("alerts", "confirm", "123456")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('mail_to = ["a@example.com"]', "set alerts.mail_relay to its host name"),
        ('mail_to = ["no address"]\nmail_relay = "r"', "which is not an e-mail address such as admin@example.com"),
        (
            'mail_to = ["a@example.com\\r\\nBcc: b@example.com"]\nmail_relay = "r"',
            "which is not an e-mail address",
        ),
        ('mail_to = [""]\nmail_relay = "r"', "which is not an e-mail address"),
        ('mail_to = ["a@example.com"]\nmail_relay = "r:587"', "without a port, such as smtp.example.com"),
        ('mail_to = ["a@example.com"]\nmail_relay = "r"\nmail_tls = "ssl"', "alerts.mail_tls"),
        ('mail_to = ["a@example.com"]\nmail_relay = "r"\nmail_port = 0', "alerts.mail_port"),
        (
            'mail_to = ["a@example.com"]\nmail_relay = "r"\nmail_user = "u"',
            "set alerts.mail_password_file to the file",
        ),
    ],
)
def test_wrong_settings_of_e_mail_are_named(home: Home, text: str, said: str) -> None:
    home.write("config.toml", f"[alerts]\n{text}\n".encode())
    assert said in home.refused("alerts", "test")
