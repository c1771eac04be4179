"""[sign_on]: the OpenID providers of single sign-on."""

from typing import Annotated

from pydantic import AfterValidator, Field

from wmsd.http_client import ports
from wmsd.settings.sections.fields import AllowHttp, CaFile, Networks, Ports, Section
from wmsd.tenants.sign_on.providers import Provider, check_providers


class SignOn(Section):
    """Sign-in through an OpenID provider. The guide explains the setup (/docs/sign-on)."""

    allow_networks: Annotated[
        Networks,
        Field(description=("Private networks in which sign-on providers are allowed, such as 10.0.0.0/8.")),
    ] = []
    allow_ports: Annotated[
        Ports,
        Field(
            description=(
                "Allowed ports of providers in the networks of `allow_networks`: 8443, or a "
                'range such as "8000-8999".'
            )
        ),
    ] = list(ports.WEB)
    allow_http: AllowHttp = False
    ca_file: CaFile = ""
    providers: Annotated[
        list[Provider],
        AfterValidator(check_providers),
        Field(description="The OpenID providers, each in its own table."),
    ] = []
