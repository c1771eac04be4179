"""The interfaces pass requests to the dispatcher. They do not import each other."""
