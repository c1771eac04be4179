"""The command line, with one file for each command.

A command imports the modules that it needs only when it runs. This makes it start fast.
"""
