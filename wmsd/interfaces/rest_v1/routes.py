"""The routes of REST v1."""

from typing import Final

from wmsd.contract.route import Route
from wmsd.events.webhooks import actions as webhooks
from wmsd.platform import discovery
from wmsd.tenants.accounts import actions as accounts
from wmsd.warehouse.articles import actions as articles
from wmsd.warehouse.directory import actions as directory
from wmsd.warehouse.purchase_orders import actions as purchase_orders
from wmsd.warehouse.receptions import actions as receptions
from wmsd.warehouse.returns import actions as returns
from wmsd.warehouse.sales_orders import actions as sales_orders
from wmsd.warehouse.stock import actions as stock

ROUTES: Final = (
    Route("GET", "/api", discovery.get_index),
    Route("GET", "/api/health", discovery.get_health),
    Route("GET", "/openapi.json", discovery.get_openapi_v1),
    Route("POST", "/api/auth/token", accounts.issue_token),
    Route("POST", "/api/auth/revoke", accounts.revoke_token),
    Route("GET", "/api/user", accounts.get_user),
    Route("GET", "/api/companies", accounts.list_companies),
    Route("GET", "/api/articles", articles.list_articles),
    Route("POST", "/api/articles", articles.create_article),
    Route("GET", "/api/articles/sync", articles.sync_articles),
    Route("PATCH", "/api/articles/by-code/{code}", articles.update_article_by_code),
    Route("GET", "/api/articles/{id}", articles.get_article),
    Route("PUT", "/api/articles/{id}", articles.replace_article),
    Route("PATCH", "/api/articles/{id}", articles.update_article),
    Route("GET", "/api/stock", stock.list_stock),
    Route("GET", "/api/sales-orders", sales_orders.READING.by_page),
    Route("POST", "/api/sales-orders", sales_orders.create_sales_order),
    Route("GET", "/api/sales-orders/{id}", sales_orders.READING.one),
    Route("PUT", "/api/sales-orders/{id}", sales_orders.replace_sales_order),
    Route("PATCH", "/api/sales-orders/{id}", sales_orders.update_sales_order),
    Route("GET", "/api/purchase-orders", purchase_orders.READING.by_page),
    Route("POST", "/api/purchase-orders", purchase_orders.create_purchase_order),
    Route("GET", "/api/purchase-orders/{id}", purchase_orders.READING.one),
    Route("PUT", "/api/purchase-orders/{id}", purchase_orders.replace_purchase_order),
    Route("PATCH", "/api/purchase-orders/{id}", purchase_orders.update_purchase_order),
    Route("DELETE", "/api/purchase-orders/{id}", purchase_orders.delete_purchase_order),
    Route("GET", "/api/receptions", receptions.READING.by_page),
    Route("POST", "/api/receptions", receptions.create_reception),
    Route("GET", "/api/receptions/{id}", receptions.READING.one),
    Route("PUT", "/api/receptions/{id}", receptions.replace_reception),
    Route("PATCH", "/api/receptions/{id}", receptions.update_reception),
    Route("DELETE", "/api/receptions/{id}", receptions.delete_reception),
    Route("GET", "/api/returns", returns.READING.by_page),
    Route("POST", "/api/returns", returns.create_return),
    Route("GET", "/api/returns/{id}", returns.READING.one),
    Route("PUT", "/api/returns/{id}", returns.replace_return),
    Route("PATCH", "/api/returns/{id}", returns.update_return),
    Route("GET", "/api/webhooks", webhooks.list_webhooks),
    Route("POST", "/api/webhooks", webhooks.create_webhook),
    Route("GET", "/api/webhooks/{id}", webhooks.get_webhook),
    Route("PUT", "/api/webhooks/{id}", webhooks.replace_webhook),
    Route("PATCH", "/api/webhooks/{id}", webhooks.update_webhook),
    Route("DELETE", "/api/webhooks/{id}", webhooks.delete_webhook),
    Route("GET", "/api/clients", directory.list_clients),
    Route("GET", "/api/clients/{id}", directory.get_client),
    Route("GET", "/api/partners", directory.list_partners),
    Route("GET", "/api/partners/{id}", directory.get_partner),
    Route("GET", "/api/warehouses", directory.list_warehouses),
    Route("GET", "/api/warehouses/{id}", directory.get_warehouse),
)
