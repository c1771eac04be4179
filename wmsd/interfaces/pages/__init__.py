"""The pages: what people see in the browser.

Every act is an operation through the dispatcher, by the signed-in user; no page has SQL or a rule of its own.
"""
