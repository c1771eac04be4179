"""What came of an attempt to tell an alert."""

from typing import NamedTuple


class Outcome(NamedTuple):
    """`said`: what came back, for whoever tries it; `error` is None where the alert was taken."""

    error: str | None
    said: str = ""
