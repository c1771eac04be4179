"""An error in one part of the examination does not stop the other parts."""

from pathlib import Path

import pytest

from tests.maintenance.doctor.scene import names, situation
from wmsd.contract.findings import FindingKind, Found
from wmsd.maintenance.doctor.findings import Group, diagnose
from wmsd.maintenance.doctor.situation import Situation

GOOD = FindingKind("good", "warning", "It is seen.", "Do nothing.")


def fails_as(error: Exception) -> Group:
    def look(_at: Situation) -> Found:
        raise error
        yield

    return Group("Broken", (), look)


def finds(_at: Situation) -> Found:
    yield GOOD.of()


@pytest.mark.parametrize(
    ("error", "name", "sentence"),
    [
        (PermissionError(13, "Permission denied"), "unexamined", "because permission denied."),
        (ZeroDivisionError("by zero"), "broken-off", "Broken. The message is: ZeroDivisionError: by zero."),
    ],
)
def test_the_others_are_examined(data: Path, error: Exception, name: str, sentence: str) -> None:
    found = diagnose(situation(data), groups=[fails_as(error), Group("Good", (GOOD,), finds)])
    assert names(found) == [name, GOOD.name]
    assert found[0].sentence.endswith(sentence)
