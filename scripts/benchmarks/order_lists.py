"""Whether a list of orders is slower if there are many: 1 000 000 orders compared with 10 000."""

from collections.abc import Iterator
from typing import Final

from benchmarks.figures import ORDERS_BY_STATUS_AND_PARTNER, Figure
from benchmarks.list_pages import Reader, compared
from benchmarks.processes import progress, wmsd_server
from benchmarks.site import Company, Installation, installation
from benchmarks.size import sized

SMALL: Final = sized(10_000, 300)
LARGE: Final = sized(1_000_000, 600)
PARTNERS: Final = 20
ARTICLES: Final = 100
LISTS: Final = (
    (ORDERS_BY_STATUS_AND_PARTNER, "/api/sales-orders?status=LIVRAT&partner_id=7"),
    ("orders by two statuses and partner, likewise", "/api/sales-orders?status=CREAT,LIVRAT&partner_id=7"),
    ("orders by a partner, likewise", "/api/sales-orders?partner_id=7"),
    ("orders by two statuses, likewise", "/api/sales-orders?status=IN_LUCRU,ANULAT"),
    (
        "orders by status and partner by cursor, likewise",
        "/api/v2/sales-orders?per_page=50&status=LIVRAT&partner_id=7",
    ),
    ("all orders, likewise", "/api/sales-orders"),
)
ORDERS: Final = """
    WITH RECURSIVE numbers (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM numbers WHERE id < :count)
    INSERT INTO sales_orders (id, code, status, partner_id, warehouse_id, status_history, change_seq, created_at,
        updated_at)
    SELECT id, printf('SO-%06d', id), CASE id % 10 WHEN 0 THEN 'CREAT' WHEN 1 THEN 'ANULAT' WHEN 2 THEN 'IN_LUCRU'
        ELSE 'LIVRAT' END, id / 10 % :partners + 1, 1, '[{"status":"CREAT","at":"2026-01-01T00:00:00.000Z"}]',
        id + 1000000000, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'
    FROM numbers
"""
LINES: Final = """
    INSERT INTO sales_order_lines (sales_order_id, position, article_id, quantity, warehouse_id)
    SELECT sales_orders.id, place.value, (sales_orders.id + place.value) % :articles + 1, 1000000, 1
    FROM sales_orders, json_each('[0, 1, 2]') AS place
"""


def measure() -> Iterator[Figure]:
    with installation() as site:
        small, large = company_with_orders(site, "SMALL", SMALL), company_with_orders(site, "LARGE", LARGE)
        with wmsd_server(site.data) as wmsd:
            readers = [Reader(wmsd.connect(), company.headers) for company in (small, large)]
            for name, path in LISTS:
                progress(name)
                yield compared(name, readers[0], path, readers[1], path)


def company_with_orders(site: Installation, code: str, count: int) -> Company:
    """Create a company with orders, which are written by SQL, because only reading is measured."""
    from wmsd.db.engine.sqlite import connect

    company = site.company(code)
    partners = "".join(f"P{number},Partner {number},CLIENT\n" for number in range(1, PARTNERS + 1))
    site.import_csv("partners", company, "code,name,type\n" + partners)
    site.load_articles(company, ARTICLES)
    site.load_stock(company, ARTICLES)
    progress(f"writing {count} orders into {code}")
    connection = connect(site.file(company))
    connection.execute("BEGIN")
    connection.execute(ORDERS, {"count": count, "partners": PARTNERS})
    connection.execute(LINES, {"articles": ARTICLES})
    connection.execute("COMMIT")
    connection.execute("PRAGMA optimize = 0x10002")
    connection.close()
    return company
