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
        Field(description="Address and port. 0.0.0.0:8480 opens it to the whole LAN, [::]:8480 also over IPv6."),
    ] = "127.0.0.1:8480"
    data: Annotated[
        str, Field(min_length=1, description="The folder that holds everything. Back it up."), OfPath
    ] = "data"
    key_file: Annotated[
        str,
        Field(
            description="A file outside that folder, to seal the keys in it (wmsd key move); empty: keys in clear."
        ),
        SecretFile,
        OfPath,
    ] = ""
    tls: Annotated[
        str,
        AfterValidator(check_tls),
        Field(
            description="off: plain HTTP; lan: an authority of its own, for the LAN; files: `certificate`. "
            "A PEM file with the certificate chain and its private key can be named here too."
        ),
        OfPath,
    ] = "off"
    certificate: Annotated[
        str, Field(description="A PEM file with the certificate chain, for tls = files."), OfPath
    ] = ""
    certificate_key: Annotated[
        str,
        Field(description="A PEM file with its private key; empty: it is in the same file."),
        SecretFile,
        OfPath,
    ] = ""
    hsts: Annotated[
        bool,
        Field(
            description="Have browsers use only https for this host, for a year (HSTS): at every port, so that "
            "plain services of the same host can no longer be reached."
        ),
    ] = False
    time_zone: Annotated[
        str,
        AfterValidator(check_time_zone),
        Field(description="Of pages and days, where a company or person has no other; empty: the machine's."),
    ] = ""
    public_url: Annotated[
        str,
        AfterValidator(check_public_url),
        Field(
            description="The address that people open, such as https://wms.example.com. Links begin with it, and "
            "forms are accepted from it only; empty: the address that each request names."
        ),
    ] = ""
    trusted_proxies: Annotated[
        Networks,
        Field(
            description="Networks of proxies whose X-Forwarded-For, -Proto, -Host, -Port wmsd believes, as CIDR."
        ),
    ] = []
    allow_origins: Annotated[
        list[str],
        AfterValidator(check_origins),
        Field(
            description="Origins whose pages may call the API with a token, as https://shop.example.com; *: all."
        ),
    ] = []
    connections: Annotated[
        int,
        Field(ge=16, le=1_000_000, description="Open connections in all; fewer if the system allows fewer files."),
    ] = 4096
    connections_per_address: Annotated[
        int,
        Field(ge=4, le=1_000_000, description="Open connections from one address, unless it is a trusted proxy."),
    ] = 512

    @model_validator(mode="after")
    def _has_its_certificate(self) -> "Server":
        if self.tls == "files" and not self.certificate:
            raise ValueError("tls = files needs a certificate: name its PEM file in server.certificate")
        if self.tls not in ("files",) and self.certificate:
            raise ValueError("certificate is used with tls = files only")
        return self

    @property
    def has_tls(self) -> bool:
        return self.tls not in ("", "off")

    @property
    def certificate_files(self) -> tuple[Path, Path] | None:
        """The files of the certificate chain and its private key, perhaps the same file; None without files."""
        if not self.has_tls or self.tls == "lan":
            return None
        certificate = self.certificate if self.tls == "files" else self.tls
        return Path(certificate), Path(self.certificate_key or certificate)

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of the installation: the setting, or else the machine's time zone, or else UTC."""
        return time_zone(self.time_zone or machine_time_zone() or UTC_NAME)
