"""Search: finds any record, lot or serial of a company by a part of its code or texts."""
