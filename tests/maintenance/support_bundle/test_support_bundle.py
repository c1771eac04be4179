"""`wmsd support-bundle`: the bundle helps its reader, and reveals no secrets."""

import json
import stat
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import EMAIL, PASSWORD, Home, first_day
from tests.support.small_disk import fill
from wmsd.db.engine.sqlite import connect
from wmsd.maintenance.support_bundle.redaction import Hiding, secrets_of
from wmsd.server.alerts.alerts_file import Failure, Kept, OpenAlert, write_alerts
from wmsd.settings.all_settings import Settings, sections

AT = "2026-11-24T12:00:00.000Z"
PARTS = {
    "README.txt",
    "version.json",
    "settings.json",
    "status.json",
    "doctor.json",
    "log.txt",
    "schemas.json",
    "files.json",
    "companies.json",
    "records.json",
    "machine.json",
}
WEBHOOK = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SECRETS = {
    "provider": "hush-provider-4711",
    "provider-file": "hush-provider-file-4712",
    "metrics": "hush-metrics-4713-token",
    "alerts": "hush-alerts-4714-secret",
    "passphrase": "hush passphrase 4715",
    "url": "hush-path-4716",
    "argument": "hush-argument-4717",
    "after": "hush-after-4718",
}
CONFIG = """
[sign_on]
[[sign_on.providers]]
name = "one"
issuer = "https://login.example.com/one"
client_id = "wmsd"
client_secret = "{provider}"
[[sign_on.providers]]
name = "two"
issuer = "https://login.example.com/two"
client_id = "wmsd"
client_secret_file = "{folder}/provider-file"
[metrics]
token_file = "{folder}/metrics"
[alerts]
url = "https://alerts.example.com/{url}"
secret_file = "{folder}/alerts"
command = ["/bin/tell", "--key={argument}"]
[backup]
every = "never"
passphrase_file = "{folder}/passphrase"
after = "curl -u me:{after} https://elsewhere.example.com"
[log]
file = "{folder}/wmsd.log"
"""


def unpacked(archive: Path) -> dict[str, str]:
    with tarfile.open(archive) as opened:
        found = {}
        for entry in opened.getmembers():
            file = opened.extractfile(entry)
            assert file is not None
            folder, _, name = entry.name.partition("/")
            assert folder == archive.name.removesuffix(".tar.gz")
            found[name] = file.read().decode()
    return found


def bundle(home: Home, *options: str) -> dict[str, str]:
    file = home.folder / "bundle.tar.gz"
    file.unlink(missing_ok=True)
    done = home.ok("support-bundle", str(file), *options)
    assert "Read the bundle before you send it" in done.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    return unpacked(file)


@pytest.fixture
def secretive(home: Home) -> tuple[Home, dict[str, str]]:
    """Create a home with secrets in every place, and return the home with the secrets by name."""
    first_day(home)
    for name, secret in SECRETS.items():
        home.write(name, f"{secret}\n")
    home.write("config.toml", CONFIG.format(folder=home.folder, **SECRETS))
    kernel = home.ok("kernel-token", "create").out.strip().splitlines()[-1]
    token = (home.folder / "token").read_text()
    lines = [
        f"2026-11-24 12:00:00 info    GET /first-admin?code=hush-code-4720 200 by {EMAIL}",
        f"Token:        {token}",
        f"curl -H 'Authorization: Bearer {token}' https://me:hush-user-4721@example.com/",
        f"webhook {WEBHOOK} and {SECRETS['metrics']} and \x1b[2J",
        "2026-11-24 12:00:01 error   the file of ACME cannot be used company=1",
    ]
    home.write("wmsd.log", "\n".join(lines) + "\n")
    written = {"token": token, "kernel": kernel, "webhook": WEBHOOK, "code": "hush-code-4720"}
    return home, {**SECRETS, **written, "password": PASSWORD, "user": "hush-user-4721"}


def none_of(secrets: dict[str, str], parts: dict[str, str]) -> None:
    found = [(name, part) for name, secret in secrets.items() for part, text in parts.items() if secret in text]
    assert found == []


def test_no_secret_leaves_the_house(secretive: tuple[Home, dict[str, str]]) -> None:
    home, secrets = secretive
    hook = {"name": "W", "url": f"https://example.com/{WEBHOOK}", "events": ["*"], "secret": WEBHOOK}
    with home.serving() as server:
        assert server.send("POST", "/api/webhooks", hook)[0] == 201
        assert server.send("POST", "/api/articles", {"code": "HUSH-GOODS", "name": "Hush goods"})[0] == 201
        parts = bundle(home)
    assert parts.keys() == PARTS
    none_of({**secrets, "e-mail": EMAIL, "goods": "HUSH", "name": "Hush goods", "company": "ACME"}, parts)
    assert "company-1 cannot be used" in parts["log.txt"]
    assert "\x1b" not in "".join(parts.values())
    (entry,) = [each for each in tables(parts, "settings.json")["data"] if each["name"] == "alerts.url"]
    assert entry["value"] == "(not shown)"
    assert tables(parts, "status.json")["live"]["companies"]["known"] == 1


def tables(parts: dict[str, str], name: str) -> Any:
    return json.loads(parts[name])


def test_the_master_key_and_what_it_seals_stay_where_they_are(home: Home) -> None:
    first_day(home)
    key = home.folder / "key"
    home.ok("key", "move", str(key))
    home.write("config.toml", f'[server]\nkey_file = "{key}"\n[log]\nfile = "wmsd.log"\n')
    held = [each.strip() for each in key.read_text().splitlines() if len(each.strip()) > 20]
    assert held
    home.write("wmsd.log", "\n".join(held))
    parts = bundle(home)
    none_of({str(place): each for place, each in enumerate(held)}, parts)


def test_with_names_companies_have_their_codes(secretive: tuple[Home, dict[str, str]]) -> None:
    home, secrets = secretive
    parts = bundle(home, "--with-names")
    assert tables(parts, "companies.json")[0]["code"] == "ACME"
    assert "the file of ACME cannot be used" in parts["log.txt"]
    assert "--with-names" in parts["README.txt"]
    none_of(secrets, parts)


def test_it_says_what_is_in_it_and_each_part_is_of_use(home: Home) -> None:
    first_day(home)
    parts = bundle(home)
    for name in PARTS - {"README.txt"}:
        assert name in parts["README.txt"]
        if name.endswith(".json"):
            json.loads(parts[name])
    schemas = tables(parts, "schemas.json")
    assert schemas["of_files"]["platform.db"]["schema"] == schemas["of_this_program"]["platform"]
    assert schemas["of_files"]["1.db"]["schema"] == schemas["of_this_program"]["company"]
    names = {each["name"]: each["bytes"] for each in tables(parts, "files.json")["files"]}
    assert names["companies/1.db"] == (home.data / "companies" / "1.db").stat().st_size
    assert [each["ok"] for each in tables(parts, "doctor.json")["files"]] == [True, True]
    assert tables(parts, "doctor.json")["files"][1]["company"] == 1
    assert tables(parts, "machine.json")["kernel"].startswith("Linux")
    assert "There is no log" in parts["log.txt"]
    assert tables(bundle(home, "--quick"), "doctor.json")["files"] == []


def test_a_broken_promise_is_told_without_the_record(home: Home) -> None:
    first_day(home)
    with closing(connect(home.data / "companies" / "1.db")) as connection:
        connection.execute("UPDATE row_counts SET rows = rows + 7 WHERE name = 'articles'")
    (_, company) = tables(bundle(home), "doctor.json")["files"]
    assert company["ok"] is False
    assert sum(company["differences"].values()) == 1
    assert "articles" not in json.dumps(company)


@pytest.mark.parametrize(
    "damaged", ["platform.db", "companies/1.db", "alerts.json", "backup.json", "upgrade.json"]
)
def test_a_damaged_folder_still_gives_a_bundle(home: Home, damaged: str) -> None:
    first_day(home)
    (home.data / damaged).write_bytes(b"\xff not what it was " * 4000)
    parts = bundle(home)
    assert parts.keys() == PARTS
    assert tables(parts, "companies.json")[0]["id"] == 1
    if damaged.endswith(".db"):
        assert any(not each["ok"] for each in tables(parts, "doctor.json")["files"])
        assert tables(parts, "schemas.json")["of_files"][Path(damaged).name] == {"error": "is not a SQLite file"}
    if damaged == "platform.db":
        assert "the log may still contain codes of companies" in parts["README.txt"]
    if damaged == "upgrade.json":
        assert "could not be created" in parts["records.json"]


def test_without_any_data_there_is_a_bundle_too(home: Home) -> None:
    parts = bundle(home)
    assert parts.keys() == PARTS
    assert tables(parts, "companies.json") == [] or "could not" in parts["companies.json"]


def test_the_facts_of_alerts_stay_here(home: Home) -> None:
    first_day(home)
    facts = {"user": "hush-4725", "name": "ERP of hush-4725"}
    kept = Kept(
        open=[OpenAlert(kind="token-expires", subject="1", facts=facts, begun_at=AT)],
        failures={
            "url": Failure(
                since=AT, at=AT, error=f"The receiver answered with status 500. Its answer was: {WEBHOOK}."
            )
        },
    )
    write_alerts(home.data, kept)
    parts = bundle(home)
    assert tables(parts, "records.json")["alerts"]["open"][0]["kind"] == "token-expires"
    none_of({"webhook": WEBHOOK, "name": "hush-4725"}, parts)


def test_no_file_is_written_over(home: Home) -> None:
    first_day(home)
    file = home.write("mine.tar.gz", "precious")
    assert home.refused("support-bundle", str(file)) == f"{file} already exists. Name another file."
    assert file.read_text() == "precious"
    assert "cannot be written" in home.refused("support-bundle", str(home.folder / "nowhere" / "x.tar.gz"))


def test_a_disk_that_is_full_gets_no_part_of_one(home: Home, small_disk: Path) -> None:
    other = fill(small_disk, leave=0)
    done = home.run("support-bundle", small_disk / "bundle.tar.gz")
    assert (done.code, "no space left on device" in done.err) == (1, True), done
    assert [each.name for each in small_disk.iterdir()] == [other.name]


def test_the_log_is_the_last_lines_over_rotated_files(home: Home) -> None:
    first_day(home)
    home.write("wmsd.log.1", "".join(f"2026-11-24 12:00:00 info    old {each}\n" for each in range(10)))
    home.write("wmsd.log", "".join(f"2026-11-24 12:00:01 info    new {each}\n" for each in range(10)))
    home.write("config.toml", '[log]\nfile = "wmsd.log"\n')
    lines = bundle(home, "--lines", "15")["log.txt"].splitlines()
    assert [line.split("    ")[1] for line in lines] == [
        *(f"old {each}" for each in range(5, 10)),
        *(f"new {each}" for each in range(10)),
    ]


def test_every_setting_that_may_hold_a_secret_is_marked() -> None:
    """Every setting whose name tells that it may hold a secret is marked as secret."""
    words = {"secret", "token", "password", "passphrase", "key", "command", "after", "url"}
    named = {
        f"{section}.{key}"
        for section, model in sections().items()
        for key in model.model_fields
        if words.intersection(key.split("_"))
    } - {"server.public_url"}  # this setting takes no user and no password
    marked = {
        f"{section}.{key}"
        for section, model in sections().items()
        for key, field in model.model_fields.items()
        if any(getattr(mark, "__name__", "").startswith("Secret") for mark in field.metadata)
    }
    assert len(named) > 5
    assert named <= marked


def test_what_is_hidden_takes_no_time_that_an_attacker_sizes() -> None:
    hiding = Hiding(Settings(), {1: "ACME"})
    for piece in ("/a?", "a@", "a.a", "//:", "whsec_", "eyJ", "ACME", "?x=", "/"):
        assert len(hiding.text(piece * 200_000)) > 0


def test_unreadable_secret_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    settings = Settings.model_validate({"metrics": {"token_file": str(tmp_path / "folder")}})
    assert list(secrets_of(settings)) == []
