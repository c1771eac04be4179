"""The pages: what people see in the browser.

Every action is an operation that the dispatcher runs for the signed-in user. Pages contain no SQL and no rules of
the warehouse.
"""
