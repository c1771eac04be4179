"""The command line: a file for each command.

Each command imports what it needs only when it runs, so that it starts fast.
"""
