"""`wmsd article`, `wmsd partner`, `wmsd client`, `wmsd warehouse`: the operations of the API and of the pages."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Home, Tenant
from wmsd import docs
from wmsd.interfaces.cli.records.articles import article_command
from wmsd.interfaces.cli.records.partners import partner_command
from wmsd.warehouse.articles.schema import ArticleFields
from wmsd.warehouse.directory.schema import PartnerFields

KINDS = ("article", "partner", "client", "warehouse")
WIDEST = 80


def do(tenant: Tenant, *arguments: str) -> Any:
    return tenant.home.ok(*arguments, "--company", tenant.code, "--json").json


def refusals(tenant: Tenant, *arguments: str) -> list[str]:
    return tenant.home.refusals(*arguments, "--company", tenant.code)


def audited(tenant: Tenant) -> list[tuple[str, str, Any]]:
    found = tenant.home.ok("audit", "--company", tenant.code, "--json").json
    return [(each["action"], each["subject"].removeprefix(f"{tenant.code} "), each["details"]) for each in found][
        1:
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_is_made_shown_listed_and_changed(tenant: Tenant, kind: str) -> None:
    made = do(tenant, kind, "create", "X-1", "--name", "Before")
    assert (made["id"], made["code"], made["name"], made["active"]) == (1, "X-1", "Before", True)
    for named in ("X-1", "id:1"):
        assert do(tenant, kind, "show", named) == made
    assert do(tenant, kind, "list") == [made]
    changed = do(tenant, kind, "change", "X-1", "--name", "After", "--no-active")
    assert changed == {
        "id": 1,
        "code": "X-1",
        "changed": {
            "name": {"before": "Before", "after": "After"},
            "active": {"before": True, "after": False},
        },
    }
    after = do(tenant, kind, "show", "X-1")
    assert {name for name in made if made[name] != after[name]} <= {"name", "active", "updated_at"}
    assert (after["name"], after["active"]) == ("After", False)
    assert audited(tenant) == [
        (f"{kind}.create", "X-1", None),
        (f"{kind}.change", "X-1", changed["changed"]),
    ]


def test_every_field_of_a_model_has_an_option() -> None:
    for command, model in ((article_command, ArticleFields), (partner_command, PartnerFields)):
        for name in ("create", "change"):
            parameters = {each.name for each in command.commands[name].params}
            found = {each[6:].partition("__")[0] for each in map(str, parameters) if each.startswith("field_")}
            assert set(model.model_fields) == found


def test_fields_of_every_form(stocked: Tenant) -> None:
    made = do(
        stocked,
        *(
            "article",
            "create",
            "BOLT",
            "--name",
            "=Bolt; M8",
            "--unit",
            "box",
            "--barcodes",
            "1;2",
            "--barcodes",
            "3",
        ),
        *(
            "--um3pl-factor",
            "12.5",
            "--min-stock",
            "0",
            "--weight-kg",
            "0.000001",
            "--track-lot",
            "--client",
            "C1",
        ),
        *("--external-ref", "ERP-7", "--description", "two\nlines"),
    )
    assert (made["barcodes"], made["um3pl_factor"], made["min_stock"]) == (["1;2", "3"], 12.5, 0)
    assert (made["weight_kg"], made["track_lot"], made["track_serial"], made["client_id"]) == (
        1e-06,
        True,
        False,
        1,
    )
    assert (made["name"], made["unit"], made["description"]) == ("=Bolt; M8", "box", "two\nlines")
    shown = stocked.home.ok("article", "show", "BOLT", "--company", stocked.code).out
    assert re.search(r"^client +C1$", shown, re.MULTILINE)
    assert "client_id" not in shown
    cleared = do(
        stocked,
        *("article", "change", "BOLT", "--barcodes", "", "--client", "", "--weight-kg", "", "--description", ""),
    )["changed"]
    assert {name: each["after"] for name, each in cleared.items()} == {
        "barcodes": [],
        "client_id": None,
        "weight_kg": None,
        "description": None,
    }
    assert do(stocked, "article", "list", "--search", "bol")[0]["external_ref"] == "ERP-7"


def test_one_part_of_an_address_is_changed_and_the_others_stay(tenant: Tenant) -> None:
    place = ("--address-street", "Str. Lungă 1", "--address-city", "Cluj")
    do(tenant, "partner", "create", "P", "--name", "P", "--type", "FURNIZOR", *place)
    do(tenant, "partner", "change", "P", "--address-city", "Iași", "--address-postal-code", "700001")
    found = do(tenant, "partner", "show", "P")
    assert found["address"] == {
        "street": "Str. Lungă 1",
        "city": "Iași",
        "postal_code": "700001",
        "country": None,
    }
    assert found["type"] == "FURNIZOR"
    nothing = ("--address-street", "", "--address-city", "", "--address-postal-code", "")
    do(tenant, "partner", "change", "P", *nothing)
    assert do(tenant, "partner", "show", "P")["address"] is None


def test_what_a_change_shows_people(tenant: Tenant) -> None:
    do(tenant, "client", "create", "C", "--name", "Old", "--phone", "1")
    done = tenant.home.ok("client", "change", "C", "--company", tenant.code, "--name", "New", "--phone", "")
    assert done.out.splitlines() == [
        "field  before  after",
        "name   Old     New",
        "phone  1       -",
    ]
    assert done.err.splitlines()[-1] == "Changed: the client C."
    before = audited(tenant)
    again = tenant.home.ok("client", "change", "id:1", "--company", tenant.code, "--name", "New")
    assert (again.out, again.err.splitlines()[-1]) == (
        "",
        "Nothing was changed: the client C already has these values.",
    )
    assert do(tenant, "client", "change", "C", "--name", "New")["changed"] == {}
    assert audited(tenant) == before
    without = tenant.home.misunderstood("client", "change", "C", "--company", tenant.code)
    assert without == "Error: No changes given. Give an option for each field that changes, such as --name."


def test_a_number_is_a_code_and_never_an_id(tenant: Tenant) -> None:
    for code in ("2", "B"):
        do(tenant, "warehouse", "create", code, "--name", f"Named {code}")
    assert do(tenant, "warehouse", "show", "2")["id"] == 1
    assert do(tenant, "warehouse", "change", "2", "--code", "A")["changed"] == {
        "code": {"before": "2", "after": "A"}
    }
    for act in (("show", "2"), ("change", "2", "--name", "X")):
        assert refusals(tenant, "warehouse", *act) == [
            "B has the id 2, not the code 2. To use the id, type id:2. "
            f"No warehouse has the code 2. `wmsd warehouse list --company {tenant.code}` lists the codes."
        ]
    assert do(tenant, "warehouse", "show", "id:2")["name"] == "Named B"
    assert audited(tenant)[-1][:2] == ("warehouse.change", "2")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("named", ["NONE", "7", "0", "-", "9" * 30, "²", "id:7", "id:", "id:A"])
def test_one_that_is_not_there(stocked: Tenant, kind: str, named: str) -> None:
    said = f"No {kind} has the code {named}. `wmsd {kind} list --company {stocked.code}` lists the codes."
    assert refusals(stocked, kind, "show", named) == [said]
    assert refusals(stocked, kind, "change", named, "--name", "X") == [said]


def test_filters_and_pages(stocked: Tenant) -> None:
    do(stocked, "partner", "change", "P2", "--type", "TRANSPORTATOR", "--no-active")

    def codes(kind: str, *options: str) -> list[str]:
        return [each["code"] for each in do(stocked, kind, "list", *options)]

    assert codes("partner", "--type", "TRANSPORTATOR") == ["P2"]
    assert (codes("partner", "--active"), codes("partner", "--no-active")) == (["P1"], ["P2"])
    assert codes("partner", "--sort", "-code") == ["P2", "P1"]
    assert (codes("article", "--search", "alph"), codes("article", "--code", "B")) == (["A"], ["B"])
    paged = stocked.home.ok("article", "list", "--company", stocked.code, "--per-page", "1", "--page", "2")
    assert (
        paged.out.splitlines()[1].split()[0],
        "1 of 2 rows, page 2. For another page: --page N" in paged.err,
    ) == ("B", True)
    assert (
        "No partners match these filters."
        in stocked.home.ok("partner", "list", "--company", stocked.code, "--code", "Z").err
    )
    assert "Invalid value for '--sort'" in stocked.home.misunderstood(
        "client", "list", "--company", stocked.code, "--sort", "name"
    )
    long = refusals(stocked, "article", "list", "--search", "x" * 65)
    assert long == ["--search must have at most 64 characters."]
    assert refusals(stocked, "article", "list", "--search", "!!") == [
        "--search must contain a letter or a digit; leave the search out to list everything."
    ]


def test_a_list_is_as_narrow_as_a_terminal(tenant: Tenant) -> None:
    long = ("--name", "N" * 255, "--unit", "U" * 64, "--barcode", "B" * 64)
    do(tenant, "article", "create", "C" * 30, *long)
    do(tenant, "article", "create", "SHORT", "--name", "Short")
    head, wide, short = tenant.home.ok("article", "list", "--company", tenant.code).out.splitlines()
    assert max(map(len, (head, wide, short))) <= WIDEST
    assert (wide.split()[0], wide.split()[1].endswith("…"), short.split()[1]) == ("C" * 30, True, "Short")
    empty = tenant.home.ok("client", "list", "--company", tenant.code)
    assert (empty.out, empty.err.splitlines()[-1]) == ("", "No clients yet.")


def test_every_error_is_told_at_once_with_its_option(stocked: Tenant) -> None:
    do(stocked, "article", "change", "B", "--external-ref", "ERP-1")
    before = (do(stocked, "article", "list"), audited(stocked))
    wrong = (
        "--name",
        " x",
        "--weight-kg",
        "heavy",
        "--width-mm",
        "1.000",
        "--min-stock",
        "-1",
        "--um3pl-factor",
        "0",
        "--barcodes",
        "1",
    )
    assert sorted(refusals(stocked, "article", "create", "A", *wrong, "--barcodes", "1", "--client", "C9")) == [
        "--barcodes must not contain the same barcode twice.",
        "--client C9 is not a client of this company.",
        "--min-stock must not be below 0.",
        "--name must not begin or end with a space.",
        "--um3pl-factor must be greater than 0.",
        "--weight-kg must be a number with a decimal point, such as 12.5.",
        "--width-mm can mean two numbers: write 1000 or 1.",
        "CODE A is taken by another article.",
    ]
    taken = refusals(stocked, "article", "change", "A", "--code", "B", "--external-ref", "ERP-1")
    assert taken == ["--code B is taken by another article.", "--external-ref ERP-1 is taken by another article."]
    assert (do(stocked, "article", "list"), audited(stocked)) == before
    assert refusals(stocked, "client", "create", "C1", "--name", "X") == ["CODE C1 is taken by another client."]
    assert refusals(stocked, "client", "create", "", "--name", "X") == ["CODE must have at least 1 character."]
    assert refusals(stocked, "client", "create", "N", "--name", "X", "--email", "none") == [
        "--email must be an e-mail address."
    ]
    assert refusals(stocked, "partner", "change", "P1", "--name", "") == ["--name must have at least 1 character."]
    assert "Missing option '--name'" in stocked.home.misunderstood(
        "client", "create", "N", "--company", stocked.code
    )
    assert "'X' is not one of" in stocked.home.misunderstood(
        "partner", "change", "P1", "--company", stocked.code, "--type", "X"
    )


def test_another_company_has_records_of_its_own(stocked: Tenant) -> None:
    other = Tenant(stocked.home, f"{stocked.code}B")
    stocked.home.ok("company", "create", other.code, "--name", "Other", "--all-modules")
    assert refusals(other, "article", "show", "A") == [
        f"No article has the code A. `wmsd article list --company {other.code}` lists the codes."
    ]
    assert refusals(other, "article", "create", "A", "--name", "X", "--client", "C1") == [
        "--client C1 is not a client of this company."
    ]
    assert refusals(stocked, "article", "show", "a") == ["No article has the code a. Did you mean A?"]
    assert refusals(stocked, "article", "create", "N", "--name", "X", "--client", "c1") == [
        "--client c1 is not a client of this company; C1 is the nearest code."
    ]
    assert stocked.home.refused("article", "list", "--company", "NONE").startswith("There is no such company")


def test_beside_a_server_changes_are_seen_and_told(home: Home) -> None:
    home.ok("company", "create", "ACME", "--name", "Acme", "--all-modules", "--init")
    tenant = Tenant(home, "ACME")
    with home.serving() as server:
        do(tenant, "article", "create", "A", "--name", "Alpha")
        do(tenant, "article", "change", "A", "--name", "Beta")
        home.ok(
            "user",
            "create",
            "admin@example.com",
            "--role",
            "platform-admin",
            "--password-stdin",
            stdin="long enough 1",
        )
        token = home.ok(
            "token", "create", "--user", "admin@example.com", "--ability", "*", "--name", "T"
        ).out.strip()
        server.soon(
            "/api/articles", lambda status, body: status == 200 and body["data"][0]["name"] == "Beta", token=token
        )
        status, _ = server.send("POST", "/api/articles", {"code": "B", "name": "By a program"}, token=token)
        assert status == 201
    assert audited(tenant) == [
        ("article.create", "A", None),
        ("article.change", "A", {"name": {"before": "Alpha", "after": "Beta"}}),
    ]


def test_many_at_once_make_one_record(tenant: Tenant) -> None:
    arguments = ("client", "create", "ONE", "--name", "One", "--company", tenant.code)
    started = [tenant.home.start(*arguments) for _ in range(6)]
    codes = [(process.communicate(timeout=60), process.returncode)[1] for process in started]
    assert sorted(codes) == [0, 1, 1, 1, 1, 1]
    assert [each[:2] for each in audited(tenant)] == [("client.create", "ONE")]


def test_the_commands_of_the_guide(stocked: Tenant) -> None:
    page = (Path(docs.__file__).parent / "importing.md").read_text(encoding="utf-8")
    section = page.partition("## One record at the command line")[2].partition("\n## ")[0]
    commands = [shlex.split(line)[1:] for line in re.findall(r"^wmsd .*$", section, re.MULTILINE)]
    assert len(commands) == 7
    for command in commands:
        stocked.home.ok(*(stocked.code if word == "ACME" else word for word in command))
    assert do(stocked, "article", "show", "BOLT-8")["min_stock"] == 20
