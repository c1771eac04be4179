"""What a company's file holds: records, stock and documents."""
