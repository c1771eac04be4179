"""Benchmarks of wmsd, each compared with a floor in the same run, so that a slow machine slows both.

The floor does the same work without wmsd, or wmsd does it at a smaller size.
"""
