"""How people and programs sign in."""

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from wmsd.http_client import ports
from wmsd.settings.sections.fields import AllowHttp, CaFile, Days, Networks, Ports, Section
from wmsd.tenants.accounts.sessions import Lifetimes
from wmsd.tenants.sign_on.providers import Provider, check_providers


class Tokens(Section):
    """API tokens."""

    lifetime_days: Annotated[
        Days, Field(description="Days that a token lasts, unless its maker says otherwise.")
    ] = 90
    most_days: Annotated[Days, Field(description="The most days that a token may last.")] = 3650


class Sessions(Section):
    """People who are signed in to the pages."""

    idle_hours: Annotated[
        int, Field(ge=1, le=720, description="Hours after which somebody who does nothing is signed out.")
    ] = 12
    most_days: Annotated[
        int, Field(ge=1, le=365, description="Days after which everybody has to sign in again.")
    ] = 7
    second_factor: Annotated[
        Literal["optional", "admins"],
        Field(description="optional, or admins: who is no member and has a password must set up a second factor."),
    ] = "optional"

    @property
    def lifetimes(self) -> Lifetimes:
        return Lifetimes(timedelta(hours=self.idle_hours), timedelta(days=self.most_days))


class SignOn(Section):
    """People who sign in through an OpenID provider; the guide says how (/docs/sign-on)."""

    allow_networks: Annotated[
        Networks, Field(description="Private networks that providers may be in, as CIDR.")
    ] = []
    allow_ports: Annotated[
        Ports,
        Field(
            description='Ports that providers in these networks may have: 8443, or a range such as "8000-8999".'
        ),
    ] = list(ports.WEB)
    allow_http: AllowHttp = False
    ca_file: CaFile = ""
    providers: Annotated[
        list[Provider],
        AfterValidator(check_providers),
        Field(description="The providers: a table for each."),
    ] = []
