"""All faults, grouped by their cause."""

from collections.abc import Mapping, Sequence
from typing import Final

from tests.support.faults.clocks import CLOCKS
from tests.support.faults.disks import FAILING, FULL
from tests.support.faults.fault import Fault
from tests.support.faults.files import TOUCHED
from tests.support.faults.shortages import SHORTAGES

FAULTS: Final[Mapping[str, Sequence[Fault]]] = {
    "Clock changes": CLOCKS,
    "Full disk": FULL,
    "Failing disk": FAILING,
    "Shortage of files, threads or memory": SHORTAGES,
    "Changed and locked files": TOUCHED,
}
