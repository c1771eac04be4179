"""`wmsd company export`, `import` and `clone`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.backups import RECOVERY_WORDS, add_article, articles, back_up, damage, unpacked
from tests.support.command import EMAIL, Home, first_day, hashes
from tests.support.mailbox import ALLOWED, open_mailbox

UNLIMITED = {"WMSD_LIMITS_DATA_PER_MINUTE": "1000000"}
SECRET = "a secret that nobody guesses, ever"


@pytest.fixture
def home_of_acme(home: Home) -> Home:
    return first_day(home)


@pytest.fixture
def elsewhere(home: Home, tmp_path: Path) -> Home:
    """Create another installation, which already has a company."""
    (tmp_path / "elsewhere").mkdir()
    return first_day(Home(home.program, tmp_path / "elsewhere"))


def is_right(home: Home) -> bool:
    return all(report["ok"] for report in home.ok("doctor", "--json").json)


def exported(home: Home, *options: str | Path) -> Path:
    file = home.folder / "acme.tar.gz"
    home.ok("company", "export", "ACME", file, *options)
    return file


def words(home: Home) -> Path:
    file = home.write("words", f"{RECOVERY_WORDS}\n")
    file.chmod(0o600)
    return file


def test_a_company_goes_to_another_installation(home_of_acme: Home, elsewhere: Home) -> None:
    with home_of_acme.serving(env=UNLIMITED) as server:
        add_article(server, "A1")
        file = exported(home_of_acme)
    done = elsewhere.ok("company", "import", file, "--code", "GUEST", "--json")
    assert done.json == {"id": 2, "code": "GUEST", "name": "Acme", "webhooks_off": 0}
    assert "integrators send X-Company-Id: 2." in done.err
    assert is_right(elsewhere)
    token = elsewhere.ok("token", "create", "--user", EMAIL, "--ability", "*").out.strip()
    with elsewhere.serving() as server:
        answer = server.get("/api/articles", token=token, company=2)[1]
        assert [record["code"] for record in answer["data"]] == ["A1"]
        assert articles(server) == []


def test_beside_a_server_too(home_of_acme: Home, elsewhere: Home) -> None:
    file = exported(home_of_acme)
    with elsewhere.serving() as server:
        elsewhere.ok("company", "import", file, "--code", "GUEST")
        server.soon("/api/articles", lambda status, _: status == 200, company=2)


def test_its_limits_and_modules_go_along(home_of_acme: Home, elsewhere: Home) -> None:
    home_of_acme.ok("company", "change", "ACME", "--requests-per-minute", "77", "--quota-megabytes", "500")
    home_of_acme.ok("company", "change", "ACME", "--time-zone", "Asia/Tokyo")
    home_of_acme.ok("module", "disable", "ACME", "returns")
    file = exported(home_of_acme)
    elsewhere.ok("company", "import", file, "--code", "GUEST")
    shown = {row["code"]: row for row in elsewhere.ok("company", "list", "--json").json}
    assert shown["GUEST"]["requests_per_minute"] == 77
    assert elsewhere.ok("company", "show", "GUEST", "--json").json["time_zone"] == "Asia/Tokyo"
    assert "returns" not in shown["GUEST"]["modules"]


def subscribed(server: Any, url: str) -> int:
    body = {"name": "R", "url": url, "events": ["*"], "secret": SECRET}
    status, made = server.send("POST", "/api/webhooks", body)
    assert status == 201
    return int(made["id"])


@pytest.mark.parametrize("with_credentials", [True, False])
def test_webhooks_are_off_until_somebody_switches_them_on(
    home_of_acme: Home, elsewhere: Home, with_credentials: bool
) -> None:
    options: list[str | Path] = ["--passphrase-file", words(home_of_acme)] if with_credentials else []
    with open_mailbox() as mailbox, home_of_acme.serving(env={**UNLIMITED, **ALLOWED}) as server:
        hook = subscribed(server, mailbox.url)
        add_article(server, "A1")
        mailbox.wait_for(1)
        file = exported(home_of_acme, *options)
    elsewhere.environment |= ALLOWED
    done = elsewhere.ok("company", "import", file, "--code", "GUEST", "--json", *options)
    assert done.json["webhooks_off"] == 1
    assert ("were imported" if with_credentials else "were not imported: set them again") in done.err
    assert is_right(elsewhere)
    with open_mailbox() as mailbox, elsewhere.serving(env=UNLIMITED) as server:
        assert server.send("PATCH", f"/api/v2/webhooks/{hook}", {"url": mailbox.url}, company=2)[0] == 200
        assert server.send("POST", "/api/articles", {"code": "A2", "name": "A"}, company=2)[0] == 201
        elsewhere.ok("webhook", "on", str(hook), "--company", "GUEST")
        assert server.send("POST", "/api/articles", {"code": "A3", "name": "A"}, company=2)[0] == 201
        if with_credentials:
            (letter,) = mailbox.wait_for(1)
            assert letter.json["data"]["code"] == "A3"
            assert int(letter.headers["x-webhook-sequence"]) == 10_002, "at home the numbers may have gone on"
            assert letter.headers["x-webhook-sequence-gap"] == "2-10001"


def test_no_secret_is_in_clear(home_of_acme: Home) -> None:
    with open_mailbox() as mailbox, home_of_acme.serving(env={**UNLIMITED, **ALLOWED}) as server:
        subscribed(server, mailbox.url)
        file = exported(home_of_acme, "--passphrase-file", words(home_of_acme))
    names = unpacked(file, home_of_acme.folder / "out")
    assert names == ["companies/1.db", "credentials.json.age", "manifest.json"]
    for name in names:
        assert SECRET.encode() not in (home_of_acme.folder / "out" / name).read_bytes()


def test_a_code_that_is_taken_changes_nothing(home_of_acme: Home, elsewhere: Home) -> None:
    file = exported(home_of_acme)
    before = hashes(elsewhere.data)
    assert elsewhere.refusals("company", "import", file) == [
        "The company ACME already exists. Give another code with --code. Nothing was changed."
    ]
    [alike] = elsewhere.refusals("company", "import", file, "--code", "acme")
    assert "differs from the code of company ACME only in capital letters: choose a different code" in alike
    assert hashes(elsewhere.data) == before


def test_the_same_company_is_named_where_it_is_here_already(home_of_acme: Home, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    elsewhere = Home(home_of_acme.program, tmp_path / "far")
    # This needs a new process: installations created in one process would have the same id.
    elsewhere.run_fresh("company", "create", "ACME", "--name", "Acme", "--init")
    file = exported(home_of_acme)
    here, end = (
        "The same company is already in this installation as ",
        ". Changes in one of these companies do not appear in the others.",
    )
    assert here not in elsewhere.ok("company", "import", file, "--code", "GUEST").err
    assert f"{here}GUEST{end}" in elsewhere.ok("company", "import", file, "--code", "GUEST-2").err
    elsewhere.ok("company", "rename", "GUEST", "RENAMED")
    elsewhere.ok("company", "delete", "GUEST-2", "--yes", "--archive-folder", elsewhere.folder / "gone")
    (elsewhere.folder / "later").mkdir()
    file.rename(elsewhere.folder / "later" / "other-name.tar.gz")
    later = elsewhere.folder / "later" / "other-name.tar.gz"
    assert f"{here}RENAMED{end}" in elsewhere.ok("company", "import", later, "--code", "GUEST-3").err
    assert f"{here}ACME{end}" in home_of_acme.ok("company", "import", later, "--code", "TWIN").err
    assert f"{here}ACME and TWIN{end}" in home_of_acme.ok("company", "import", later, "--code", "THIRD").err
    of_twin = home_of_acme.folder / "twin.tar.gz"
    home_of_acme.ok("company", "export", "TWIN", of_twin)
    assert f"{here}TWIN{end}" in home_of_acme.ok("company", "import", of_twin, "--code", "FOURTH").err


def test_an_operator_of_another_installation_is_told_and_not_taken_for_the_one_here(
    home_of_acme: Home, tmp_path: Path
) -> None:
    (tmp_path / "far").mkdir()
    elsewhere = Home(home_of_acme.program, tmp_path / "far")
    elsewhere.run_fresh("company", "create", "ACME", "--name", "Acme", "--init")  # see above
    home_of_acme.ok("operator", "create", "OP2", "--name", "Two")
    home_of_acme.ok("company", "change", "ACME", "--operator", "OP2")
    file, had = (
        exported(home_of_acme),
        "The company had the operator OP2, and now has no operator. To set OP2 again",
    )
    done = elsewhere.ok("company", "import", file, "--code", "GUEST").err.splitlines()
    change = "wmsd company change GUEST --operator OP2"
    assert f"{had} when this operator exists: {change}" in done
    elsewhere.ok("operator", "create", "OP2", "--name", "Another")
    done = elsewhere.ok("company", "import", file, "--code", "SECOND").err.splitlines()
    assert f"{had}: wmsd company change SECOND --operator OP2" in done
    assert elsewhere.ok("company", "show", "SECOND", "--json").json["operator"] is None


def test_an_operator_that_is_not_there(home_of_acme: Home, elsewhere: Home) -> None:
    file = exported(home_of_acme)
    sentence = elsewhere.refused("company", "import", file, "--code", "GUEST", "--operator", "NOBODY")
    assert sentence == "--operator NOBODY is not an operator of this installation."


def test_a_backup_is_no_export(home_of_acme: Home, elsewhere: Home) -> None:
    sentence = elsewhere.refused("company", "import", back_up(home_of_acme))
    assert "is not an export of a company." in sentence


def test_an_export_restores_the_company_at_home(home_of_acme: Home) -> None:
    with home_of_acme.serving(env=UNLIMITED) as server:
        add_article(server, "KEPT")
        file = exported(home_of_acme)
        add_article(server, "LOST")
        home_of_acme.ok("backup", "restore", "--yes", file, "--company", "ACME")
        assert articles(server) == ["KEPT"]


def test_an_export_can_be_proven(home_of_acme: Home) -> None:
    said = home_of_acme.ok("backup", "verify", exported(home_of_acme)).out
    assert "is the archive of the company ACME, and has no errors: 1 file," in said


def test_a_damaged_export_is_refused(home_of_acme: Home, elsewhere: Home) -> None:
    file = exported(home_of_acme)
    damage(file)
    before = hashes(elsewhere.data)
    assert "is damaged" in elsewhere.refused("company", "import", file, "--code", "GUEST")
    assert hashes(elsewhere.data) == before


def test_an_export_overwrites_nothing(home_of_acme: Home) -> None:
    kept = home_of_acme.write("acme.tar.gz", "precious")
    assert "already exists" in home_of_acme.refused("company", "export", "ACME", kept)
    assert kept.read_text() == "precious"


def test_a_company_that_is_not_there(home_of_acme: Home) -> None:
    assert home_of_acme.refused("company", "export", "NOBODY", "x.tar.gz") == "There is no such company as NOBODY."
    assert home_of_acme.refused("company", "clone", "NOBODY", "TWIN") == "There is no such company as NOBODY."


def test_a_practice_twin_has_the_data_and_sends_nothing(home_of_acme: Home) -> None:
    with open_mailbox() as mailbox, home_of_acme.serving(env={**UNLIMITED, **ALLOWED}) as server:
        subscribed(server, mailbox.url)
        mailbox.status = 500
        add_article(server, "A1")
        mailbox.wait_for(1)
        done = home_of_acme.ok("company", "clone", "ACME", "TWIN", "--json")
        assert done.json == {"id": 2, "code": "TWIN", "name": "Acme (copy)", "sandbox": True}
        (line,) = home_of_acme.ok("audit", "--subject", "TWIN", "--json").json
        came = {"copy_of": {"before": None, "after": "ACME"}, "id": {"before": None, "after": 2}}
        assert (line["action"], line["details"]) == ("company.clone", came)
        server.soon("/api/articles", lambda status, _: status == 200, company=2)
        assert server.send("POST", "/api/articles", {"code": "A2", "name": "A"}, company=2)[0] == 201
        assert articles(server) == ["A1"]
        deliveries = json.loads(home_of_acme.ok("webhook", "deliveries", "1", "--company", "TWIN", "--json").out)
        assert [row["status"] for row in deliveries] == ["skipped"]
    assert is_right(home_of_acme)


def test_a_twin_of_a_taken_code(home_of_acme: Home) -> None:
    before = hashes(home_of_acme.data)
    assert home_of_acme.refusals("company", "clone", "ACME", "ACME") == [
        "NEW_CODE ACME is taken by another company."
    ]
    assert hashes(home_of_acme.data) == before
