"""`wmsd company`, `wmsd operator`, `wmsd module`."""

from contextlib import closing

import pytest

from tests.support.command import Home, hashes
from wmsd.db.engine.sqlite import sqlite3

MODULES = ["api", "articles", "stock", "outbound", "inbound", "returns", "webhooks"]


def company(home: Home, code: str) -> dict[str, object]:
    (found,) = [row for row in home.ok("company", "list", "--json").json if row["code"] == code]
    return dict(found)


def test_a_company_is_made_and_listed(home: Home) -> None:
    done = home.ok("company", "create", "ACME", "--name", "Acme Ltd", "--init", "--all-modules", "--json")
    assert done.json == {"id": 1, "code": "ACME", "name": "Acme Ltd", "modules": MODULES}
    assert company(home, "ACME") == {
        "id": 1,
        "code": "ACME",
        "name": "Acme Ltd",
        "operator": None,
        "sandbox": False,
        "requests_per_minute": None,
        "modules": MODULES,
        "frozen_at": None,
        "suspended_at": None,
    }
    assert sorted(hashes(home.data)) == ["companies/1.db", "platform.db"]


def test_for_people_there_is_a_table(home: Home) -> None:
    made = home.ok("company", "create", "ACME", "--name", "Acme Ltd", "--init", "--module", "stock")
    assert made.out == "id       1\ncode     ACME\nname     Acme Ltd\nmodules  api, stock\n"
    assert home.ok("company", "list").out.splitlines() == [
        "id  code  name      operator  sandbox  requests_per_minute  modules     frozen_at  suspended_at",
        "1   ACME  Acme Ltd  -         no       -                    api, stock  -          -",
    ]
    empty = home.ok("operator", "list")
    hint = "No operators yet. To create an operator: wmsd operator create CODE --name NAME"
    assert (empty.out, empty.err.splitlines()[-1]) == ("", hint)
    assert home.ok("operator", "list", "--json").json == []


def test_init_is_no_harm_where_data_is(home: Home) -> None:
    home.ok("company", "create", "ONE", "--name", "One", "--init")
    home.ok("company", "create", "TWO", "--name", "Two", "--init")
    assert [row["code"] for row in home.ok("company", "list", "--json").json] == ["ONE", "TWO"]


def test_a_company_without_modules_is_told_of_them(shared: Home) -> None:
    done = shared.ok("company", "create", "BARE", "--name", "Bare")
    assert done.err.splitlines()[-1] == "No modules are on yet. To switch all on: wmsd module enable BARE --all"
    assert company(shared, "BARE")["modules"] == []


def test_a_company_of_an_operator_and_a_sandbox(shared: Home) -> None:
    assert shared.ok("operator", "create", "OPS", "--name", "Ops", "--json").json == {
        "id": 1,
        "code": "OPS",
        "name": "Ops",
        "sandbox": False,
        "sandbox_webhooks": False,
    }
    shared.ok("operator", "create", "PLAY", "--name", "Play", "--sandbox", "--webhooks")
    assert shared.ok("operator", "list", "--json").json == [
        {"id": 1, "code": "OPS", "name": "Ops", "sandbox": False, "sandbox_webhooks": False},
        {"id": 2, "code": "PLAY", "name": "Play", "sandbox": True, "sandbox_webhooks": True},
    ]
    shared.ok("company", "create", "OPERATED", "--name", "Operated", "--operator", "OPS")
    shared.ok("company", "create", "PLAYED", "--name", "Played", "--operator", "PLAY")
    shared.ok("company", "create", "SAND", "--name", "Sand", "--sandbox")
    assert company(shared, "OPERATED")["operator"] == "OPS"
    assert [company(shared, code)["sandbox"] for code in ("OPERATED", "PLAYED", "SAND")] == [False, True, True]


def test_what_is_not_a_good_company(shared: Home) -> None:
    before = hashes(shared.data)
    create = ("company", "create")
    taken = "CODE ACME is taken by another company."
    unknown = "is not a module; the modules are api, articles, stock, outbound, inbound, returns, webhooks."
    for arguments, sentences in (
        (["ACME", "--name", "Other"], [taken]),
        (
            ["NEW", "--name", "New", "--operator", "NOBODY"],
            ["--operator NOBODY is not an operator of this installation."],
        ),
        (
            ["ACME", "--name", "Other", "--operator", "NOBODY"],
            [taken, "--operator NOBODY is not an operator of this installation."],
        ),
        (["NEW", "--name", "New", "--module", "stok"], [f"--module stok {unknown}"]),
        (["NEW", "--name", ""], ["--name must have at least 1 character."]),
        (["", "--name", "New"], ["CODE must have at least 1 character."]),
        (
            ["x" * 65, "--name", " New"],
            ["CODE must have at most 64 characters.", "--name must not begin or end with a space."],
        ),
        (["N\nEW", "--name", "New"], ["CODE must not contain a line break."]),
    ):
        assert shared.refusals(*create, *arguments) == sentences
    assert hashes(shared.data) == before


def test_a_company_is_changed(shared: Home) -> None:
    shared.ok("company", "create", "CHANGED", "--name", "Before", "--module", "stock")
    shared.ok("company", "change", "CHANGED", "--name", "After", "--requests-per-minute", "7")
    assert (company(shared, "CHANGED")["name"], company(shared, "CHANGED")["modules"]) == (
        "After",
        ["api", "stock"],
    )
    assert company(shared, "CHANGED")["requests_per_minute"] == 7
    shared.ok("company", "change", "CHANGED", "--sandbox")
    assert company(shared, "CHANGED")["requests_per_minute"] == 7
    shared.ok("company", "change", "CHANGED", "--requests-per-minute", "0")
    assert company(shared, "CHANGED")["requests_per_minute"] is None
    assert company(shared, "CHANGED")["sandbox"] is True
    shared.ok("company", "change", "CHANGED", "--no-sandbox")
    assert (company(shared, "CHANGED")["name"], company(shared, "CHANGED")["sandbox"]) == ("After", False)


def test_what_is_not_a_good_change(shared: Home) -> None:
    before = hashes(shared.data)
    change = ("company", "change")
    assert shared.refused(*change, "NOBODY", "--name", "Some") == "There is no such company as NOBODY."
    assert shared.refused(*change, "ACME", "--name", "") == "--name must have at least 1 character."
    for limit in ("-1", "99999999999999999999"):
        assert shared.refused(*change, "ACME", f"--requests-per-minute={limit}").startswith(
            "--requests-per-minute "
        )
    assert shared.misunderstood(*change, "ACME").startswith("Error: No changes given. Give --name")
    assert hashes(shared.data) == before


def test_a_company_has_limits_and_a_quota_of_its_own(shared: Home) -> None:
    shared.ok("company", "create", "LARGE", "--name", "Large")
    change = ("company", "change", "LARGE")
    names = ("requests_per_minute", "graphql_per_minute", "quota_megabytes")

    def shown() -> list[object]:
        found = shared.ok("company", "show", "LARGE", "--json").json
        return [found[name] for name in names]

    assert shown() == [None, None, None]
    shared.ok(*change, "--requests-per-minute", "600", "--graphql-per-minute", "7", "--quota-megabytes", "500")
    assert shown() == [600, 7, 500]
    shared.ok(*change, "--graphql-per-minute", "0", "--quota-megabytes", "0")
    assert shown() == [600, None, None]
    assert shared.refused(*change, "--quota-megabytes=-1").startswith("--quota-megabytes ")


def test_a_company_has_a_time_zone_of_its_own(shared: Home) -> None:
    shared.ok("company", "create", "FAR", "--name", "Far")
    change = ("company", "change", "FAR", "--time-zone")

    def shown() -> object:
        return shared.ok("company", "show", "FAR", "--json").json["time_zone"]

    assert shown() is None
    shared.ok(*change, "Asia/Tokyo")
    assert shown() == "Asia/Tokyo"
    before = hashes(shared.data)
    assert shared.refused(*change, "tokyo") == ("--time-zone tokyo is not known; the nearest is Asia/Tokyo.")
    assert hashes(shared.data) == before
    shared.ok(*change, "")
    assert shown() is None


def test_how_much_more_than_ordered_is_received(shared: Home) -> None:
    shared.ok("company", "create", "LENIENT", "--name", "Lenient")

    def shown() -> object:
        return shared.ok("company", "show", "LENIENT", "--json").json["over_receipt_pct"]

    assert shown() == 0
    for given, kept in (("5", 5), ("100", 100), ("0.000001", 0.000001), ("2.50", 2.5)):
        shared.ok("company", "change", "LENIENT", "--over-receipt-pct", given)
        assert shown() == kept
    shared.ok("company", "change", "LENIENT", "--name", "After", "--over-receipt-pct", "0.000001")
    assert shared.ok("company", "show", "LENIENT").out.splitlines()[2:] == [
        "name                 After",
        "operator             -",
        "sandbox              no",
        "requests_per_minute  -",
        "modules              -",
        "frozen_at            -",
        "suspended_at         -",
        "graphql_per_minute   -",
        "quota_megabytes      -",
        "time_zone            -",
        "over_receipt_pct     0.000001",
        "min_stock            -",
    ]
    assert company(shared, "LENIENT").keys() == company(shared, "ACME").keys()


def test_a_change_of_the_tolerance_is_audited(shared: Home) -> None:
    shared.ok("company", "create", "AUDITED", "--name", "Audited")
    shared.ok("company", "change", "AUDITED", "--over-receipt-pct", "5")
    assert audited(shared, "AUDITED") == ["company.create", "company.policies"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("100.000001", "must be at most 100"),
        ("-1", "must not be below 0"),
        ("0.0000001", "must have at most 6 decimal places"),
        ("1.000", "can mean two numbers: write 1000 or 1"),
        ("5%", "must be a number with a decimal point, such as 12.5"),
        ("", "must be a number with a decimal point, such as 12.5"),
    ],
)
def test_a_tolerance_that_is_none(shared: Home, given: str, sentence: str) -> None:
    before = hashes(shared.data)
    change = ("company", "change", "ACME", "--name", "Other", "--over-receipt-pct", given)
    assert shared.refused(*change) == f"--over-receipt-pct {sentence}."
    assert hashes(shared.data) == before


def test_what_is_little_stock_of_a_company(shared: Home) -> None:
    shared.ok("company", "create", "LOW", "--name", "Low")

    def shown() -> object:
        found = shared.ok("company", "show", "LOW", "--json").json
        return found["min_stock"], found["over_receipt_pct"]

    assert shown() == (None, 0)
    for given, kept in (("5", 5), ("0", 0), ("2.50", 2.5), ("none", None), ("0.000001", 0.000001), ("None", None)):
        shared.ok("company", "change", "LOW", "--min-stock", given)
        assert shown() == (kept, 0)
    shared.ok("company", "change", "LOW", "--min-stock", "3", "--over-receipt-pct", "4")
    assert shown() == (3, 4)
    assert set(audited(shared, "LOW")[1:]) == {"company.policies"}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("-1", "must not be below 0"),
        ("0.0000001", "must have at most 6 decimal places"),
        ("1.000", "can mean two numbers: write 1000 or 1"),
        ("1,125", "can mean two numbers: write 1125 or 1.1250"),
        ("few", "must be a number with a decimal point, such as 12.5"),
        ("", "must be a number with a decimal point, such as 12.5"),
        ("1e99", "must be at most 999999999.999999"),
    ],
)
def test_what_cannot_be_little_stock(shared: Home, given: str, sentence: str) -> None:
    before = hashes(shared.data)
    change = ("company", "change", "ACME", "--name", "Other", "--min-stock", given)
    assert shared.refused(*change) == f"--min-stock {sentence}."
    assert hashes(shared.data) == before


def test_all_wrong_rules_are_told_at_once(shared: Home) -> None:
    said = shared.refusals("company", "change", "ACME", "--min-stock", "x", "--over-receipt-pct", "101")
    assert sorted(said) == [
        "--min-stock must be a number with a decimal point, such as 12.5.",
        "--over-receipt-pct must be at most 100.",
    ]


def test_a_company_that_is_not_there_has_no_tolerance(shared: Home) -> None:
    sentence = "There is no such company as NOBODY."
    assert shared.refused("company", "show", "NOBODY") == sentence
    assert shared.refused("company", "change", "NOBODY", "--over-receipt-pct", "5") == sentence


def test_what_is_not_a_good_operator(shared: Home) -> None:
    shared.ok("operator", "create", "TWICE", "--name", "Twice")
    assert (
        shared.refused("operator", "create", "TWICE", "--name", "Else")
        == "CODE TWICE is taken by another operator."
    )
    assert shared.refused("operator", "create", " X", "--name", "X") == "CODE must not begin or end with a space."


def audited(home: Home, subject: str) -> list[str]:
    with closing(sqlite3.connect(home.data / "platform.db")) as connection:
        rows = connection.execute("SELECT action FROM audit WHERE subject = ? ORDER BY id", (subject,)).fetchall()
    return [action for (action,) in rows]


def operator(home: Home, code: str) -> tuple[str, bool, bool]:
    (found,) = [row for row in home.ok("operator", "list", "--json").json if row["code"] == code]
    return found["name"], found["sandbox"], found["sandbox_webhooks"]


def test_an_operator_is_changed(shared: Home) -> None:
    shared.ok("operator", "create", "TURNED", "--name", "Before")
    shared.ok("company", "create", "TURNS", "--name", "Turns", "--operator", "TURNED")
    for arguments, after in (
        (["--webhooks"], ("Before", False, True)),
        (["--name", "After", "--sandbox"], ("After", True, True)),
        (["--no-webhooks"], ("After", True, False)),
    ):
        done = shared.ok("operator", "change", "TURNED", *arguments)
        assert (done.out, done.err.splitlines()[-1]) == ("", "TURNED is changed.")
        assert operator(shared, "TURNED") == after
    assert company(shared, "TURNS")["sandbox"] is True
    assert audited(shared, "TURNED") == ["operator.create", *(3 * ["operator.change"])]


def test_what_is_not_a_good_change_of_an_operator(shared: Home) -> None:
    before = hashes(shared.data)
    change = ("operator", "change")
    assert shared.refused(*change, "NOBODY", "--webhooks") == "There is no such operator as NOBODY."
    assert shared.refused(*change, "TWICE", "--name", "") == "--name must have at least 1 character."
    assert shared.misunderstood(*change, "TWICE").endswith("Give --name, --sandbox or --webhooks.")
    assert hashes(shared.data) == before


def test_modules_are_switched(shared: Home) -> None:
    shared.ok("company", "create", "MODS", "--name", "Mods", "--module", "stock")

    def enabled() -> list[str]:
        return [row["module"] for row in shared.ok("module", "list", "MODS", "--json").json if row["enabled"]]

    assert enabled() == ["api", "stock"]
    assert shared.ok("module", "enable", "MODS", "articles", "stock", "--json").json == [
        {"module": "articles", "enabled": True, "changed": True},
        {"module": "stock", "enabled": True, "changed": False},
    ]
    assert enabled() == ["api", "articles", "stock"]
    assert shared.ok("module", "disable", "MODS", "stock").out.splitlines()[-1].split() == ["stock", "no", "yes"]
    assert enabled() == ["api", "articles"]
    assert "give --all" in shared.misunderstood("module", "enable", "MODS")
    assert "give --all" in shared.misunderstood("module", "enable", "MODS", "--all", "stock")
    assert enabled() == ["api", "articles"]
    shared.ok("module", "enable", "MODS", "--all")
    assert enabled() == MODULES
    assert shared.ok("module", "list", "MODS").out.splitlines()[1].split()[:2] == ["api", "yes"]


@pytest.mark.parametrize("action", ["enable", "disable"])
def test_modules_that_are_not_there(shared: Home, action: str) -> None:
    assert shared.refused("module", action, "NOBODY", "stock") == "There is no such company as NOBODY."
    refused = shared.refused("module", action, "ACME", "stock", "stok")
    assert refused.startswith("MODULE stok is not a module; the modules are api, articles")
    assert company(shared, "ACME")["modules"] == MODULES
    assert "MODULE" in shared.misunderstood("module", action, "ACME") or action == "enable"
    assert shared.refused("module", "list", "NOBODY") == "There is no such company as NOBODY."
