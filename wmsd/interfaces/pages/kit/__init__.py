"""What every page is made with: sessions, forms, fields, filters, templates."""
