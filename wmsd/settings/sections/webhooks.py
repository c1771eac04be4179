"""[webhooks]: the addresses that webhooks may use."""

from typing import Annotated

from pydantic import AfterValidator, Field

from wmsd.http_client import ports
from wmsd.settings.sections.fields import AllowHttp, CaFile, Networks, Ports, Section, check_proxy


class Webhooks(Section):
    """Where webhooks may be sent, in addition to the public internet over https."""

    allow_networks: Annotated[
        Networks, Field(description="Private networks in which receivers are allowed, such as 10.0.0.0/8.")
    ] = []
    allow_ports: Annotated[
        Ports,
        Field(
            description=(
                "Allowed ports of receivers in the networks of `allow_networks`: 8443, or a "
                'range such as "8000-8999".'
            )
        ),
    ] = list(ports.WEB)
    allow_http: AllowHttp = False
    ca_file: CaFile = ""
    proxy: Annotated[
        str,
        AfterValidator(check_proxy),
        Field(
            description="An HTTP proxy for all webhooks, such as http://proxy.example.com:3128. Empty: no "
            "proxy. wmsd ignores HTTPS_PROXY in the environment."
        ),
    ] = ""
    keep_answers: Annotated[
        bool,
        Field(description="Keep the first 2 kB of each receiver's answer in the webhook delivery log."),
    ] = True
