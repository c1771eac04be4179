-- By when an order should be dealt with, within each status: lists are filtered and sorted by it.

CREATE INDEX sales_orders_by_status_and_date ON sales_orders (status, requested_date);
CREATE INDEX purchase_orders_by_status_and_date ON purchase_orders (status, expected_date);
