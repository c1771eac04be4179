"""Whether the certificate that is served is there, is good for now, and is for the address where people come."""

from wmsd.app.diagnosis.finding import Found
from wmsd.app.diagnosis.situation import Situation
from wmsd.app.tls.verdict import KINDS, judged

__all__ = ["KINDS", "look"]


def look(at: Situation) -> Found:
    yield from judged(at.settings.server, at.data, at.now)
