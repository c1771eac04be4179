"""Behind each proxy of the guide, configured with the lines of its page, people and programs work as without a
proxy.
"""

import http.client
import json
import os
import pwd
import re
import socket
import ssl
import subprocess
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from tests.support.authority import openssl
from tests.support.command import EMAIL, PASSWORD, Home, Server
from tests.support.programs import program
from wmsd import docs
from wmsd.settings.all_settings import Settings

pytestmark = pytest.mark.long
PAGE: Final = (Path(docs.__file__).parent / "reverse-proxies.md").read_text(encoding="utf-8")
BLOCKS: Final = dict(re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL))
NAME: Final = "wms.example.com"
PATIENCE: Final = 30.0
IN_CHUNK: Final = 1024 * 1024 - 1000
BOUNDARY: Final = "b0undary"
IS_ROOT: Final = os.geteuid() == 0
APACHE: Final = """
ServerRoot "{folder}"
DefaultRuntimeDir "{folder}"
PidFile "{folder}/pid"
ErrorLog /dev/stderr
Listen 127.0.0.1:{port}
{modules}
{user}
SSLSessionCache none
{own}
"""
MODULES: Final = ("mpm_event", "authz_core", "socache_shmcb", "ssl", "headers", "proxy", "proxy_http")
NGINX: Final = """
daemon off;
pid {folder}/pid;
error_log stderr;
{user}
events {{}}
http {{
    access_log off;
    {places}
    {own}
}}
"""
PLACES: Final = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@dataclass(frozen=True)
class Proxy:
    port: int
    authority: Path

    @contextmanager
    def asked(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}
    ) -> Iterator[http.client.HTTPResponse]:
        context = ssl.create_default_context(cafile=self.authority)
        connection = http.client.HTTPSConnection(NAME, self.port, context=context, timeout=PATIENCE)
        opened = socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        connection.sock = context.wrap_socket(opened, server_hostname=NAME)
        try:
            connection.request(method, path, body, dict(headers))
            yield connection.getresponse()
        finally:
            connection.close()

    @property
    def origin(self) -> str:
        return f"https://{NAME}:{self.port}"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a self-signed certificate for the name in the guide, with its key."""
    folder = tmp_path_factory.mktemp("certificate")
    key, made = folder / "key.pem", folder / "wms.pem"
    names = ("-addext", f"subjectAltName=DNS:{NAME}", "-subj", f"/CN={NAME}")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-days", "2", *names, "-out", made)
    made.write_text(made.read_text() + key.read_text())
    return made


@pytest.fixture(scope="module")
def server(shared: Home) -> Iterator[Server]:
    """Start a server that trusts the proxies of the page, without a public URL: the proxy must report the URL."""
    trusted = ",".join(tomllib.loads(BLOCKS["toml"])["server"]["trusted_proxies"])
    with shared.serving(env={"WMSD_SERVER_TRUSTED_PROXIES": trusted}) as server:
        yield server


@pytest.fixture(scope="module", params=["nginx", "apache", "caddy", "haproxy"])
def proxy(
    request: pytest.FixtureRequest, server: Server, certificate: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:
    folder: Path = tmp_path_factory.mktemp(request.param)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    own = BLOCKS[request.param]
    for written, here in (
        ("127.0.0.1:8480", server.address.removeprefix("http://")),
        ("/etc/ssl/wms.pem", str(certificate)),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("*:443", f"127.0.0.1:{port}"),
        ("bind :443", f"bind 127.0.0.1:{port}"),
        (f"{NAME} {{\n", f"https://{NAME}:{port} {{\n    bind 127.0.0.1\n"),
    ):
        own = own.replace(written, here)
    with running(COMMANDS[request.param](folder, own, port), folder, port):
        yield Proxy(port, certificate)


def nginx(folder: Path, own: str, port: int) -> Sequence[str | Path]:
    places = "\n    ".join(f"{each}_temp_path {folder}/{each};" for each in PLACES)
    user = "user root;" if IS_ROOT else ""
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, user=user, places=places, own=own))
    return (program("nginx"), "-p", folder, "-c", config, "-e", "stderr")


def apache(folder: Path, own: str, port: int) -> Sequence[str | Path]:
    place = Path("/usr/lib/apache2/modules")
    modules = "\n".join(f"LoadModule {each}_module {place}/mod_{each}.so" for each in MODULES)
    user = f"User {pwd.getpwnam('www-data').pw_name}\nGroup www-data" if IS_ROOT else ""
    config = folder / "apache.conf"
    config.write_text(APACHE.format(folder=folder, port=port, modules=modules, user=user, own=own))
    return (program("apache2"), "-d", folder, "-f", config, "-DFOREGROUND")


def caddy(folder: Path, own: str, port: int) -> Sequence[str | Path]:
    config = folder / "Caddyfile"
    config.write_text(f"{{\n    admin off\n    auto_https disable_redirects\n}}\n{own}")
    return (program("caddy"), "run", "--config", config, "--adapter", "caddyfile")


def haproxy(folder: Path, own: str, port: int) -> Sequence[str | Path]:
    config = folder / "haproxy.cfg"
    config.write_text(own)
    return (program("haproxy"), "-db", "-f", config)


COMMANDS: Final = {"nginx": nginx, "apache": apache, "caddy": caddy, "haproxy": haproxy}


@contextmanager
def running(command: Sequence[str | Path], folder: Path, port: int) -> Iterator[None]:
    """Run the proxy in the foreground until the block ends; the proxy's files are in the folder."""
    log = folder / "log"
    own = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with log.open("wb") as written:
        process = subprocess.Popen(command, stdout=written, stderr=written, cwd=folder, env={**os.environ, **own})
    with process:
        try:
            until = time.monotonic() + PATIENCE
            while not is_open(port):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < until, log.read_text()
                time.sleep(0.02)
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE)


def is_open(port: int) -> bool:
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def cookie(proxy: Proxy) -> dict[str, str]:
    """Return the cookie of a session that was started by a form from a browser that sends only Origin."""
    with signing_in(proxy, proxy.origin) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, "/today"), answer.read()
        given = answer.headers["Set-Cookie"]
    assert "; Secure" in given, "wmsd knows that the browser has used TLS"
    return {"Cookie": given.partition(";")[0]}


@contextmanager
def signing_in(proxy: Proxy, origin: str) -> Iterator[http.client.HTTPResponse]:
    fields = urlencode({"email": EMAIL, "password": PASSWORD, "next": ""}).encode()
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": origin}
    with proxy.asked("POST", "/sign-in", fields, form) as answer:
        yield answer


def of_program(server: Server) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.token}", "X-Company-Id": "1", "Content-Type": "application/json"}


def test_the_settings_of_the_page_are_good() -> None:
    settings = Settings.model_validate(tomllib.loads(BLOCKS["toml"]))
    assert settings.server.public_url == f"https://{NAME}"


def test_a_form_signs_in_and_a_form_of_another_port_does_not(proxy: Proxy, cookie: dict[str, str]) -> None:
    with proxy.asked("GET", "/today", headers=cookie) as answer:
        assert answer.status == 200
    with signing_in(proxy, f"https://{NAME}") as refused:
        assert refused.status == 403


def test_programs_are_told_the_address_that_they_have_reached(proxy: Proxy, server: Server) -> None:
    with proxy.asked("GET", "/api/v2/meta", headers=of_program(server)) as answer:
        assert json.load(answer)["changelog_url"] == f"{proxy.origin}/docs/changelog"


def test_a_change_comes_down_the_live_stream_at_once(proxy: Proxy, server: Server, cookie: dict[str, str]) -> None:
    with proxy.asked("GET", "/live", headers=cookie) as stream:
        assert (stream.status, stream.headers.get_content_type()) == (200, "text/event-stream")
        assert next_message(stream) == {"companies": [], "many": False}
        article = {"code": f"LIVE-{proxy.port}", "name": "Live"}
        with proxy.asked("POST", "/api/articles", json.dumps(article).encode(), of_program(server)) as answer:
            assert answer.status == 201, answer.read()
        began = time.monotonic()
        assert next_message(stream)["companies"] == [1]
        assert time.monotonic() - began < 5, "before the next beat, so it was not kept until there was more"


def next_message(stream: http.client.HTTPResponse) -> Any:
    while True:
        line = stream.readline()
        assert line, "the stream has ended"
        if line.startswith(b"data: "):
            return json.loads(line[6:])


def test_a_batch_of_three_mebibytes_is_answered(proxy: Proxy, server: Server) -> None:
    create = {"method": "POST", "path": "/api/v2/sales-orders", "body": {"notes": "x" * IN_CHUNK}}
    body = json.dumps({"requests": [create, create, create, {"method": "GET", "path": "/api/v2/articles"}]})
    with proxy.asked("POST", "/api/v2/batch", body.encode(), of_program(server)) as answer:
        answered = json.load(answer)
    assert [each["status"] for each in answered["responses"]] == [422, 422, 422, 200]


def test_a_file_is_imported(proxy: Proxy, cookie: dict[str, str]) -> None:
    with proxy.asked("GET", "/companies/1/imports/new", headers=cookie) as page:
        token = re.search(r'name="form_token" value="(\w+)"', page.read().decode())
    assert token
    fields = {"form_token": token[1], "kind": "articles"}
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    file = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="articles.csv"\r\n\r\n'
    body = "".join((*parts, file, "code,name\nBOX,Box\n", "\n" * 5_000_000, f"\r\n--{BOUNDARY}--\r\n"))
    form = {**cookie, "Origin": proxy.origin, "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    with proxy.asked("POST", "/companies/1/imports/new", body.encode(), form) as answer:
        assert answer.status == 303, answer.read()
        assert answer.headers["Location"].startswith("/companies/1/imports/uploads/")
