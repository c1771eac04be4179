"""Commands that a server suggests to its admins, on its pages and in alerts, work exactly as printed. Nobody else
learns where the server's files are.
"""

import html
import json
import re
import shlex
import sys
import time
import urllib.error
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import EMAIL, Home, Server
from tests.support.forked import Program
from tests.support.mail_relay import MailRelay, mail_relay
from tests.support.messages import TEMPLATES
from tests.support.site_elsewhere import Reader, Site
from wmsd.interfaces.cli.kit.command_hints import SUGGESTED, command_in

pytestmark = pytest.mark.long
WAITS = 60.0
APPEND = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read())"
TAGS = re.compile(r"<[^>]+>")
FOR_STRANGERS = ("/sign-in", "/demo?code=x", "/first-admin?code=x", "/welcome?code=x", "/docs", "/trust")


@dataclass
class Told:
    site: Site
    server: Server
    relay: MailRelay
    alerts: Path

    def soon(self, kind: str) -> dict[str, Any]:
        """Wait for the alert of this kind, and return its data as the configured program receives it."""
        until = time.monotonic() + WAITS
        while True:
            lines = self.alerts.read_text().splitlines() if self.alerts.exists() else []
            for each in map(json.loads, lines):
                if each["data"]["kind"] == kind:
                    return dict(each["data"])
            assert time.monotonic() < until, lines
            time.sleep(0.2)

    def mail_of(self, title: str) -> EmailMessage:
        until = time.monotonic() + WAITS
        while True:
            for _, mail in list(self.relay.taken):
                if title in mail["Subject"]:
                    return mail
            assert time.monotonic() < until
            time.sleep(0.2)


@pytest.fixture(scope="module")
def told(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """Run a server with a company whose file is lost."""
    site = Site(Home(program, tmp_path_factory.mktemp("told"))).made()
    site.admin()
    alerts = site.home.folder / "told"
    with mail_relay() as relay:
        command = json.dumps([sys.executable, "-c", APPEND, str(alerts)])
        site.set(
            f'[alerts]\ncommand = {command}\nmail_to = ["a@example.com"]\nmail_relay = "127.0.0.1"\n'
            f'mail_port = {relay.port}\nmail_tls = "none"\nallow_networks = ["127.0.0.1/32"]\n'
        )
        assert site.run("module", "enable", "ACME", "--all").code == 0
        (site.data / "companies" / "1.db").rename(site.home.folder / "lost.db")
        with site.home.serving(*site.given) as server:
            yield Told(site, server, relay, alerts)


def suggested_in(text: str) -> list[str]:
    """Return each command in the text that acts on an installation, with the following text."""
    found = []
    for each in SUGGESTED.finditer(text):
        place, options = command_in(each)
        if options:
            found.append(each[0][: place - each.start()] + text[place : place + 400])
    return found


def check(site: Site, text: str, *named: str) -> None:
    """Check that every suggestion has both options, and that the commands `named` are suggested."""
    found = suggested_in(text)
    for each in found:
        assert re.match(rf"wmsd [a-z-]+( [a-z-]+)? {re.escape(site.options)}", each), each
    for name in named:
        assert any(each.startswith(f"{name} ") for each in found), (name, found)


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/start", ["wmsd alerts test"]),
        ("/today", ["wmsd doctor"]),
        ("/admin/health", ["wmsd doctor"]),
        ("/admin/backups", []),
        ("/admin/settings", ["wmsd key move"]),
    ],
)
def test_a_page_of_site_admins_names_whole_commands(told: Told, path: str, named: list[str]) -> None:
    page = Reader(told.server).sign_in().read(path)
    check(told.site, html.unescape(TAGS.sub("", page)), *named)


def test_an_alert_names_whole_commands(told: Told) -> None:
    alert = told.soon("company-down")
    check(told.site, f"{alert['sentence']} {alert['remedy']}", "wmsd doctor")
    mail = told.mail_of(alert["title"]).get_content()
    check(told.site, mail, "wmsd doctor")
    line = suggested_in(alert["remedy"])[0].split(". ")[0]
    assert line == f"wmsd doctor {told.site.options}"
    done = told.site.elsewhere.run(*shlex.split(line)[1:])
    assert f"Data folder: {told.site.data}\n" in done.err


def test_what_the_trial_by_e_mail_asks_for_is_typed_anywhere(told: Told) -> None:
    page = html.unescape(TAGS.sub("", Reader(told.server).sign_in().read("/start")))
    [line] = [each for each in suggested_in(page) if each.startswith("wmsd alerts test")]
    words = shlex.split(line[: line.index(" to send ")])
    assert told.site.elsewhere.run(*words[1:]).code == 0
    mail = told.mail_of("Test").get_content()
    [line] = [each.splitlines()[0] for each in suggested_in(mail)]
    assert line.startswith(f"wmsd alerts confirm {told.site.options} ")
    assert "Confirmed: " in told.site.elsewhere.run(*shlex.split(line)[1:]).err


@pytest.mark.parametrize("path", FOR_STRANGERS)
def test_a_page_for_strangers_tells_no_path(told: Told, path: str) -> None:
    try:
        page = Reader(told.server).read(path)
    except urllib.error.HTTPError as error:
        page = error.read().decode()
    assert str(told.site.home.folder) not in html.unescape(page)


def test_no_answer_to_a_program_tells_a_path(told: Told) -> None:
    token = told.site.run("token", "create", "--user", EMAIL, "--ability", "*").out.split()[-1]
    for known in (token, ""):
        answers = [told.server.get(path, known) for path in ("/api/health", "/api/v2/meta", "/api/v2/articles")]
        assert [status for status, _ in answers] == [200, 200, 503 if known else 401]
        assert str(told.site.home.folder) not in json.dumps(answers)


def test_no_template_adds_these_options_itself() -> None:
    found = [
        each.name for each in TEMPLATES.rglob("*.html") if re.search(r"--(data|config) \S*\{\{", each.read_text())
    ]
    assert found == []
