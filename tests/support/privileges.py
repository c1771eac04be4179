"""Marks for tests that need the rights of certain users."""

import os

import pytest

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
