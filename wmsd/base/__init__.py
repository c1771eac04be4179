"""The lowest room: values, text, time and numbers, with no I/O and no wait.

What touches the machine is in `machine/`.
"""
