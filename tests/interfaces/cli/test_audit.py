"""`wmsd audit`."""

import csv
import io

from tests.interfaces.cli.test_people import make
from tests.support.command import EMAIL, Home, Tenant


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
    assert shared.ok(*subject, "--who", "nobody", "--json").json == []
    assert 'name: "seen@example.com" -> "=Ana"' in shared.ok(*subject).out
    _, *rows = csv.reader(io.StringIO(shared.ok(*subject, "--csv").out))
    assert [row[4] for row in rows] == ["user.create member", "user.change"]


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
    tenant.refuses("articles", "code,name\n,\n")
    file = tenant.home.folder / "new\ncolumns.csv"
    file.write_text("code,name\nB,Better\nC,Gamma\n", encoding="utf-8")
    tenant.home.ok("import", "articles", file, "--company", tenant.code)
    tenant.home.ok("import", "undo", "--company", tenant.code)
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
    for wrong in ("yesterday", "2026-13-01", "2026-11-24T08:00:00", ""):
        assert "is not a moment" in shared.misunderstood("audit", f"--since={wrong}")
    assert "not both" in shared.misunderstood("audit", "--csv", "--json")
    assert "not both" in shared.misunderstood("audit", "--company", "A", "--subject", EMAIL)
    assert "No such entry." in shared.ok("audit", "--who", "nobody at all").err
