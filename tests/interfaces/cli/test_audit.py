"""`wmsd audit`."""

import csv
import io
import json
import signal
from typing import Any
from unittest.mock import ANY

from tests.interfaces.cli.test_people import make
from tests.support.command import EMAIL, Home, Tenant, first_day
from tests.support.forked import LONGEST


def test_the_audit_is_found_by_who_what_and_when(shared: Home) -> None:
    make(shared, "seen@example.com", "--role", "member", "--company", "ACME")
    shared.ok("user", "change", "seen@example.com", "--name", "=Ana")
    subject = ("audit", "--subject", "seen@example.com")
    made, changed = shared.ok(*subject, "--json").json
    assert (made["action"], changed["action"]) == ("user.create member", "user.change")
    assert made["actor"].startswith("command line, unix user ")
    assert changed["details"] == {"name": {"before": "seen@example.com", "after": "=Ana"}}
    assert shared.ok(*subject, "--limit", "1", "--json").json == [changed]
    assert shared.ok(*subject, "--what", "user.create", "--json").json == [made]
    assert shared.ok(*subject, "--since", changed["at"], "--until", made["at"], "--json").json == []
    assert shared.ok(*subject, "--since", made["at"], "--json").json == [made, changed]
    assert shared.ok(*subject, "--since", "2020-01-01", "--until", "2020-01-02", "--json").json == []
    assert shared.ok(*subject, "--who", "UNIX USER", "--json").json == [made, changed]
    assert shared.ok(*subject, "--who", "ųńix user", "--json").json == [made, changed]
    assert shared.ok(*subject, "--who", "nobody", "--json").json == []
    assert 'name: "seen@example.com" -> "=Ana"' in shared.ok(*subject).out
    _, *rows = csv.reader(io.StringIO(shared.ok(*subject, "--csv").out))
    assert [row[4] for row in rows] == ["user.create member", "user.change"]


def test_the_audit_names_an_e_mail_address_as_it_is_stored(shared: Home) -> None:
    make(shared, "MiXed@Example.de", "--role", "member", "--company", "ACME")
    shared.ok("user", "create", "LinKed@Example.de", "--role", "member", "--company", "ACME", "--link")
    for email in ("mixed@example.de", "linked@example.de"):
        (made,) = shared.ok("audit", "--subject", email, "--json").json
        assert (made["action"], made["subject"]) == ("user.create member", email)
        assert shared.ok("user", "show", email, "--json").json["created_by"] == made["actor"]


def test_the_audit_of_a_company(shared: Home) -> None:
    shared.ok("company", "create", "AUD", "--name", "Aud", "--module", "stock")
    shared.ok("company", "create", "AUDIT", "--name", "Audit")
    shared.ok("company", "change", "AUD", "--name", "After")
    found = shared.ok("audit", "--company", "AUD", "--json").json
    assert [each["action"] for each in found] == ["company.create", "company.change"]
    assert found[-1]["details"] == {"name": {"before": "Aud", "after": "After"}}


def test_imports_and_what_is_taken_back(tenant: Tenant) -> None:
    rows = "code,name\nA,Alpha\nB,Beta\n"
    tenant.take("articles", rows, "--dry-run")
    tenant.take("articles", rows)
    tenant.take("articles", rows)
    tenant.refuses("articles", "code,name\nX,\n")
    file = tenant.home.folder / "new\ncolumns.csv"
    file.write_text("code,name\nB,Better\nC,Gamma\n", encoding="utf-8")
    tenant.home.ok("import", "articles", file, "--company", tenant.code)
    tenant.home.ok("import", "undo", "--company", tenant.code, "--yes")
    tenant.take("clients", "code,name\nC1,One\n", "--by", "ana@example.com", "--named", "list.csv")
    _, first, second, undone, paged = tenant.home.ok("audit", "--company", tenant.code, "--json").json
    assert (first["action"], first["subject"]) == ("import.run articles", f"{tenant.code} <stdin>")
    assert first["details"] == {"created": {"before": None, "after": 2}}
    assert first["actor"].startswith("command line, unix user ")
    assert second["subject"] == f"{tenant.code} new?columns.csv"
    assert {name: each["after"] for name, each in second["details"].items()} == {"created": 1, "updated": 1}
    assert (undone["action"], undone["subject"]) == ("import.undo articles", second["subject"])
    assert (paged["actor"], paged["subject"]) == ("ana@example.com", f"{tenant.code} list.csv")


def test_what_cannot_be_understood(shared: Home) -> None:
    assert "not both" in shared.misunderstood("audit", "--csv", "--json")
    assert "not both" in shared.misunderstood("audit", "--company", "A", "--subject", EMAIL)
    assert "No entries found." in shared.ok("audit", "--who", "nobody at all").err


def test_following_shows_each_new_entry_once(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    with home.start("audit", "--follow", "--json", "--what", "module") as follower:
        assert follower.stdout is not None
        try:
            for module in ("stock", "articles"):
                home.ok("module", "enable", "ACME", module)
                assert json.loads(follower.stdout.readline())["action"] == f"module.enable {module}"
            with home.serving():
                home.ok("module", "disable", "ACME", "stock")
                line = follower.stdout.readline()
                assert json.loads(line)["action"] == "module.disable stock", "also beside a server"
            home.ok("module", "enable", "ACME", "stock")
            assert json.loads(follower.stdout.readline())["action"] == "module.enable stock"
        finally:
            follower.send_signal(signal.SIGINT)
        rest, said = follower.communicate(timeout=LONGEST)
    assert (rest, follower.returncode) == ("", 0)
    assert said.count("Data folder") == 1
    assert "not both" in home.misunderstood("audit", "--follow", "--until", "2026-01-01")


def test_settings_that_changed_since_the_last_start(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")

    def started(**environment: str) -> dict[str, Any]:
        before = len(changes())
        with home.serving(env=environment):
            pass
        found = changes()[before:]
        assert len(found) <= 1
        return found[0]["details"] if found else {}

    def changes() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = home.ok("audit", "--what", "settings.change", "--json").json
        return found

    first = started()
    assert "server.listen" in first
    assert first["backup.every"]["after"] == "never"
    assert started() == {}
    assert started(WMSD_LIMITS_DATA_PER_MINUTE="77") == {"limits.data_per_minute": {"before": ANY, "after": "77"}}
    assert started(WMSD_LIMITS_DATA_PER_MINUTE="77") == {}
    assert started() == {"limits.data_per_minute": {"before": "77", "after": ANY}}


def test_a_secret_of_the_settings_is_only_said_to_have_changed(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    shown = []
    for secret in ("first-secret-of-all", "second-secret-of-all", "second-secret-of-all"):
        home.write(
            "config.toml",
            '[sign_on]\n[[sign_on.providers]]\nname = "main"\ntitle = "Main"\nissuer = "https://login.example.com"\n'
            f'client_id = "wmsd"\nclient_secret = "{secret}"\n',
        )
        with home.serving():
            pass
        found = home.ok("audit", "--what", "settings.change", "--json")
        assert "secret-of-all" not in found.out
        shown.append(
            [each["details"]["sign_on.providers"] for each in found.json if "sign_on.providers" in each["details"]]
        )
    assert [len(each) for each in shown] == [1, 2, 2]
    assert shown[1][1]["before"] != shown[1][1]["after"]
    assert "login.example.com" in shown[1][1]["after"]


def test_what_settings_may_hold_that_is_secret_is_not_in_it(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--init")
    home.write(
        "config.toml",
        '[backup]\nevery = "never"\nafter = "copy --password hunter2secret"\n'
        '[alerts]\ncommand = ["./tell", "--password", "hunter2secret"]\n',
    )
    with home.serving():
        pass
    found = home.ok("audit", "--what", "settings.change", "--json")
    assert "hunter2secret" not in found.out
    changed = found.json[-1]["details"]
    assert {changed[name]["after"].partition("[")[0] for name in ("backup.after", "alerts.command")} == {
        "(not shown) "
    }


def test_failed_sign_ins_and_new_addresses_of_tokens(home: Home) -> None:
    first_day(home)
    with home.serving() as server:
        for _ in range(3):
            for email in (EMAIL, "my-password-typed-here"):
                body = {"email": email, "password": "wrong", "abilities": ["*"]}
                assert server.send("POST", "/api/auth/token", body, company=None)[0] in (401, 429)
        assert server.get("/api/user", company=None)[0] == 200
    [failed] = home.ok("audit", "--what", "sign-in.failed", "--json").json
    assert (failed["subject"], failed["actor"], failed["address"]) == (EMAIL, "not signed in", "127.0.0.1")
    assert failed["details"]["failures"]["after"] == 3
    assert failed["details"]["addresses"]["after"] == ["127.0.0.1"]
    [used] = home.ok("audit", "--what", "token.use", "--json").json
    assert (used["actor"], used["address"], used["subject"].split()[0]) == (EMAIL, "127.0.0.1", "1")
    with home.serving() as server:
        assert server.get("/api/user", company=None)[0] == 200
    assert len(home.ok("audit", "--what", "token.use", "--json").json) == 1
