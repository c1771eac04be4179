"""What only some users may do."""

import os

import pytest

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
