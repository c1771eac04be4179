"""`wmsd doctor`."""

import json
from contextlib import closing

from tests.support.command import Tenant, at_a_terminal
from wmsd.db.sqlite import connect

HEADER = "code,status,partner_code,warehouse_code,article_code,quantity\n"
ORDERS = HEADER + "A-1,LIVRAT,P1,MAIN,A,3\nA-2,CREAT,P1,MAIN,A,1\n"


def test_the_doctor_finds_nothing_where_everything_is_right(shop: Tenant) -> None:
    shop.take("sales-orders", ORDERS)
    done = shop.home.ok("doctor", "--company", shop.code)
    assert f"{shop.code}: everything is right; " in done.err
    (found,) = shop.home.ok("doctor", "--company", shop.code, "--json").json
    assert (found["company"], found["ok"], found["differences"]) == (shop.code, True, [])


def test_the_doctor_names_what_differs_and_exits_with_1(shop: Tenant) -> None:
    shop.take("sales-orders", ORDERS)
    companies = {row["code"]: row["id"] for row in shop.home.ok("company", "list", "--json").json}
    file = shop.home.data / "companies" / f"{companies[shop.code]}.db"
    connection = connect(file)
    connection.execute("UPDATE stock SET quantity = quantity + 1000000 WHERE id = 1")
    connection.close()
    done = shop.home.run("doctor", "--company", shop.code)
    assert done.code == 1
    assert done.out == f"{shop.code}: a quantity is the sum of its movements; but A in MAIN: 8 instead of 7\n"
    done = shop.home.run("doctor", "--company", shop.code, "--json")
    assert (done.code, json.loads(done.out)[0]["differences"][0]["record"]) == (1, "A in MAIN")


def test_the_doctor_knows_no_such_company(shop: Tenant) -> None:
    assert shop.home.refusals("doctor", "--company", "NONE") == ["There is no company NONE."]


def test_the_platform_is_examined_first(shop: Tenant) -> None:
    with closing(connect(shop.home.data / "platform.db")) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("UPDATE companies SET operator_id = 999 WHERE id = 1")
    done = shop.home.run("doctor")
    with closing(connect(shop.home.data / "platform.db")) as connection:
        connection.execute("UPDATE companies SET operator_id = NULL WHERE id = 1")
    assert (done.code, done.err.splitlines()[1]) == (1, "platform.db: 1 difference.")
    assert done.out.splitlines()[0] == (
        "platform.db: a reference leads to a record; but companies 1: none instead of a record of operators"
    )


def test_it_tells_a_terminal_how_far_it_is_and_nobody_else(shop: Tenant) -> None:
    shown = at_a_terminal(shop.home, "doctor", "--company", shop.code)
    assert f"1/1  {shop.code}" in shown.err
    assert f"{shop.code}: everything is right; " in shown.err
    assert shown.out == ""
    told = shop.home.ok("doctor", "--company", shop.code).err.splitlines()
    assert [line.partition(";")[0] for line in told[1:-1]] == [f"{shop.code}: everything is right"]
    assert told[-1].startswith("Examined 1 file, 1 of companies: ")
