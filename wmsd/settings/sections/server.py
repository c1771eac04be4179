"""[server]: the address of the server, its data folder, and its TLS."""

from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, model_validator

from wmsd.base.machine.local_time_zone import machine_time_zone
from wmsd.base.time_zones import UTC_NAME, time_zone
from wmsd.base.time_zones import check_name as check_time_zone
from wmsd.contract.secret_fields import OfPath, SecretFile
from wmsd.settings.sections.fields import (
    Networks,
    Section,
    check_listen,
    check_origins,
    check_tls,
)
from wmsd.settings.sections.public_url import check_public_url


class Server(Section):
    """The address of the server, its data folder, its TLS, and its limits for connections."""

    listen: Annotated[
        str,
        AfterValidator(check_listen),
        Field(
            description="The address and port of the service. 0.0.0.0:8480 opens the service to the whole "
            "LAN, [::]:8480 also over IPv6."
        ),
    ] = "127.0.0.1:8480"
    data: Annotated[str, Field(min_length=1, description="The folder with all data. Back it up."), OfPath] = "data"
    key_file: Annotated[
        str,
        Field(
            description=(
                "The path of the key file. The secret in the key file encrypts the keys in the data "
                "folder, so the key file must be outside the data folder. wmsd key move creates the key "
                "file. Empty: the keys are not encrypted."
            )
        ),
        SecretFile,
        OfPath,
    ] = ""
    tls: Annotated[
        str,
        AfterValidator(check_tls),
        Field(
            description=(
                "off: plain HTTP; lan: a certificate for the LAN from wmsd's own authority; files: the files "
                "in `certificate` and `certificate_key`. Any other value is the path of a PEM file with the "
                "certificate chain and the private key."
            )
        ),
        OfPath,
    ] = "off"
    certificate: Annotated[
        str, Field(description="A PEM file with the certificate chain, for tls = files."), OfPath
    ] = ""
    certificate_key: Annotated[
        str,
        Field(description="A PEM file with the private key. Empty: the key is in the file of `certificate`."),
        SecretFile,
        OfPath,
    ] = ""
    hsts: Annotated[
        bool,
        Field(
            description="Make browsers use only https for this host for a year (HSTS), at every port. "
            "Browsers then cannot open http services on the same host."
        ),
    ] = False
    time_zone: Annotated[
        str,
        AfterValidator(check_time_zone),
        Field(
            description=(
                "The time zone for pages, documents and due dates, unless the company or the user has "
                "another one. Empty: the time zone of the server's machine."
            )
        ),
    ] = ""
    public_url: Annotated[
        str,
        AfterValidator(check_public_url),
        Field(
            description="The address that people open, such as https://wms.example.com. Links begin with "
            "this address, and wmsd accepts forms only from it. Empty: the address of each "
            "request."
        ),
    ] = ""
    trusted_proxies: Annotated[
        Networks,
        Field(
            description=(
                "Networks of trusted proxies, such as 10.0.0.0/8. wmsd uses the headers "
                "X-Forwarded-For, -Proto, -Host and -Port of these proxies."
            )
        ),
    ] = []
    allow_origins: Annotated[
        list[str],
        AfterValidator(check_origins),
        Field(
            description="Origins whose pages may call the API with a token, such as "
            "https://shop.example.com. *: all origins."
        ),
    ] = []
    connections: Annotated[
        int,
        Field(
            ge=16,
            le=1_000_000,
            description="Maximum number of open connections; fewer if the system allows fewer open files.",
        ),
    ] = 4096
    connections_per_address: Annotated[
        int,
        Field(
            ge=4,
            le=1_000_000,
            description="Maximum number of open connections from one address, unless "
            "the address is a trusted proxy.",
        ),
    ] = 512

    @model_validator(mode="after")
    def _has_its_certificate(self) -> "Server":
        if self.tls == "files" and not self.certificate:
            raise ValueError("tls = files needs a certificate: set server.certificate to its PEM file")
        if self.tls not in ("files",) and self.certificate:
            raise ValueError(
                "certificate works only with tls = files: set server.tls to files, or remove server.certificate"
            )
        return self

    @property
    def has_tls(self) -> bool:
        return self.tls not in ("", "off")

    @property
    def certificate_files(self) -> tuple[Path, Path] | None:
        """The file of the certificate chain and the file of its private key, which may be the same file. None if
        TLS is off, or if the setting `tls` is `lan`.
        """
        if not self.has_tls or self.tls == "lan":
            return None
        certificate = self.certificate if self.tls == "files" else self.tls
        return Path(certificate), Path(self.certificate_key or certificate)

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of the installation. It comes from the setting, or else from the machine, or else it is
        UTC.
        """
        return time_zone(self.time_zone or machine_time_zone() or UTC_NAME)
