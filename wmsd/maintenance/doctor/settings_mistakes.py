"""Mistakes in the settings. What is wrong in them has been left out, and the others are examined."""

from typing import Final

from wmsd.contract.findings import FindingKind, Found
from wmsd.maintenance.doctor.situation import Situation

INVALID_SETTING: Final = FindingKind(
    "settings-mistaken",
    "wrong",
    "There is a mistake in the settings. {sentence}",
    "Correct it, and try the settings with wmsd config check. No server starts with them; this examination has "
    "left out what is wrong in them.",
)
KINDS: Final = (INVALID_SETTING,)


def findings(at: Situation) -> Found:
    for sentence in at.mistakes:
        yield INVALID_SETTING.of(sentence=sentence)
