"""`wmsd site`, and a running server that applies the changes."""

import hashlib
import re
import shlex
import sqlite3
from pathlib import Path

import pytest

from tests.support.command import Home, Tenant
from wmsd import docs
from wmsd.tenants.sites.actions import PREFIX

ORDERS = "/api/integrations/etsm/orders"
TOKEN = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")


def audited(home: Home, company: str) -> list[str]:
    with sqlite3.connect(home.data / "platform.db") as connection:
        rows = connection.execute("SELECT action, subject FROM audit WHERE subject LIKE ?", (f"{company} %",))
        found = [f"{action} {subject}" for action, subject in rows if action.startswith("site.")]
    connection.close()
    return found


def listed(home: Home, company: str) -> list[dict[str, object]]:
    rows = home.ok("site", "list", "--json").json
    return [row for row in rows if row["company"] == company]


def test_the_token_alone_is_on_standard_output(stocked: Tenant) -> None:
    home, code = stocked.home, stocked.code
    done = home.ok("site", "create", code, "MAIN", "--name", "Planner")
    token = done.out.removesuffix("\n")
    assert TOKEN.fullmatch(token)
    assert token not in done.err
    assert done.err.splitlines()[-1] == f"The token of Planner (warehouse MAIN of {code}). It is shown only now."
    shown = home.ok("site", "list")
    assert token not in shown.out
    assert "Planner" in shown.out
    (row,) = listed(home, code)
    assert row.pop("created_at") == row.pop("updated_at")
    assert row == {
        "id": row["id"],
        "company": code,
        "warehouse": "MAIN",
        "name": "Planner",
        "status": "active",
        "previous_token_until": None,
    }
    assert audited(home, code) == [f"site.create {code} MAIN"]


def test_only_its_hash_is_kept(stocked: Tenant) -> None:
    made = stocked.home.ok("site", "create", stocked.code, "MAIN", "--name", "P", "--json").json
    assert list(made) == ["id", "company", "warehouse", "token"]
    kept = b"".join(file.read_bytes() for file in stocked.home.data.rglob("*") if file.is_file())
    assert made["token"].encode() not in kept
    assert hashlib.sha256(made["token"].encode()).digest() in kept


def test_rotating_and_revoking(stocked: Tenant) -> None:
    home, code = stocked.home, stocked.code
    first = home.ok("site", "create", code, "MAIN", "--name", "P").out
    done = home.ok("site", "rotate", code, "MAIN")
    assert TOKEN.fullmatch(done.out.strip())
    assert done.out != first
    sentence = (
        f"The new token of the warehouse MAIN of {code}. It is shown only now. The previous token works "
        "for another 24 hours."
    )
    assert done.err.splitlines()[-1] == sentence
    assert listed(home, code)[0]["previous_token_until"] is not None
    done = home.ok("site", "rotate", code, "MAIN", "--at-once", "--json")
    assert TOKEN.fullmatch(done.json["token"])
    assert "The previous token is now refused." in done.err
    assert listed(home, code)[0]["previous_token_until"] is None
    assert home.ok("site", "revoke", code, "MAIN").err.splitlines()[-1] == f"The site MAIN of {code} is revoked."
    again = home.ok("site", "revoke", code, "MAIN")
    assert again.err.splitlines()[-1] == f"The site MAIN of {code} was already revoked."
    assert listed(home, code)[0]["status"] == "revoked"
    home.ok("site", "rotate", code, "MAIN")
    assert listed(home, code)[0]["status"] == "active"
    assert audited(home, code) == [
        f"{action} {code} MAIN"
        for action in (
            *("site.create", "site.rotate", "site.rotate at once"),
            *("site.revoke", "site.revoke", "site.rotate"),
        )
    ]


def test_what_is_not_a_site(stocked: Tenant) -> None:
    home, code = stocked.home, stocked.code
    stocked.take("warehouses", "code,name,active\nSHUT,Shut,false\n")
    home.ok("site", "create", code, "MAIN", "--name", "P")
    before = (listed(home, code), audited(home, code))
    for arguments, sentence in (
        (["create", "NOBODY", "MAIN", "--name", "P"], "There is no such company as NOBODY."),
        (["create", code, "NOWHERE", "--name", "P"], "There is no such warehouse as NOWHERE."),
        (["create", code, "east", "--name", "P"], "There is no such warehouse as east. Did you mean EAST?"),
        (["create", code, "SHUT", "--name", "P"], "WAREHOUSE SHUT is not active."),
        (
            ["create", code, "MAIN", "--name", "Q"],
            "WAREHOUSE MAIN already has a site: run wmsd site rotate for a new token.",
        ),
        (["create", code, "EAST", "--name", ""], "--name must have at least 1 character."),
        (["create", code, "EAST", "--name", "a\tb"], "--name must not contain control characters."),
        (
            ["rotate", code, "EAST"],
            f"The company {code} has no site for the warehouse EAST. To list all sites: wmsd site list",
        ),
        (
            ["revoke", code, "EAST"],
            f"The company {code} has no site for the warehouse EAST. To list all sites: wmsd site list",
        ),
        (["rotate", "NOBODY", "MAIN"], "There is no such company as NOBODY."),
    ):
        assert home.refused("site", *arguments) == sentence
    assert (listed(home, code), audited(home, code)) == before
    assert home.misunderstood("site", "create", code, "EAST") == "Error: Missing option '--name'."


def test_modules_that_are_off_are_told(shared: Home) -> None:
    shared.ok("company", "create", "BARE", "--name", "Bare", "--module", "articles")
    shared.ok("import", "warehouses", "-", "--company", "BARE", stdin="code,name\nMAIN,Main\n")
    done = shared.ok("site", "create", "BARE", "MAIN", "--name", "P")
    assert done.err.splitlines()[-1] == (
        "The token does not work yet, because modules are off. To switch them on: wmsd module enable BARE outbound"
    )


def test_the_commands_of_the_guide_work_one_after_another(stocked: Tenant) -> None:
    guide = (Path(docs.__file__).parent / "transports.md").read_text(encoding="utf-8")
    lines = re.findall(r"^wmsd (.+)$", guide, re.MULTILINE)
    assert len(lines) == 5
    for line in lines:
        stocked.home.ok(*shlex.split(line.replace("ACME", stocked.code)))


@pytest.mark.parametrize("end", ["--at-once", "revoke"])
def test_a_running_server_follows_within_a_second(stocked: Tenant, end: str) -> None:
    home, code = stocked.home, stocked.code
    with home.serving() as server:
        first = home.ok("site", "create", code, "MAIN", "--name", "P").out.strip()
        server.soon(ORDERS, lambda status, _: status == 200, token=first, company=None)
        second = home.ok("site", "rotate", code, "MAIN").out.strip()
        server.soon(ORDERS, lambda status, _: status == 200, token=second, company=None)
        assert server.get(ORDERS, token=first, company=None)[0] == 200
        if end == "revoke":
            home.ok("site", "revoke", code, "MAIN")
        else:
            home.ok("site", "rotate", code, "MAIN", "--at-once")
        for token in (first, second):
            server.soon(ORDERS, lambda status, _: status == 401, token=token, company=None)
