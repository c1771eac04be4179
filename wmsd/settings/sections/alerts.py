"""[alerts]: who receives alerts, and through which channels."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from wmsd.contract.secret_fields import OfPath, Secret, SecretFile
from wmsd.http_client import ports
from wmsd.settings.sections.fields import (
    AllowHttp,
    CaFile,
    MailAddresses,
    Networks,
    Ports,
    Section,
    check_host,
    check_mail_address,
    check_program,
    check_url,
)


class Alerts(Section):
    """Who receives alerts when something needs attention. The guide lists the alerts (/docs/monitoring)."""

    url: Annotated[
        str,
        AfterValidator(check_url),
        Field(description="The URL that receives each alert, signed like a webhook. Empty: not used."),
        Secret,
    ] = ""
    secret_file: Annotated[
        str,
        Field(
            description="A file with the secret that signs the requests to `url`, like the secret of a webhook."
        ),
        SecretFile,
        OfPath,
    ] = ""
    allow_networks: Annotated[
        Networks, Field(description="Private networks that the receiver may be in, as CIDR.")
    ] = []
    allow_ports: Annotated[
        Ports,
        Field(
            description='Ports that a receiver in these networks may have: 8443, or a range such as "8000-8999".'
        ),
    ] = list(ports.WEB)
    allow_http: AllowHttp = False
    ca_file: CaFile = ""
    command: Annotated[
        list[str],
        AfterValidator(check_program),
        Field(
            description="A program and its arguments. The program gets each alert as JSON on its standard "
            "input, and runs without a shell."
        ),
        Secret,
    ] = []

    mail_to: Annotated[
        MailAddresses, Field(description="E-mail addresses that receive each alert. Empty: no e-mails.")
    ] = []
    mail_from: Annotated[
        str,
        AfterValidator(check_mail_address),
        Field(description="The sender of these e-mails. Empty: the first address in `mail_to`."),
    ] = ""
    mail_relay: Annotated[
        str,
        AfterValidator(check_host),
        Field(
            description="The name or address of the mail relay that sends these e-mails, such as smtp.example.com."
        ),
    ] = ""
    mail_port: Annotated[
        int,
        Field(
            ge=1,
            le=65_535,
            description="The port of the mail relay: usually 587 for starttls, 465 for tls, 25 for none.",
        ),
    ] = 587
    mail_tls: Annotated[
        Literal["starttls", "tls", "none"],
        Field(
            description=(
                "starttls: encrypted after the command STARTTLS; tls: encrypted from the first byte; none: "
                "not encrypted, only for a relay in `allow_networks`."
            )
        ),
    ] = "starttls"
    mail_user: Annotated[str, Field(description="The user name for the mail relay. Empty: no sign-in.")] = ""
    mail_password_file: Annotated[
        str, Field(description="A file with the password of `mail_user` in the first line."), SecretFile
    ] = ""

    @model_validator(mode="after")
    def _has_relay(self) -> "Alerts":
        if self.mail_to and not self.mail_relay:
            raise ValueError("mail_to needs a mail relay: set alerts.mail_relay to its host name")
        if self.mail_user and not self.mail_password_file:
            raise ValueError(
                "mail_user needs a password: set alerts.mail_password_file to the file with the password"
            )
        return self

    @model_validator(mode="after")
    def _is_signed(self) -> "Alerts":
        if self.url and not self.secret_file:
            raise ValueError(
                "url needs a secret that signs the alerts: set alerts.secret_file to the file with the secret"
            )
        return self
