"""`wmsd stock`, and stock counts in files."""

from typing import Any

import pytest

from tests.support.command import Tenant
from tests.support.forked import Done

HEADER = "article_code,warehouse_code,quantity,lot_number,serial,quarantined,reason\n"
COUNT = (
    HEADER
    + "A,MAIN,10,,,2,\n"
    + "L,MAIN,5,L1,,0,\n"
    + "L,MAIN,7.5,L2,,1,\n"
    + "S,MAIN,1,X,S1,0,\n"
    + "S,MAIN,1,X,S2,1,\n"
    + "A,EAST,0.000001,,,0,\n"
)
HERE = ("--article", "A", "--warehouse", "MAIN")


@pytest.fixture
def store(tenant: Tenant) -> Tenant:
    tenant.take("partners", "code,name,type\nP1,First,CLIENT\n")
    tenant.take("warehouses", "code,name\nMAIN,Main\nEAST,East\n")
    articles = "A,Alpha,false,false\nL,Lotted,true,false\nS,Serial,true,true\n"
    tenant.take("articles", "code,name,track_lot,track_serial\n" + articles)
    assert tenant.take("stock-count", COUNT) == (0, 6, 0)
    return tenant


def stock(tenant: Tenant, *arguments: str) -> Done:
    return tenant.home.ok("stock", *arguments, "--company", tenant.code)


def refused(tenant: Tenant, *arguments: str) -> list[str]:
    before = tenant.export("stock-count")
    sentences = tenant.home.refusals("stock", *arguments, "--company", tenant.code)
    assert tenant.export("stock-count") == before
    return sentences


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_list(store: Tenant) -> None:
    assert stock(store, "list", "--json").json[2] == {
        "article": "S",
        "warehouse": "MAIN",
        "quantity": 2,
        "reserved": 0,
        "quarantined": 1,
        "available": 1,
    }
    assert lines(stock(store, "list", "--article", "A").out) == [
        ["article", "warehouse", "quantity", "reserved", "quarantined", "available"],
        ["A", "MAIN", "10", "0", "2", "8"],
        ["A", "EAST", "0.000001", "0", "0", "0.000001"],
    ]
    paged = stock(store, "list", "--warehouse", "MAIN", "--per-page", "1", "--page", "2")
    assert ("L" in paged.out, "1 of 3 rows, page 2" in paged.err) == (True, True)
    assert "No stock matches these filters." in stock(store, "list", "--article", "L", "--warehouse", "EAST").err
    assert refused(store, "list", "--article", "Z") == ["There is no such article as Z."]
    assert refused(store, "list", "--warehouse", "Z") == ["There is no such warehouse as Z."]
    assert refused(store, "list", "--article", "a") == ["There is no such article as a. Did you mean A?"]
    assert refused(store, "list", "--warehouse", "main ") == [
        "There is no such warehouse as main . Did you mean MAIN?"
    ]


def test_list_of_lots(store: Tenant) -> None:
    assert lines(stock(store, "list", "--lots", "--warehouse", "MAIN").out)[1:] == [
        ["A", "MAIN", "-", "-", "10", "2"],
        ["L", "MAIN", "L1", "-", "5", "0"],
        ["L", "MAIN", "L2", "-", "7.5", "1"],
        ["S", "MAIN", "X", "S1", "1", "0"],
        ["S", "MAIN", "X", "S2", "1", "1"],
    ]
    first = stock(store, "list", "--lots", "--article", "L", "--json").json[1]
    assert first == {
        "article": "L",
        "warehouse": "MAIN",
        "lot_number": "L2",
        "serial": None,
        "quantity": 7.5,
        "quarantined": 1,
    }


def test_adjust(store: Tenant) -> None:
    done = stock(store, "adjust", *HERE, "--by", "-2.5", "--reason", "Broken glass")
    assert lines(done.out) == [
        ["article", "warehouse", "lot_number", "serial", "before", "after", "difference"],
        ["A", "MAIN", "-", "-", "10", "7.5", "-2.5"],
    ]
    stock(store, "adjust", *HERE, "--by=+1", "--reason", "Found")
    stock(
        store, "adjust", "--article", "L", "--warehouse", "MAIN", "--lot", "L1", "--to", "6", "--reason", "Found"
    )
    serials = ("--by", "+2", "--serial", "S8", "--serial", "0012", "--lot", "Y")
    done = stock(store, "adjust", "--article", "S", "--warehouse", "MAIN", *serials, "--reason", "Found", "--json")
    assert done.json["sums"] == {
        "before": 0,
        "after": 2,
        "difference": 2,
        "quarantined_before": 0,
        "quarantined": 0,
    }
    assert [change["serial"] for change in done.json["changes"]] == ["S8", "0012"]
    assert store.export("stock-count") == (
        HEADER
        + "A,MAIN,8.5,,,2,\nL,MAIN,6,L1,,0,\nL,MAIN,7.5,L2,,1,\nS,MAIN,1,X,S1,0,\nS,MAIN,1,X,S2,1,\n"
        + "S,MAIN,1,Y,S8,0,\nS,MAIN,1,Y,0012,0,\nA,EAST,0.000001,,,0,\n"
    )


def test_a_dry_run_changes_nothing(store: Tenant) -> None:
    before = store.export("stock-count")
    done = stock(store, "adjust", *HERE, "--to", "3", "--reason", "x", "--dry-run")
    assert ("-7" in done.out, "Nothing was changed: this was a dry run." in done.err) == (True, True)
    assert "the stock already is as requested" in stock(store, "adjust", *HERE, "--to", "10", "--reason", "x").err
    assert store.export("stock-count") == before


def test_quarantine_and_release(store: Tenant) -> None:
    done = stock(store, "quarantine", *HERE, "--quantity", "3", "--reason", "Smells")
    assert lines(done.out)[1] == ["A", "MAIN", "-", "-", "10", "10", "0", "2", "5"]
    stock(store, "release", *HERE, "--all", "--reason", "Aired")
    lot = ("--article", "L", "--warehouse", "MAIN", "--lot", "L2")
    stock(store, "quarantine", *lot, "--all", "--reason", "Recalled")
    unit = ("--article", "S", "--warehouse", "MAIN", "--serial", "S2")
    stock(store, "release", *unit, "--reason", "Repaired")
    shown = stock(store, "list", "--warehouse", "MAIN", "--json").json
    assert [(row["quarantined"], row["available"]) for row in shown] == [(0, 10), (7.5, 5), (0, 2)]


REFUSED: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "too little": (
        ("adjust", *HERE, "--by", "-9"),
        ["--by would remove 9, but only 8 are in stock and not in quarantine."],
    ),
    "bounds": (("adjust", *HERE, "--to", "1e9"), ["--to must be at most 999999999.999999."]),
    "serials": (
        ("adjust", "--article", "S", "--warehouse", "EAST", "--by", "1", "--serial", "S1"),
        ["--serial S1 is in stock in MAIN already."],
    ),
    "a serial with a blank": (
        ("release", "--article", "S", "--warehouse", "EAST", "--serial", " "),
        ["--serial must not begin or end with a space."],
    ),
    "an article": (
        ("release", "--article", "Z", "--warehouse", "MAIN", "--all"),
        ["There is no such article as Z."],
    ),
    "a warehouse in small letters": (
        ("adjust", "--article", "A", "--warehouse", "main", "--by", "1"),
        ["There is no such warehouse as main. Did you mean MAIN?"],
    ),
    "a warehouse": (
        ("release", "--article", "A", "--warehouse", "Z", "--all"),
        ["There is no such warehouse as Z."],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_said_in_the_words_of_the_command(store: Tenant, case: str) -> None:
    arguments, sentences = REFUSED[case]
    assert refused(store, *arguments, "--reason", "x") == sentences


def test_what_is_not_understood(store: Tenant) -> None:
    def said(*arguments: str) -> str:
        return store.home.misunderstood("stock", *arguments, "--company", store.code)

    reason = ("--reason", "x")
    assert said("adjust", *HERE, "--by", "1") == "Error: Missing option '--reason'."
    assert "Give either --by" in said("adjust", *HERE, *reason)
    assert "Give either --by" in said("adjust", *HERE, *reason, "--by", "1", "--to", "1")
    assert "Give exactly one of" in said("quarantine", *HERE, *reason)
    assert "Give exactly one of" in said("release", *HERE, *reason, "--all", "--quantity", "1")
    assert "must be a number with a decimal point" in said("adjust", *HERE, *reason, "--by", "1,5")


@pytest.mark.parametrize(
    ("typed", "whole", "fraction"),
    [("1.000", "1000", "1"), ("1,000", "1000", "1"), ("-2.500", "-2500", "-2.5"), ("1.125", "1125", "1.1250")],
)
def test_a_number_that_may_mean_two_is_asked(store: Tenant, typed: str, whole: str, fraction: str) -> None:
    before = store.export("stock-count")
    for action, option in (("adjust", "--by"), ("adjust", "--to"), ("quarantine", "--quantity")):
        said = store.home.misunderstood(
            "stock", action, *HERE, "--reason", "x", option, typed, "--company", store.code
        )
        assert said.endswith(f"can mean two numbers: write {whole} or {fraction}")
    assert store.export("stock-count") == before


def test_a_number_that_is_clear_is_taken(store: Tenant) -> None:
    for typed, stored in (
        ("2.0000", 2),
        ("2.1250", 2.125),
        ("1234.500", 1234.5),
        ("1000", 1000),
        ("1 234.5", 1234.5),
        ("3.5", 3.5),
    ):
        done = stock(store, "adjust", *HERE, "--to", typed, "--reason", "Count", "--json")
        assert done.json["sums"]["after"] == stored
    done = stock(store, "adjust", *HERE, "--by", "-0.500", "--reason", "Broken glass", "--json")
    assert done.json["sums"]["difference"] == -0.5


def ledger(store: Tenant, *arguments: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = stock(store, "ledger", *arguments, "--json").json
    return rows


def test_ledger(store: Tenant) -> None:
    header = "code,status,partner_code,warehouse_code,article_code,quantity\n"
    store.take("sales-orders", header + "SO-9,INCARCAT,P1,MAIN,L,6\nSO-10,CREAT,P1,MAIN,A,1\n")
    stock(store, "adjust", *HERE, "--by", "-1", "--reason", "Broken glass")
    (moved,) = ledger(store, "--article", "A", "--warehouse", "MAIN", "--after", "1")
    assert moved.pop("when").endswith("Z")
    assert moved == {
        "id": 9,
        "kind": "adjustment",
        "article": "A",
        "warehouse": "MAIN",
        "quantity": -1,
        "quarantined": 0,
        "destroyed": 0,
        "lot_number": None,
        "serial": None,
        "document": None,
        "reason": "Broken glass",
        "who": "wmsd",
    }
    loaded = ledger(store, "--document", "SO-9")
    assert [(row["quantity"], row["lot_number"], row["document"]) for row in loaded] == [
        (-5, "L1", "SO-9"),
        (-1, "L2", "SO-9"),
    ]
    assert ledger(store, "--document", "SO-10") == []
    assert [row["id"] for row in ledger(store, "--lot", "L2")] == [3, 8]
    assert [row["id"] for row in ledger(store, "--serial", "S2", "--article", "S")] == [5]
    assert [row["id"] for row in ledger(store, "--warehouse", "EAST")] == [6]
    assert [row["id"] for row in ledger(store, "--article", "A")] == [1, 6, 9]
    assert refused(store, "ledger", "--document", "SO-11") == ["There is no such document as SO-11."]
    assert refused(store, "ledger", "--document", "so 10") == [
        "There is no such document as so 10. Did you mean SO-10?"
    ]
    assert refused(store, "ledger", "--article", "a") == ["There is no such article as a. Did you mean A?"]


def test_the_ledger_page_by_page(store: Tenant) -> None:
    assert [row["id"] for row in ledger(store, "--limit", "2")] == [5, 6], "the latest, the newest last"
    for filters in ((), ("--warehouse", "MAIN"), ("--lot", "X"), ("--article", "L")):
        met: list[int] = []
        while page := ledger(store, *filters, "--limit", "1", "--after", str(met[-1] if met else 0)):
            met += [row["id"] for row in page]
        assert met == [row["id"] for row in ledger(store, *filters)]
    done = stock(store, "ledger", "--limit", "2")
    assert "2 movements: the latest ones (--after 0 begins with the first movement)." in done.err
    assert "2 movements: continue with --after 2." in stock(store, "ledger", "--limit", "2", "--after", "0").err


def count(store: Tenant, content: str, *flags: str) -> Done:
    return store.home.ok("import", "stock-count", "-", "--company", store.code, *flags, stdin=content)


def test_a_count_shows_what_it_changes(store: Tenant) -> None:
    counted = "article_code,warehouse_code,quantity,lot_number\nL,MAIN,5.5,L1\nL,MAIN,7.5,L2\nA,MAIN,9,\n"
    preview = count(store, counted, "--dry-run")
    assert lines(preview.out)[:4] == [
        ["article", "warehouse", "lot_number", "serial", "before", "counted", "difference"],
        ["L", "MAIN", "L1", "-", "5", "5.5", "0.5"],
        ["A", "MAIN", "-", "-", "10", "9", "-1"],
        ["sum", "15", "14.5", "-0.5"],
    ]
    assert store.export("stock-count") == COUNT
    done = count(store, counted)
    assert done.out == preview.out
    assert count(store, counted, "--json").json == {
        "kind": "stock-count",
        "created": 0,
        "updated": 0,
        "unchanged": 3,
        "dry_run": False,
        "changes": [],
        "sums": {"before": 0, "counted": 0, "difference": 0, "quarantined_before": 0, "quarantined": 0},
    }


def test_a_long_table_is_cut_and_json_has_all(store: Tenant) -> None:
    rows = "".join(f"S,EAST,1,Z,N{place}\n" for place in range(60))
    counted = "article_code,warehouse_code,quantity,lot_number,serial\n" + rows
    preview = count(store, counted, "--dry-run")
    assert "… and 10 more, which are included in the sum. --json shows all." in preview.out
    assert ["sum", "0", "60", "60"] in lines(preview.out)
    assert len(count(store, counted, "--dry-run", "--json").json["changes"]) == 60


def test_a_complete_count_with_a_reason(store: Tenant) -> None:
    counted = "article_code,warehouse_code,quantity\nA,MAIN,10\n"
    done = count(store, counted, "--complete", "--reason", "Yearly", "--json").json
    assert (done["updated"], done["unchanged"], done["sums"]["difference"]) == (4, 1, -14.5)
    assert {row["reason"] for row in ledger(store, "--after", "6")} == {"Yearly"}


def test_what_orders_hold_is_told_without_a_row(store: Tenant) -> None:
    store.take("sales-orders", "code,partner_code,warehouse_code,article_code,quantity\nSO-1,P1,MAIN,L,6\n")
    arguments = ("import", "stock-count", "-", "--company", store.code, "--complete")
    counted = "article_code,warehouse_code,quantity\nA,MAIN,10\n"
    assert store.home.refusals(*arguments, stdin=counted)[0] == (
        "L in MAIN: has no row in the file, so its stock would become 0, but orders have reserved 6: add a row "
        "for this article."
    )
    assert store.home.run(*arguments, "--json", stdin=counted).json["errors"][0]["row"] is None


def test_options_of_a_count_go_with_a_count(store: Tenant) -> None:
    for option in (("--complete",), ("--reason", "x")):
        said = store.home.misunderstood("import", "articles", "-", "--company", store.code, *option)
        assert said == f"Error: Use {option[0]} only with stock-count."
    arguments = ("import", "stock-count", "-", "--company", store.code, "--reason", "x" * 256)
    assert store.home.refusals(*arguments, stdin=COUNT) == ["--reason must have at most 255 characters."]


def test_a_count_is_taken_back_unchanged(store: Tenant, tenant: Tenant) -> None:
    assert store.export("stock-count") == COUNT
    assert store.take("stock-count", COUNT, "--complete") == (0, 0, 6)
    assert "no errors" in store.home.ok("doctor", "--company", store.code).err
