"""The standard files of the process: input, output, errors."""

import os
import sys
from typing import Final

NAMES: Final = {"stdin": "r", "stdout": "w", "stderr": "w"}


def open_those_closed() -> None:
    """Lets those that the caller has closed lead nowhere (`serve >&-`). Otherwise Python has none, and the next
    file that is opened takes the place: what is meant for a person would be written into it.
    """
    for number in range(len(NAMES)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    for name, mode in NAMES.items():
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123  (as long as it runs)
