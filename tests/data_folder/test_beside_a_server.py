"""Tests of changes by the command line while a server runs: the server follows them within a second."""

import json
import urllib.request
from collections.abc import Iterator

import pytest

from tests.support.command import EMAIL, PASSWORD, Home, Server


@pytest.fixture(scope="module")
def server(shared: Home) -> Iterator[Server]:
    unlimited = {"WMSD_LIMITS_DATA_PER_MINUTE": "100000", "WMSD_LIMITS_REFUSED_PER_MINUTE": "100000"}
    with shared.serving(env=unlimited) as server:
        yield server


def token_of(home: Home, name: str, email: str = EMAIL) -> str:
    return home.ok("token", "create", "--user", email, "--ability", "*", "--name", name).out.strip()


def sign_in(server: Server, email: str, password: str) -> str:
    body = json.dumps({"email": email, "password": password, "abilities": ["*"]})
    request = urllib.request.Request(
        f"{server.address}/api/auth/token", body.encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        return str(json.load(answer)["token"])


def id_of(home: Home, kind: str, column: str, value: str) -> int:
    (found,) = [row["id"] for row in home.ok(kind, "list", "--json").json if row[column] == value]
    assert isinstance(found, int)
    return found


def test_a_new_token_works_at_once(shared: Home, server: Server) -> None:
    assert server.get("/api/user", token=token_of(shared, "at once"))[1]["token"]["name"] == "at once"


def test_a_revoked_token_is_refused(shared: Home, server: Server) -> None:
    token = token_of(shared, "revoked")
    assert server.get("/api/user", token=token)[0] == 200
    shared.ok("token", "revoke", str(id_of(shared, "token", "name", "revoked")))
    server.soon("/api/user", lambda status, _: status == 401, token=token)
    assert server.get("/api/user")[0] == 200


def test_a_disabled_user_is_refused(shared: Home, server: Server) -> None:
    create = ("user", "create", "leaver@example.com", "--role", "platform-admin", "--password-stdin")
    shared.ok(*create, stdin=PASSWORD)
    token = token_of(shared, "leaver's", "leaver@example.com")
    assert server.get("/api/articles", token=token)[0] == 200
    shared.ok("user", "disable", "leaver@example.com")
    server.soon("/api/articles", lambda status, _: status == 401, token=token)


def test_a_module_that_is_off_is_refused_and_its_data_stays(shared: Home, server: Server) -> None:
    before = server.get("/api/stock")
    shared.ok("module", "disable", "ACME", "stock")
    server.soon("/api/stock", lambda status, _: status == 403)
    assert server.get("/api/articles")[0] == 200
    shared.ok("module", "enable", "ACME", "stock")
    server.soon("/api/stock", lambda status, _: status == 200)
    assert server.get("/api/stock") == before


def test_a_new_company_is_there(shared: Home, server: Server) -> None:
    shared.ok("operator", "create", "OPS", "--name", "Ops")
    shared.ok("company", "create", "NEW", "--name", "New", "--operator", "OPS", "--all-modules")
    company = id_of(shared, "company", "code", "NEW")
    server.soon("/api/articles", lambda status, _: status == 200, company=company)
    assert {"id": company, "name": "New", "code": "NEW"} in server.get("/api/companies", company=None)[1]["data"]
    assert server.get("/api/health", token="", company=None)[1]["status"] == "ok"


def test_a_changed_company_is_seen(shared: Home, server: Server) -> None:
    shared.ok("company", "create", "TIGHT", "--name", "Tight", "--all-modules")
    company = id_of(shared, "company", "code", "TIGHT")
    server.soon("/api/articles", lambda status, _: status == 200, company=company)
    shared.ok("company", "change", "TIGHT", "--requests-per-minute", "1")
    server.soon("/api/articles", lambda status, _: status == 429, company=company)


def test_a_new_password_works(shared: Home, server: Server) -> None:
    create = ("user", "create", "late@example.com", "--role", "platform-admin", "--password-stdin")
    shared.ok(*create, stdin=PASSWORD)
    shared.ok("user", "set-password", "late@example.com", "--password-stdin", stdin="another password\r\n")
    assert sign_in(server, "late@example.com", "another password")


def test_a_changed_password_ends_what_was_signed_in_for(shared: Home, server: Server) -> None:
    create = ("user", "create", "robbed@example.com", "--role", "platform-admin", "--password-stdin")
    shared.ok(*create, stdin=PASSWORD)
    made = token_of(shared, "made by an admin", "robbed@example.com")
    signed_in = sign_in(server, "robbed@example.com", PASSWORD)
    change = ("user", "set-password", "robbed@example.com", "--password-stdin")
    kept = shared.ok(*change, "--keep-tokens", stdin="another password\n")
    assert kept.err.endswith(
        "robbed@example.com has a new password. No link, session or token was ended. Tokens that still work: 2.\n"
    )
    assert server.get("/api/articles", token=signed_in)[0] == 200
    done = shared.ok(*change, stdin="a third password\n")
    assert done.err.endswith("has a new password. No longer valid: 1 token. Tokens that still work: 1.\n")
    server.soon("/api/articles", lambda status, _: status == 401, token=signed_in)
    assert server.get("/api/articles", token=made)[0] == 200
    listed = shared.ok("token", "list", "--json").json
    assert [row["signed_in"] for row in listed if row["user"] == "robbed@example.com"] == [False, True]


def test_an_import_is_seen_and_a_refused_one_is_not(shared: Home, server: Server) -> None:
    assert server.get("/api/articles")[1]["data"] == []
    imported = ("import", "articles", "-", "--company", "ACME")
    shared.refusals(*imported, stdin="code,name\nA,Apple\nB,\n")
    shared.ok(*imported, "--dry-run", stdin="code,name\nA,Apple\n")
    assert server.get("/api/articles")[1]["data"] == []
    shared.ok(*imported, stdin="code,name\nA,Apple\n")
    (article,) = server.get("/api/articles")[1]["data"]
    assert (article["code"], article["name"]) == ("A", "Apple")
    shared.ok("import", "warehouses", "-", "--company", "ACME", stdin="code,name\nMAIN,Main\n")
    counted = "article_code,warehouse_code,quantity\nA,MAIN,2.5\n"
    shared.ok("import", "stock", "-", "--company", "ACME", stdin=counted)
    (record,) = server.get("/api/stock")[1]["data"]
    assert (record["article_id"], record["quantity"], record["available"]) == (article["id"], 2.5, 2.5)


def test_an_export_beside_a_server(shared: Home, server: Server) -> None:
    shared.ok("import", "clients", "-", "--company", "ACME", stdin="code,name\nC1,Client\n")
    assert "C1,Client," in shared.ok("export", "clients", "--company", "ACME").out
    assert server.get("/api/clients")[1]["data"][0]["code"] == "C1"


def test_a_new_key_signs_and_the_one_before_it_holds(shared: Home, server: Server) -> None:
    before = token_of(shared, "signed before")
    assert server.get("/api/user", token=before)[0] == 200
    shared.ok("token", "rotate-key", "--yes")
    between = token_of(shared, "signed between")
    server.soon("/api/user", lambda status, _: status == 200, token=between)
    assert server.get("/api/user", token=before)[0] == 200
    shared.ok("token", "rotate-key", "--yes")
    server.soon("/api/user", lambda status, _: status == 401, token=before)
    assert server.get("/api/user", token=between)[0] == 200
    server.token = between
