"""`wmsd company export --freeze` and `thaw`: every acknowledged write is in the export, and no write follows the
freeze.
"""

import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.backups import RECOVERY_WORDS, add_article, articles, sql, unpacked
from tests.support.command import Home, Server, first_day
from tests.support.forked import LONGEST
from tests.support.injected import killed_at
from tests.support.mailbox import ALLOWED, Letter, open_mailbox
from tests.support.small_disk import fill, small_disk_at
from wmsd.data_folder.folder import DataFolder
from wmsd.db.engine.sqlite import sqlite3

UNLIMITED = {"WMSD_LIMITS_DATA_PER_MINUTE": "1000000"}
SECRET = "a secret that nobody guesses, ever"
IN_THE_FILE = "SELECT code FROM articles"
OPEN = "SELECT status, count(*) FROM webhook_deliveries GROUP BY status ORDER BY status"


@pytest.fixture
def acme(home: Home) -> Home:
    return first_day(home)


@pytest.fixture
def elsewhere(home: Home, tmp_path: Path) -> Home:
    (tmp_path / "elsewhere").mkdir()
    return first_day(Home(home.program, tmp_path / "elsewhere", dict(ALLOWED)))


@dataclass
class Ledger:
    """The replies that the writers got, recorded outside of the server."""

    acknowledged: list[str] = field(default_factory=list)
    refused: dict[str, Any] = field(default_factory=dict)
    """The body of the 503 reply with its Retry-After, by the code of the article."""
    others: list[object] = field(default_factory=list)


@contextmanager
def writing(server: Server, ledger: Ledger, writers: int = 3) -> Iterator[None]:
    """Run writers that create one article after the other, as fast as the server replies."""
    is_over = threading.Event()

    def write(writer: int) -> None:
        number = 0
        while not is_over.is_set():
            code, number = f"W{writer}-{number}", number + 1
            body = json.dumps({"code": code, "name": code}).encode()
            headers = {
                "Authorization": f"Bearer {server.token}",
                "X-Company-Id": "1",
                "Content-Type": "application/json",
                "Idempotency-Key": code,
            }
            request = urllib.request.Request(f"{server.address}/api/articles", body, headers)
            try:
                with urllib.request.urlopen(request, timeout=LONGEST):
                    ledger.acknowledged.append(code)
            except urllib.error.HTTPError as error:
                told = json.load(error)
                if error.code == 503:
                    ledger.refused[code] = {**told, "after": error.headers["Retry-After"]}
                    time.sleep(0.01)
                else:
                    ledger.others.append((error.code, told))

    threads = [threading.Thread(target=write, args=(each,)) for each in range(writers)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def soon(is_so: Any) -> None:
    until = time.monotonic() + LONGEST
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def codes_in(archive: Path, folder: Path) -> set[str]:
    unpacked(archive, folder)
    return {code for (code,) in sql(folder / "companies" / "1.db", IN_THE_FILE)}


def frozen_export(home: Home, *options: str | Path) -> Path:
    file = home.folder / "acme.tar.gz"
    home.ok("company", "export", "ACME", file, "--freeze", *options)
    return file


def words(home: Home) -> Path:
    file = home.write("words", f"{RECOVERY_WORDS}\n")
    file.chmod(0o600)
    return file


def subscribed(server: Server, url: str) -> int:
    body = {"name": "R", "url": url, "events": ["*"], "secret": SECRET}
    status, made = server.send("POST", "/api/webhooks", body)
    assert status == 201
    return int(made["id"])


def is_refused(answer: tuple[int, Any]) -> bool:
    status, told = answer
    return status == 503 and told["code"] == "SERVICE_UNAVAILABLE" and "ACME is being moved" in told["message"]


def test_under_load_everything_acknowledged_is_in_the_file_and_nothing_after(acme: Home) -> None:
    ledger = Ledger()
    with acme.serving(env=UNLIMITED) as server, writing(server, ledger):
        soon(lambda: len(ledger.acknowledged) > 60)
        file = frozen_export(acme)
        soon(lambda: len(ledger.refused) > 30)
        served = set(articles(server))
        assert served
    assert ledger.others == []
    acknowledged, refused = set(ledger.acknowledged), ledger.refused
    in_file = codes_in(file, acme.folder / "out")
    at_home = {code for (code,) in sql(acme.data / "companies" / "1.db", IN_THE_FILE)}
    assert (acknowledged - in_file, acknowledged - at_home) == (set(), set())
    assert (in_file & refused.keys(), at_home & refused.keys()) == (set(), set())
    assert {each["after"] for each in refused.values()} == {"60"}
    assert all(each["code"] == "SERVICE_UNAVAILABLE" for each in refused.values())


def test_every_way_to_write_is_refused_and_every_way_to_read_goes_on(acme: Home) -> None:
    with acme.serving(env=UNLIMITED) as server:
        add_article(server, "A1")
        frozen_export(acme)
        new = {"code": "A2", "name": "A2"}
        for path in ("/api/articles", "/api/v2/sales-orders", "/api/webhooks"):
            assert is_refused(server.send("POST", path, new))
        assert is_refused(server.send("PUT", "/api/articles/1", {"code": "A1", "name": "Other"}))
        assert is_refused(server.send("DELETE", "/api/webhooks/1"))
        batch = {"requests": [{"method": "POST", "path": "/api/v2/sales-orders", "body": new}]}
        [slot] = server.send("POST", "/api/v2/batch", batch)[1]["responses"]
        assert is_refused((slot["status"], slot["body"]))
        mutation = 'mutation { create_article(input: {code: "A2", name: "A2"}) { id } }'
        status, told = server.send("POST", "/api/graphql", {"query": mutation})
        assert "ACME is being moved" in told["errors"][0]["message"], (status, told)
        assert server.send("POST", "/api/graphql", {"query": "{ articles { nodes { code } } }"})[0] == 200
        assert articles(server) == ["A1"]
        for command in (
            ("import", "articles", "-", "--company", "ACME"),
            ("article", "create", "A2", "--name", "A2", "--company", "ACME"),
            ("company", "change", "ACME", "--over-receipt-pct", "5"),
        ):
            assert "ACME is being moved" in acme.refused(*command, stdin="code,name\nA2,A2\n")
        assert "A1" in acme.ok("export", "articles", "--company", "ACME").out
        assert acme.ok("company", "clone", "ACME", "TWIN").code == 0
        server.soon("/api/articles", lambda status, _: status == 200, company=2)
        assert server.send("POST", "/api/articles", new, company=2)[0] == 201  # the copy is not frozen
    assert [code for (code,) in sql(acme.data / "companies" / "1.db", IN_THE_FILE)] == ["A1"]


def test_without_a_server_commands_are_refused_too(acme: Home) -> None:
    frozen_export(acme)
    said = acme.refused("import", "articles", "-", "--company", "ACME", stdin="code,name\nA2,A2\n")
    assert "ACME is being moved and has accepted no changes since " in said
    acme.ok("company", "thaw", "ACME")
    acme.ok("import", "articles", "-", "--company", "ACME", stdin="code,name\nA2,A2\n")


def test_a_queue_goes_along_and_is_sent_once_from_the_new_home(acme: Home, elsewhere: Home) -> None:
    options: list[str | Path] = ["--passphrase-file", words(acme)]
    with open_mailbox() as mailbox, acme.serving(env={**UNLIMITED, **ALLOWED}) as server:
        hook = subscribed(server, mailbox.url)
        mailbox.delay = 2
        add_article(server, "A1")
        for number in range(2):  # these wait behind the first event
            assert server.send("PATCH", "/api/articles/1", {"name": f"A{number}"})[0] == 200
        for number in range(2, 6):
            add_article(server, f"A{number}")
        mailbox.wait_for(1)
        every = {each["event_id"]: each["sequence"] for each in deliveries(server, hook)}
        file = frozen_export(acme, *options)
        assert [each["status"] for each in deliveries(server, hook) if each["sequence"] == 1] == ["delivered"]
        acme.ok("module", "disable", "ACME", "api")  # an earlier guide advised this: still no event is skipped
        time.sleep(2)
        at_home = [id_and_sequence(each) for each in mailbox.letters]
    counts = dict(sql(acme.data / "companies" / "1.db", OPEN))
    assert counts.keys() <= {"delivered", "held", "pending"}
    assert counts["delivered"] == len(at_home) < len(every) == 7
    elsewhere.ok("company", "import", file, "--code", "GUEST", *options)
    with open_mailbox() as new_mailbox, elsewhere.serving(env=UNLIMITED) as server:
        moved = server.send("PATCH", f"/api/v2/webhooks/{hook}", {"url": new_mailbox.url}, company=2)
        assert moved[0] == 200
        elsewhere.ok("webhook", "on", str(hook), "--company", "GUEST")
        new_mailbox.wait_for(len(every) - len(at_home))
        time.sleep(1)
        from_there = [id_and_sequence(each) for each in new_mailbox.letters]
    assert sorted(at_home + from_there) == sorted(every.items())


def deliveries(server: Server, hook: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.get(f"/api/v2/webhooks/{hook}/deliveries?per_page=100")[1]["data"]
    return found


def id_and_sequence(letter: Letter) -> tuple[str, int]:
    return letter.headers["x-webhook-id"], int(letter.headers["x-webhook-sequence"])


def test_a_freeze_survives_a_restart_is_shown_and_ends_by_thaw(acme: Home) -> None:
    with open_mailbox() as mailbox:
        with acme.serving(env={**UNLIMITED, **ALLOWED}) as server:
            subscribed(server, mailbox.url)
            frozen_export(acme)
            server.kill()
        assert "ACME" in acme.run("status").out.split("frozen")[1]
        with acme.serving(env={**UNLIMITED, **ALLOWED}) as server:
            assert is_refused(server.send("POST", "/api/articles", {"code": "A2", "name": "A2"}))
            status = acme.run("status", "--json").json
            assert "ACME since " in status["frozen"]
            assert status["live"]["companies"]["frozen"][0]["code"] == "ACME"
            [row] = acme.ok("company", "list", "--json").json
            assert row["frozen_at"] is not None
            assert row["frozen_at"] == acme.ok("company", "show", "ACME", "--json").json["frozen_at"]
            health = server.get("/api/health")[1]
            assert (health["status"], health["checks"]["moves"]["companies_frozen"]) == ("ok", 1)
            acme.ok("company", "thaw", "ACME")
            add_article(server, "A2")  # immediately
            mailbox.wait_for(1)
            assert "moves" not in server.get("/api/health")[1]["checks"]
            soon(lambda: "frozen" not in acme.run("status", "--json").json)
    said = acme.ok("audit", "--json").json
    acts = [each for each in said if each["action"] in ("company.thaw", "company.freeze")]
    assert sorted(each["action"] for each in acts) == ["company.freeze", "company.thaw"]
    assert all(each["actor"].startswith("command line, unix user ") for each in acts)


@pytest.mark.parametrize("is_served", [True, False])
def test_a_freeze_that_was_forgotten_needs_a_person(acme: Home, is_served: bool) -> None:
    frozen_export(acme)
    assert "ACME has been frozen" not in acme.run("status").err
    platform = sqlite3.connect(acme.data / "platform.db")
    with closing(platform), platform:
        platform.execute("UPDATE companies SET frozen_at = '2026-01-02T03:04:05.678Z'")
    with acme.serving() if is_served else nullcontext():
        status = acme.run("status")
        assert status.code == 1
        assert "ACME has been frozen since 2026-01-02T03:04:05.678Z and accepts no changes." in status.err


def test_what_is_done_twice_or_for_nothing_says_so(acme: Home) -> None:
    assert "ACME is not frozen. Nothing was changed." in acme.ok("company", "thaw", "ACME").err
    file = frozen_export(acme)
    assert f"{file} already exists" in acme.refused("company", "export", "ACME", file, "--freeze")
    again = acme.ok("company", "export", "ACME", "again.tar.gz", "--freeze", "--json")
    assert again.json["frozen_at"] == acme.ok("company", "show", "ACME", "--json").json["frozen_at"]
    for command in (("export", "ACEM", "x.tar.gz", "--freeze"), ("thaw", "ACEM")):
        assert "Did you mean ACME?" in acme.refused("company", *command)
    acme.ok("company", "delete", "ACME", "--yes")
    assert acme.run("status", "--json").json.get("frozen") is None


@pytest.mark.parametrize("is_served", [True, False])
def test_a_damaged_company_is_not_frozen(acme: Home, is_served: bool) -> None:
    (acme.data / "companies" / "1.db").write_bytes(b"noise" * 4000)
    with acme.serving() if is_served else nullcontext():
        said = acme.refused("company", "export", "ACME", "acme.tar.gz", "--freeze")
        assert "The file of ACME cannot be used, so the company was not frozen: " in said
        assert acme.ok("company", "list", "--json").json[0]["frozen_at"] is None


@pytest.mark.parametrize("is_served", [True, False])
def test_an_export_that_fails_ends_its_freeze_and_leaves_an_older_one(
    acme: Home, tmp_path: Path, is_served: bool
) -> None:
    with small_disk_at(tmp_path / "small") as disk:
        fill(disk, leave=0)
        with acme.serving(env=UNLIMITED) if is_served else nullcontext() as server:
            failed = acme.run("company", "export", "ACME", disk / "acme.tar.gz", "--freeze")
            assert (failed.code, "ACME is not frozen: the company accepts changes again." in failed.err) == (
                1,
                True,
            )
            if server is not None:
                add_article(server, "A1")
            frozen_export(acme)
            failed = acme.run("company", "export", "ACME", disk / "acme.tar.gz", "--freeze")
            assert failed.code == 1
            assert "ACME is still frozen, since " in failed.err
            assert "To end the freeze: wmsd company thaw ACME\n" in failed.err
            assert list(disk.iterdir()) == [disk / "other"]


def test_a_command_that_is_killed_after_the_freeze_leaves_it_and_goes_on_when_given_again(acme: Home) -> None:
    file = acme.folder / "acme.tar.gz"
    with acme.serving(env=UNLIMITED) as server:
        paused = acme.paused("company", "export", "ACME", file, "--freeze")
        with paused as process, killed_at(process.pid, "rename", 1):
            os.kill(process.pid, signal.SIGCONT)
            assert process.wait(LONGEST) == -signal.SIGKILL
        assert is_refused(server.send("POST", "/api/articles", {"code": "A2", "name": "A2"}))
        assert not file.exists()
        assert "ACME since " in acme.run("status", "--json").json["frozen"]
        frozen_export(acme)


def test_without_a_server_no_other_command_may_be_at_work(acme: Home) -> None:
    other = DataFolder(acme.data)
    assert other.share()
    said = acme.refused("company", "export", "ACME", "acme.tar.gz", "--freeze")
    assert "Another command is using" in said
    other.unlock()
    frozen_export(acme)
    assert acme.ok("company", "list", "--json").json[0]["frozen_at"] is not None


def test_a_restore_at_home_keeps_the_freeze_and_the_import_of_an_archive_has_none(acme: Home) -> None:
    file = frozen_export(acme)
    acme.ok("backup", "restore", file, "--company", "ACME", "--yes")
    acme.ok("company", "import", file, "--code", "AGAIN")
    frozen = {each["code"]: each["frozen_at"] is not None for each in acme.ok("company", "list", "--json").json}
    assert frozen == {"ACME": True, "AGAIN": False}


def test_a_command_that_is_at_work_is_waited_for_or_named(acme: Home) -> None:
    rows = "code,name\n" + "".join(f"I{number},Article {number}\n" for number in range(20_000))
    acme.write("many.csv", rows)
    with acme.serving(env=UNLIMITED):
        importing = acme.start("import", "articles", "many.csv", "--company", "ACME")
        file = frozen_export(acme)
        importing.communicate(timeout=LONGEST)
    in_file = codes_in(file, acme.folder / "out")
    assert len(in_file) == (20_000 if importing.returncode == 0 else 0)
