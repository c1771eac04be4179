"""The routes of REST v2."""

from typing import Final

from wmsd.contract.route import Route
from wmsd.dispatch import batch
from wmsd.events.outbox import actions as outbox
from wmsd.events.webhooks import actions as webhooks
from wmsd.events.webhooks.deliveries import actions as deliveries
from wmsd.platform import discovery
from wmsd.server.webhook_sender import test_webhook
from wmsd.warehouse.articles import actions as articles
from wmsd.warehouse.counts import actions as counts
from wmsd.warehouse.packaging import actions as packaging
from wmsd.warehouse.sales_orders import actions as sales_orders
from wmsd.warehouse.stock import actions as stock

ROUTES: Final = (
    Route("GET", "/api/v2/meta", discovery.get_meta),
    Route("GET", "/api/v2/openapi.json", discovery.get_openapi_v2),
    Route("POST", "/api/v2/batch", batch.run_batch),
    Route("GET", "/api/v2/articles", articles.list_sparse_articles),
    Route("GET", "/api/v2/events", outbox.list_events),
    Route("GET", "/api/v2/webhooks", webhooks.list_webhooks),
    Route("POST", "/api/v2/webhooks", webhooks.create_webhook),
    Route("GET", "/api/v2/webhooks/{id}", webhooks.get_webhook),
    Route("PATCH", "/api/v2/webhooks/{id}", webhooks.update_webhook),
    Route("DELETE", "/api/v2/webhooks/{id}", webhooks.delete_webhook),
    Route("POST", "/api/v2/webhooks/{id}/test", test_webhook),
    Route("POST", "/api/v2/webhooks/{id}/rotate-secret", webhooks.rotate_webhook_secret),
    Route("GET", "/api/v2/webhooks/{id}/deliveries", deliveries.list_webhook_deliveries),
    Route("POST", "/api/v2/webhooks/{id}/redeliver", deliveries.redeliver_webhook_range),
    Route("POST", "/api/v2/webhooks/{id}/deliveries/{delivery}/redeliver", deliveries.redeliver_webhook),
    Route("GET", "/api/v2/stock", stock.walk_stock),
    Route("GET", "/api/v2/counts", counts.READING.by_cursor),
    Route("POST", "/api/v2/counts", counts.create_count),
    Route("GET", "/api/v2/counts/{id}", counts.READING.one),
    Route("PUT", "/api/v2/counts/{id}", counts.replace_count),
    Route("PATCH", "/api/v2/counts/{id}", counts.update_count),
    Route("POST", "/api/v2/counts/{id}/book", counts.book_count),
    Route("GET", "/api/v2/packaging/types", packaging.walk_packaging_types),
    Route("GET", "/api/v2/packaging/balances", packaging.walk_packaging_balances),
    Route("GET", "/api/v2/packaging/movements", packaging.walk_packaging_movements),
    Route("GET", "/api/v2/sales-orders", sales_orders.READING.by_cursor),
    Route("POST", "/api/v2/sales-orders", sales_orders.create_sales_order),
    Route("GET", "/api/v2/sales-orders/{id}", sales_orders.READING.one),
    Route("PATCH", "/api/v2/sales-orders/{id}/status", sales_orders.change_sales_order_status),
)
