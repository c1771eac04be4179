"""The building blocks of setting declarations: sections, types of values, and marks."""

import ipaddress
import re
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SkipValidation

from wmsd.contract.secret_fields import OfPath
from wmsd.http_client import ports

MEGABYTE: Final = 1_000_000
ORIGIN: Final = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?|https?://\[[0-9a-f:]+\](:[0-9]{1,5})?", re.ASCII)
URL: Final = re.compile(r"https?://[^\s#@]{1,2000}", re.ASCII)
PROXY: Final = re.compile(r"http://([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}", re.ASCII)
TIME_OF_DAY: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]", re.ASCII)

MAIL_ADDRESS: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}", re.ASCII)
"""An e-mail address as browsers accept it: https://html.spec.whatwg.org/#valid-e-mail-address"""
HOST: Final = re.compile(r"[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:]{2,45}", re.ASCII)

TLS: Final = ("off", "lan", "files")


class SettingsError(Exception):
    """The error for a wrong setting. Its message names the setting and its source, and says what to write
    instead.
    """


def check_listen(value: str) -> str:
    host, separator, port = value.rpartition(":")
    if not separator or not host or not port.isdigit() or int(port) > 65_535:
        raise ValueError("must be HOST:PORT, such as 127.0.0.1:8480, with a port up to 65535")
    return value


def check_own_listen(value: str) -> str:
    return check_listen(value) if value else value


def check_tls(value: str) -> str:
    """Return `value`, the value of the setting `tls`: `off`, `lan`, `files`, or a path. Raise ValueError if it
    consists only of letters, but is none of these words.
    """
    if value.isalpha() and value not in TLS:
        raise ValueError("must be off, lan or files")
    return value


def check_networks(values: list[str]) -> list[str]:
    for value in values:
        try:
            ipaddress.ip_network(value)
        except ValueError as error:
            raise ValueError(f"contains {value!r}, which is not a network: {error}") from None
    return values


def check_origins(values: list[str]) -> list[str]:
    for value in values:
        if value != "*" and not ORIGIN.fullmatch(value):
            raise ValueError(f"contains {value!r}, which is not an origin such as https://shop.example.com")
    return values


def check_ports(values: list[int | str]) -> list[int | str]:
    try:
        ports.parsed(values)
    except ValueError as error:
        raise ValueError(f"contains {error}") from None
    return values


def check_url(value: str) -> str:
    if value and not URL.fullmatch(value):
        raise ValueError("must be a URL such as https://alerts.example.com/wmsd")
    return value


def check_proxy(value: str) -> str:
    if value and not PROXY.fullmatch(value):
        raise ValueError("must be http://HOST:PORT, such as http://proxy.example.com:3128, without a password")
    return value


def check_program(values: list[str]) -> list[str]:
    if any("\0" in value for value in values) or (values and not values[0]):
        raise ValueError('must begin with a program, such as ["/usr/local/bin/tell-admins", "--urgent"]')
    return values


def check_time_of_day(value: str) -> str:
    if not TIME_OF_DAY.fullmatch(value):
        raise ValueError("must be a time of day, such as 02:30")
    return value


def check_mail_address(value: str) -> str:
    if value and not MAIL_ADDRESS.fullmatch(value):
        raise ValueError(f"contains {value!r}, which is not an e-mail address such as admin@example.com")
    return value


def check_mail_addresses(values: list[str]) -> list[str]:
    for value in values:
        check_mail_address(value or " ")
    return values


def check_host(value: str) -> str:
    if value and not HOST.fullmatch(value):
        raise ValueError("must be the name or the address of a host, without a port, such as smtp.example.com")
    return value


MailAddresses = Annotated[list[str], AfterValidator(check_mail_addresses)]
Networks = Annotated[list[str], AfterValidator(check_networks)]
Ports = Annotated[
    list[Annotated[int | str, SkipValidation]],  # unchecked here, so that one sentence covers all errors
    AfterValidator(check_ports),
]
AllowHttp = Annotated[bool, Field(description="Allow plain http to the networks in `allow_networks`.")]
CaFile = Annotated[
    str,
    Field(description="A PEM file with private certificate authorities to trust in addition to the public ones."),
    OfPath,
]
PerMinute = Annotated[int, Field(ge=1, le=1_000_000_000)]
Kept = Annotated[int, Field(ge=0, le=10_000)]
Days = Annotated[int, Field(ge=1, le=36_500)]


class ReadEachTime:
    """A mark for a setting that is read again for each backup. Changes of settings without this mark take effect
    after a restart.
    """


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
