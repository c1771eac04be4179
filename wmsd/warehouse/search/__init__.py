"""Search: any record, lot or serial of a company, by a part of what stands in it."""
