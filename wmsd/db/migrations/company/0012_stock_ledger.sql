-- The way of a lot and of a serial through the ledger is read without a scan of it.

CREATE INDEX stock_movements_by_lot ON stock_movements (lot_number, id) WHERE lot_number IS NOT NULL;
CREATE INDEX stock_movements_by_serial ON stock_movements (serial, id) WHERE serial IS NOT NULL;
