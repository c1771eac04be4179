"""Tests of a first day with the one-file executable: an empty folder, an empty environment, and nothing else of
wmsd.
"""

import base64
import fcntl
import hmac
import html
import json
import os
import re
import shutil
import signal
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from PyInstaller.archive.readers import CArchiveReader

from tests.support.authority import found_authority
from tests.support.executable import (
    EXECUTABLE,
    IS_THERE,
    LONGEST,
    WITHIN_A_SECOND,
    Server,
    done,
    eventually,
    fetch,
    is_alive,
    post,
    serving,
    wmsd,
)
from tests.support.receivers import open_receivers
from wmsd import __version__
from wmsd.host import licences
from wmsd.imports.encodings import ENCODINGS
from wmsd.interfaces.cli.main import COMMANDS
from wmsd.interfaces.pages.kit.rendering import compiled_templates

pytestmark = pytest.mark.skipif(not IS_THERE, reason="build it first: scripts/build")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("first-day"), "--demo") as running:
        yield running


def test_it_knows_its_version(tmp_path: Path) -> None:
    assert done(tmp_path, "version") == f"wmsd {__version__}\n"


def test_it_carries_the_licences_of_all_that_is_in_it(tmp_path: Path) -> None:
    listed = {each["name"] for each in json.loads(done(tmp_path, "licenses", "--json"))}
    assert {each.name for each in licences.components()} <= listed
    assert {name.split(" ")[0] for name in listed if name.endswith("(Debian)")} >= {"libffi8", "zlib1g"}
    assert "pyinstaller" in listed
    assert list(tmp_path.iterdir()) == []


def test_its_pages_are_compiled() -> None:
    modules = CArchiveReader(str(EXECUTABLE)).open_embedded_archive("PYZ.pyz")
    (files,) = (each for each in modules.extract("wmsd_files").co_consts if isinstance(each, bytes))
    folders = [str(Path(name).parent) for name in ZipFile(BytesIO(files)).namelist()]
    assert folders.count("wmsd/interfaces/pages/templates/__pycache__") == len([*compiled_templates()])


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_inside(command: str, tmp_path: Path) -> None:
    assert done(tmp_path, command, "--help").startswith(f"Usage: wmsd {command} ")


def test_the_demo_is_there_to_be_tried(server: Server) -> None:
    assert server.get("/api/health").json["status"] == "ok"
    description = server.get("/openapi.json").json
    assert description["openapi"].startswith("3.1")
    assert "/api/articles" in description["paths"]
    assert server.get("/api/articles").status == 401
    articles = server.get("/api/articles?per_page=100", server.token, server.demo_id)
    assert (articles.status, len(articles.json["data"])) == (200, 100)
    stock = server.get("/api/stock", server.token, server.demo_id)
    assert (stock.status, stock.json["data"] != []) == (200, True)


def test_graphql_is_inside(server: Server) -> None:
    document = '{ articles(first: 1) { nodes { code stock { available } } } __type(name: "Lot") { name } }'
    query = urllib.parse.quote(document)
    answer = server.get(f"/api/graphql?query={query}", server.token, server.demo_id)
    assert (answer.status, answer.json.get("errors")) == (200, None)
    assert len(answer.json["data"]["articles"]["nodes"]) == 1
    assert server.get("/api/graphql/schema").text == done(server.folder, "graphql", "schema")


@pytest.mark.parametrize(
    ("path", "heading"), [("/docs", "The guide"), ("/docs/api", "API"), ("/docs/changelog", "Changes")]
)
def test_the_guide_is_inside(server: Server, path: str, heading: str) -> None:
    page = server.get(path)
    assert (page.status, page.type) == (200, "text/html")
    assert re.search(f"<h1[^>]*>[^<]*{heading}[^<]*</h1>", page.text)


def test_the_first_admin_follows_the_link(server: Server) -> None:
    page = fetch(server.first_admin)
    assert page.status == 200
    code = urllib.parse.parse_qs(urllib.parse.urlsplit(server.first_admin).query)["code"][0]
    assert f'name="code" value="{html.escape(code)}"' in page.text
    chosen = "correct horse battery"
    form = {"name": "Ana", "email": "ana@example.com", "password": chosen, "again": chosen, "code": code}
    wrong = fetch(f"{server.address}/first-admin", form={**form, "again": "another"})
    assert (wrong.status, "does not match the password" in wrong.text) == (422, True)
    welcome = fetch(f"{server.address}/first-admin", form=form)  # the answer signs in, which this client forgets
    assert (welcome.status, "<h1>Sign in to wmsd</h1>" in welcome.text) == (200, True)
    assert fetch(server.first_admin).status == 404
    assert "ana@example.com" in done(server.folder, "user", "list")


def test_pages_are_by_a_time_zone_that_is_inside(tmp_path: Path) -> None:
    """Pages use the executable's own time zones, also if the machine has none: only the executable is read."""
    with serving(tmp_path, "--demo", environment={"WMSD_SERVER_TIME_ZONE": "Asia/Tokyo"}) as running:
        chosen = "correct horse battery"
        user = ["user", "create", "ana@example.com", "--role", "platform-admin", "--password-stdin"]
        done(tmp_path, *user, stdin=f"{chosen}\n")
        browser = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor()
        )
        form = urllib.parse.urlencode({"email": "ana@example.com", "password": chosen}).encode()
        sent = urllib.request.Request(f"{running.address}/sign-in", form, {"Sec-Fetch-Site": "same-origin"})
        assert browser.open(sent, timeout=LONGEST).status == 200
        page = browser.open(f"{running.address}/account", timeout=LONGEST).read().decode()
        assert "Asia/Tokyo +09:00" in page
        assert '<option value="Europe/Bucharest">' in page


def test_commands_work_beside_the_running_server(server: Server) -> None:
    made = json.loads(
        done(server.folder, "company", "create", "ACME", "--name", "Ácme", "--all-modules", "--json")
    )
    user = ["user", "create", "ion@example.com", "--role", "company-admin", "--company", "ACME"]
    done(server.folder, *user, "--password-stdin", stdin="correct horse battery\n")
    printed = done(
        server.folder, "token", "create", "--user", "ion@example.com", "--ability", "*", "--company", "ACME"
    )
    token = printed.strip()
    assert printed == f"{token}\n"
    assert re.fullmatch(r"[\w-]+\.[\w-]+\.[\w-]+", token, re.ASCII)
    catalogue = "code,name,unit\nS-1,Şurub,pcs\nS-2,Screw,pcs\n"
    counted = json.loads(
        done(server.folder, "import", "articles", "-", "--company", "ACME", "--json", stdin=catalogue)
    )
    assert counted["created"] == 2

    def names() -> list[str]:
        answer = server.get("/api/articles", token, made["id"])
        return [article["name"] for article in answer.json["data"]] if answer.status == 200 else []

    assert eventually(lambda: names() == ["Şurub", "Screw"], WITHIN_A_SECOND), names()
    assert done(server.folder, "export", "articles", "--company", "ACME").count("\n") == 3


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_of_files_is_inside(server: Server, encoding: str) -> None:
    (server.folder / "articles.csv").write_bytes("code,name\nS-1,Möbel\n".encode(encoding))
    preview = ("import", "articles", "articles.csv", "--company", "DEMO", "--dry-run", "--json")
    assert json.loads(done(server.folder, *preview, "--encoding", encoding))["created"] == 1


def test_a_company_is_restored_from_a_backup(server: Server) -> None:
    words = server.folder / "words"
    words.write_text("correct horse battery\n")
    words.chmod(0o600)
    options = ["--folder", "mine", "--passphrase-file", str(words), "--json"]
    archive = json.loads(done(server.folder, "backup", "create", *options))["backup"]
    done(server.folder, "backup", "verify", archive, "--passphrase-file", str(words))
    assert post(server, "/api/articles", {"code": "LOST", "name": "Lost"}).status == 201
    said = json.loads(done(server.folder, "backup", "restore", "--yes", archive, "--company", "DEMO", "--json"))
    assert said["missing_events"] == 1
    assert server.get("/api/articles?search=LOST", server.token, server.demo_id).json["data"] == []


def test_the_server_makes_and_proves_backups_by_itself(server: Server) -> None:
    """The server creates and verifies backups automatically, a minute after its start if there is
    none of today.
    """
    done(server.folder, "recovery-phrase", "decline", "--yes")
    record = server.folder / "data" / "backup.json"

    def is_verified() -> bool:
        return record.exists() and json.loads(record.read_text())["proven"] is not None

    assert eventually(is_verified, LONGEST + 30.0), (server.folder / "log").read_text()[-2000:]
    assert json.loads(record.read_text())["proven"]["problems"] == []
    shown = [line.split(maxsplit=1) for line in done(server.folder, "status").splitlines()]
    assert any(name == "backup" and text.startswith("the backup verified at ") for name, text in shown)


def test_webhooks_are_signed_and_sent_over_tls(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    authority = found_authority(keys)
    allowed = '[webhooks]\nallow_networks = ["127.0.0.1/32"]\nallow_ports = ["1-65535"]\n'
    (tmp_path / "config.toml").write_text(f'{allowed}ca_file = "{authority.ca_file}"\n')
    with open_receivers(authority) as receivers, serving(tmp_path, "--demo") as running:
        body = {
            "name": "ERP",
            "url": receivers.url("/200", "good"),
            "events": ["article.created"],
            "secret": "s" * 32,
        }
        hook = post(running, "/api/webhooks", body)
        assert hook.status == 201, hook.text
        assert post(running, "/api/articles", {"code": "NEW", "name": "New"}).status == 201
        assert eventually(lambda: len(receivers.recorded()) == 1, WITHIN_A_SECOND)
        (received,) = receivers.recorded()
        raw = base64.b64decode(received["body"])
        digest = hmac.new(b"s" * 32, raw, "sha256").hexdigest()
        assert received["headers"]["x-webhook-signature"] == f"sha256={digest}"
        assert ("The receiver accepted the test event.") in wmsd(
            tmp_path, "webhook", "test", "1", "--company", "DEMO"
        ).stderr


def test_a_second_server_says_who_has_the_folder(server: Server) -> None:
    second = wmsd(server.folder, "serve", "--listen", "127.0.0.1:0")
    assert (second.returncode, second.stdout) == (1, "")
    assert "Another wmsd already uses the data folder" in second.stderr
    assert f"process {server.children[0]}," in second.stderr
    assert server.get("/api/health").status == 200


def test_it_lives_on_what_it_was_started_from(tmp_path: Path) -> None:
    """The running program depends only on its own files.

    Neither the installation of a newer program nor a clean-up of /tmp harms it.
    """
    installed = Path(shutil.copy2(EXECUTABLE, tmp_path / "wmsd"))
    with serving(tmp_path, executable=installed) as running:
        newer = tmp_path / "newer"
        newer.write_bytes(b"Quite another program.")
        newer.replace(installed)
        assert running.get("/docs").status == 200, "what is imported late comes from the file of the start"
        installed.unlink()
        assert running.get("/docs/api").status == 200
        for unpacked in running.unpacked:
            folder = os.open(unpacked, os.O_RDONLY)
            try:
                with pytest.raises(BlockingIOError):
                    fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            finally:
                os.close(folder)
        assert running.unpacked != set()


def test_it_goes_on_when_its_temporary_folder_is_removed(tmp_path: Path) -> None:
    with serving(tmp_path) as running:
        [unpacked] = running.unpacked
        libraries = {str(each) for each in unpacked.rglob("*.so*") if each.is_file() and not each.is_symlink()}
        [child] = running.children
        assert eventually(lambda: libraries <= set(Path(f"/proc/{child}/maps").read_text().split()), LONGEST)
        shutil.rmtree(unpacked)
        for path in ("/docs/stock", "/docs/search?q=stock", "/docs/settings", "/docs/api", "/sign-in"):
            assert running.get(path).status == 200, path
        assert done(tmp_path, "backup", "create")


def test_it_ends_when_what_started_it_is_killed(tmp_path: Path) -> None:
    with serving(tmp_path) as running:
        [child] = running.children
        running.process.kill()
        assert eventually(lambda: not is_alive(child), LONGEST)


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_and_leaves_nothing_behind(stop: signal.Signals, tmp_path: Path) -> None:
    with serving(tmp_path) as running:
        children, unpacked = running.children, running.unpacked
        assert (len(children), len(unpacked)) == (1, 1)
        if stop is signal.SIGINT:
            os.killpg(running.process.pid, stop)  # as the terminal does it, to all processes of the group
        else:
            running.process.send_signal(stop)
        assert running.process.wait(LONGEST) == 0, (tmp_path / "log").read_text()
        assert not any(is_alive(child) for child in children)
        assert not any(folder.exists() for folder in unpacked)
    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log
    assert log.endswith("stopped\n")
