"""Whether the certificate that is served is there, is good for now, and is for the address where people come."""

from wmsd.contract.findings import Found
from wmsd.host.tls.verdict import KINDS, certificate_findings
from wmsd.maintenance.doctor.situation import Situation

__all__ = ["KINDS", "findings"]


def findings(at: Situation) -> Found:
    yield from certificate_findings(at.settings.server, at.data, at.now)
