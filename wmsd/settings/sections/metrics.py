"""[metrics]: access to the metrics for Prometheus."""

from typing import Annotated

from pydantic import AfterValidator, Field

from wmsd.contract.secret_fields import OfPath, SecretFile
from wmsd.settings.sections.fields import Section, check_own_listen


class Metrics(Section):
    """Metrics of the running server for Prometheus, at /metrics. The guide lists them all (/docs/monitoring)."""

    listen: Annotated[
        str,
        AfterValidator(check_own_listen),
        Field(
            description="A separate address for the metrics, such as 127.0.0.1:8481. Without `token_file`, "
            "anyone who reaches it can read the metrics. Empty: not used."
        ),
    ] = ""
    token_file: Annotated[
        str,
        Field(
            description="A file with the token that readers of the metrics must send. If `listen` is empty, "
            "/metrics is at the address of the service."
        ),
        SecretFile,
        OfPath,
    ] = ""
