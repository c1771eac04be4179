"""[alerts]: the people and programs that receive alerts, and the channels."""

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
    """Alerts to people when a problem needs them. The guide lists these problems (/docs/monitoring)."""

    url: Annotated[
        str,
        AfterValidator(check_url),
        Field(description="A receiver that is sent each alert, signed as webhooks are; empty: none."),
        Secret,
    ] = ""
    secret_file: Annotated[
        str,
        Field(description="A file with the secret that signs what is sent to `url`, as that of a webhook."),
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
            description="A program and its arguments, which gets each alert as JSON on its standard input; "
            "no shell runs it."
        ),
        Secret,
    ] = []

    mail_to: Annotated[
        MailAddresses, Field(description="E-mail addresses that are sent each alert; empty: none.")
    ] = []
    mail_from: Annotated[
        str,
        AfterValidator(check_mail_address),
        Field(description="The sender of these e-mails; empty: the first of `mail_to`."),
    ] = ""
    mail_relay: Annotated[
        str,
        AfterValidator(check_host),
        Field(description="The mail relay that takes them, by name or address, such as smtp.example.com."),
    ] = ""
    mail_port: Annotated[
        int, Field(ge=1, le=65_535, description="Its port: mostly 587 with starttls, 465 with tls, 25 with none.")
    ] = 587
    mail_tls: Annotated[
        Literal["starttls", "tls", "none"],
        Field(description="starttls, tls from the first byte on, or none: only in `allow_networks`."),
    ] = "starttls"
    mail_user: Annotated[str, Field(description="The user that signs in at the relay; empty: nobody.")] = ""
    mail_password_file: Annotated[
        str, Field(description="A file with the password of that user in its first line."), SecretFile
    ] = ""

    @model_validator(mode="after")
    def _has_relay(self) -> "Alerts":
        if self.mail_to and not self.mail_relay:
            raise ValueError("mail_to needs a mail relay: name its host in alerts.mail_relay")
        if self.mail_user and not self.mail_password_file:
            raise ValueError("mail_user needs a password: name the file that has it in alerts.mail_password_file")
        return self

    @model_validator(mode="after")
    def _is_signed(self) -> "Alerts":
        if self.url and not self.secret_file:
            raise ValueError("url needs a secret that signs what is sent: name its file in alerts.secret_file")
        return self
