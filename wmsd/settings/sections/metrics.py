"""[metrics]: access to the metrics for Prometheus."""

from typing import Annotated

from pydantic import AfterValidator, Field

from wmsd.contract.secret_fields import OfPath, SecretFile
from wmsd.settings.sections.fields import Section, check_own_listen


class Metrics(Section):
    """Metrics of the running server for Prometheus, at /metrics. The guide lists them (/docs/monitoring)."""

    listen: Annotated[
        str,
        AfterValidator(check_own_listen),
        Field(
            description="An address of their own, such as 127.0.0.1:8481, open to all who reach it; empty: none."
        ),
    ] = ""
    token_file: Annotated[
        str,
        Field(
            description="A file with a token that readers must send. Without `listen`, /metrics is then at the "
            "service's own address."
        ),
        SecretFile,
        OfPath,
    ] = ""
