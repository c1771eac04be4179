"""Whether all that a restore has lost or brought back is settled."""

from typing import Final

from wmsd.contract.findings import FindingKind, Found
from wmsd.maintenance.doctor.situation import Situation
from wmsd.tenants.recovery import findings as of_entries

NOT_LISTED: Final = FindingKind(
    "recovery-not-listed",
    "wrong",
    "What the last restore has lost or brought back is not listed yet.",
    "Start the server, or run `wmsd recovery list`: both make the list.",
)
KINDS: Final = (NOT_LISTED, *of_entries.KINDS)


def findings(at: Situation) -> Found:
    if at.recovery is None:
        return
    if at.recovery.is_unlisted:
        yield NOT_LISTED.of()
    for entry in at.recovery.entries:
        yield of_entries.finding_of(entry)
