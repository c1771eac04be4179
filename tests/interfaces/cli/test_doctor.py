"""`wmsd doctor`."""

import json

from tests.support.command import Tenant
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
