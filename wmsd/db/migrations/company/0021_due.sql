-- What is due, and what is low: for figures that are read at each change.

CREATE INDEX sales_orders_by_requested_date ON sales_orders (requested_date)
WHERE requested_date IS NOT NULL AND status IN ('CREAT', 'IN_LUCRU');

CREATE INDEX purchase_orders_by_expected_date ON purchase_orders (expected_date)
WHERE expected_date IS NOT NULL AND status IN ('CREAT', 'PARTIAL');

CREATE INDEX stock_low ON stock (id) WHERE is_low = 1;
