"""Benchmarks of wmsd, compared with floors. A floor is measured in the same run, so that a slow machine slows
both.

A floor is the same work without wmsd, or the same work by wmsd at a smaller size.
"""
