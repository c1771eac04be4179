-- Where an order goes and who carries it.

ALTER TABLE sales_orders ADD COLUMN ship_to TEXT;  -- JSON
ALTER TABLE sales_orders ADD COLUMN carrier TEXT;
ALTER TABLE sales_orders ADD COLUMN tracking_number TEXT;
ALTER TABLE sales_orders ADD COLUMN customer_reference TEXT;
