"""The parts that all pages share: sessions, forms, fields, filters, templates."""
