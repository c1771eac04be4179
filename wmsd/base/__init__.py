"""The lowest layer: values, text, time and numbers, without I/O and waits.

Code that uses the machine is in `machine/`.
"""
