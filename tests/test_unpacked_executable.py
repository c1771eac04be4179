"""Tests of the one-file executable and the temporary folder that it unpacks itself into, which is full or deleted
under a server.
"""

import http.cookiejar
import os
import re
import shutil
import signal
import ssl
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.authority import found_authority
from tests.support.executable import IS_THERE, LONGEST, WITHIN_A_SECOND, Server, eventually, post, serving, wmsd
from tests.support.receivers import open_receivers
from tests.support.small_disk import fill

pytestmark = pytest.mark.skipif(not IS_THERE, reason="build it first: scripts/build")
LEFT_BYTES = 5_000_000
"""The free bytes, fewer than the unpacked program needs."""


@dataclass
class Browser:
    """A browser that is signed in as the first admin."""

    server: Server
    jar: http.cookiejar.CookieJar = field(default_factory=http.cookiejar.CookieJar)

    def open(self, path: str, form: dict[str, str] | None = None) -> str:
        sent = None if form is None else urllib.parse.urlencode(form).encode()
        request = urllib.request.Request(self.server.address + path, sent, {"Sec-Fetch-Site": "same-origin"})
        handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.jar))
        with urllib.request.build_opener(*handlers).open(request, timeout=LONGEST) as answer:
            return str(answer.read().decode())

    def sign_in(self) -> None:
        code = urllib.parse.parse_qs(urllib.parse.urlsplit(self.server.first_admin).query)["code"][0]
        chosen = "correct horse battery"
        self.open(
            "/first-admin",
            {"name": "Ana", "email": "ana@example.com", "password": chosen, "again": chosen, "code": code},
        )

    def press(self, path: str) -> str:
        token = re.search(r'name="form_token" value="([^"]+)"', self.open(path))
        assert token
        return self.open(path, {"form_token": token[1]})


def remove_what_is_unpacked(running: Server) -> None:
    """Remove the unpacked files, as a clean-up of /tmp does, when the server has read what it needs of them."""
    [unpacked] = running.unpacked
    libraries = {str(each) for each in unpacked.rglob("*.so*") if each.is_file() and not each.is_symlink()}
    [child] = running.children
    assert eventually(lambda: libraries <= set(Path(f"/proc/{child}/maps").read_text().split()), LONGEST)
    shutil.rmtree(unpacked)


def test_work_that_cannot_unpack_itself_says_what_to_set(small_disk: Path, tmp_path: Path) -> None:
    environment = {"TMPDIR": str(small_disk)}
    with serving(tmp_path, environment=environment) as running:
        browser = Browser(running)
        browser.sign_in()
        remains = fill(small_disk, LEFT_BYTES)
        browser.press("/admin/backups")
        sentence = (
            f"wmsd unpacks itself into the temporary folder {small_disk}, but the disk is full. Free some "
            "space, or name a folder on another disk: set TMPDIR for the server, for example to "
            "/var/lib/wmsd/tmp, and restart the server."
        )
        assert eventually(lambda: "the backup process ended with exit status 255" in running.log, LONGEST), (
            running.log
        )
        assert sentence in running.log
        assert sentence in browser.open("/admin/backups")
        remains.unlink()
        browser.press("/admin/backups")
        assert eventually(lambda: list(tmp_path.glob("data-backups/*.tar.gz")) != [], LONGEST), running.log


def test_webhooks_go_out_over_tls_when_the_folder_is_gone(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    authority = found_authority(keys)
    allowed = '[webhooks]\nallow_networks = ["127.0.0.1/32"]\nallow_ports = ["1-65535"]\n'
    (tmp_path / "config.toml").write_text(f'{allowed}ca_file = "{authority.ca_file}"\n')
    with open_receivers(authority) as receivers, serving(tmp_path, "--demo") as running:
        remove_what_is_unpacked(running)
        body = {"name": "ERP", "url": receivers.url("/200", "good"), "events": ["article.created"]}
        assert post(running, "/api/webhooks", {**body, "secret": "s" * 32}).status == 201
        assert post(running, "/api/articles", {"code": "NEW", "name": "New"}).status == 201
        assert eventually(lambda: len(receivers.recorded()) == 1, WITHIN_A_SECOND)
        assert ("The receiver accepted the test event.") in wmsd(
            tmp_path, "webhook", "test", "1", "--company", "DEMO"
        ).stderr


def test_the_certificate_is_renewed_when_the_folder_is_gone(tmp_path: Path) -> None:
    with serving(tmp_path, "--tls", "lan") as running:
        remove_what_is_unpacked(running)
        at = urllib.parse.urlsplit(running.address)
        assert at.scheme == "https"
        assert at.hostname is not None
        assert at.port is not None
        where = (at.hostname, at.port)
        before = ssl.get_server_certificate(where)
        [child] = running.children
        tls = tmp_path / "data" / "tls"
        (tls / "served.pem").unlink()
        os.kill(child, signal.SIGHUP)
        assert eventually(lambda: ssl.get_server_certificate(where) != before, LONGEST), running.log
        trusted = ssl.create_default_context(cafile=str(tls / "authority.pem"))
        handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusted))
        with urllib.request.build_opener(*handlers).open(f"{running.address}/api/health", timeout=LONGEST) as told:
            assert told.status == 200
        assert "the certificate was read again" in running.log
