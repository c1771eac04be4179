"""Every setting, with its default, its check and its comment.

A flag overrides the environment (`WMSD_SECTION_KEY`), the environment overrides the TOML file, and that overrides
the default. `config.example.toml` is made from these declarations, and a test compares them.
"""

import difflib
import ipaddress
import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import time, timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SkipValidation, ValidationError, model_validator
from pydantic.fields import FieldInfo

from wmsd.accounts.sessions import Lifetimes
from wmsd.app.backups.schedule import Keep
from wmsd.base.memory import machine_memory
from wmsd.base.validation import field_errors
from wmsd.sign_on.providers import Provider, check_providers
from wmsd.webhooks import ports

MEGABYTE: Final = 1_000_000
LEAST_MEMORY: Final = 32 * MEGABYTE
MOST_MEMORY: Final = 1024 * MEGABYTE

ENVIRONMENT = "WMSD_"
ORIGIN: Final = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?|https?://\[[0-9a-f:]+\](:[0-9]{1,5})?", re.ASCII)
TIME_OF_DAY: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]", re.ASCII)
NOT_SETTINGS = frozenset({"WMSD_CONFIG"})


class SettingsError(Exception):
    """A setting is wrong. The message names it, says where it came from, and what to write instead."""


def _listen(value: str) -> str:
    host, separator, port = value.rpartition(":")
    if not separator or not host or not port.isdigit() or int(port) > 65_535:
        raise ValueError("must be HOST:PORT, such as 127.0.0.1:8480 or 0.0.0.0:8480")
    return value


def _own_listen(value: str) -> str:
    return _listen(value) if value else value


def _networks(values: list[str]) -> list[str]:
    for value in values:
        try:
            ipaddress.ip_network(value)
        except ValueError as error:
            raise ValueError(f"holds {value!r}, which is not a network: {error}") from None
    return values


def _origins(values: list[str]) -> list[str]:
    for value in values:
        if value != "*" and not ORIGIN.fullmatch(value):
            raise ValueError(f"holds {value!r}, which is no origin such as https://shop.example.com")
    return values


def _ports(values: list[int | str]) -> list[int | str]:
    try:
        ports.parsed(values)
    except ValueError as error:
        raise ValueError(f"holds {error}") from None
    return values


def _time_of_day(value: str) -> str:
    if not TIME_OF_DAY.fullmatch(value):
        raise ValueError("must be a time of day, such as 02:30")
    return value


Networks = Annotated[list[str], AfterValidator(_networks)]
PerMinute = Annotated[int, Field(ge=1, le=1_000_000_000)]
Kept = Annotated[int, Field(ge=0, le=10_000)]
Days = Annotated[int, Field(ge=1, le=36_500)]


class ReadEachTime:
    """Marks a setting that the work on backups reads anew each time; all others count after a restart."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Server(Section):
    """Where the service listens and keeps its data."""

    listen: Annotated[
        str,
        AfterValidator(_listen),
        Field(description="Address and port. 0.0.0.0:8480 opens it to the whole LAN."),
    ] = "127.0.0.1:8480"
    data: Annotated[str, Field(min_length=1, description="The folder that holds everything. Back it up.")] = "data"
    key_file: Annotated[
        str,
        Field(
            description="A file outside that folder, to seal the keys in it (wmsd key move); empty: keys in clear."
        ),
    ] = ""
    tls: Annotated[
        str,
        Field(
            description="off: plain HTTP; lan: an authority of its own, for the LAN; files: `certificate`. "
            "A PEM file with the certificate chain and its private key can be named here too."
        ),
    ] = "off"
    certificate: Annotated[str, Field(description="A PEM file with the certificate chain, for tls = files.")] = ""
    certificate_key: Annotated[
        str, Field(description="A PEM file with its private key; empty: it is in the same file.")
    ] = ""
    trusted_proxies: Annotated[
        Networks, Field(description="Networks of proxies whose X-Forwarded-For wmsd believes, as CIDR.")
    ] = []
    allow_origins: Annotated[
        list[str],
        AfterValidator(_origins),
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
        """The certificate chain and its private key, which may be one file; None without files."""
        if not self.has_tls or self.tls == "lan":
            return None
        certificate = self.certificate if self.tls == "files" else self.tls
        return Path(certificate), Path(self.certificate_key or certificate)


class Limits(Section):
    """Requests per minute, in a sliding window. A company can have limits of its own."""

    data_per_minute: Annotated[PerMinute, Field(description="Data requests of a company.")] = 60
    sandbox_per_minute: Annotated[PerMinute, Field(description="Data requests of a sandbox company.")] = 12
    graphql_per_minute: Annotated[PerMinute, Field(description="GraphQL requests of a company.")] = 30
    pages_per_minute: Annotated[PerMinute, Field(description="What one browser asks for at the pages.")] = 600
    auth_per_minute: Annotated[PerMinute, Field(description="Sign-ins from one address.")] = 10
    refused_per_minute: Annotated[
        PerMinute, Field(description="Requests without a valid token or access, from one address.")
    ] = 120
    open_per_minute: Annotated[
        PerMinute,
        Field(description="Requests that need no token, from one address: the guide, descriptions, health."),
    ] = 120


class Storage(Section):
    """How much companies may store, and how many of their files stay open."""

    quota_megabytes: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000_000,
            description="Largest file of a company that has no quota of its own; 0: as the disk allows.",
        ),
    ] = 0
    memory_megabytes: Annotated[
        int,
        Field(
            ge=0,
            le=1_000_000,
            description="Memory for the companies' open files and their caches: it decides how many stay open; "
            "0: an eighth of the machine's, from 32 to 1 024.",
        ),
    ] = 0

    @property
    def memory(self) -> int:
        """The memory in bytes."""
        own = min(max(machine_memory() // 8, LEAST_MEMORY), MOST_MEMORY)
        return self.memory_megabytes * MEGABYTE or own


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


class Requests(Section):
    """The last requests of each company, which the pages show to those who connect to it."""

    keep: Annotated[bool, Field(description="Keep them, with their bodies. Secrets in them are never kept.")] = (
        True
    )
    megabytes: Annotated[
        int, Field(ge=1, le=100_000, description="How large their files may be, those of all companies together.")
    ] = 50
    days: Annotated[int, Field(ge=1, le=365, description="How many days they are kept.")] = 7


class Imports(Section):
    """Files that people upload at the pages."""

    megabytes: Annotated[int, Field(ge=1, le=2000, description="How large an uploaded file may be.")] = 100


class Webhooks(Section):
    """Where webhooks may be sent, beside the public internet over https."""

    allow_networks: Annotated[
        Networks, Field(description="Private networks that receivers may be in, as CIDR.")
    ] = []
    allow_ports: Annotated[
        list[Annotated[int | str, SkipValidation]],  # so that one sentence covers all errors
        AfterValidator(_ports),
        Field(
            description='Ports that receivers in these networks may have: 8443, or a range such as "8000-8999".'
        ),
    ] = list(ports.WEB)
    allow_http: Annotated[bool, Field(description="Allow http: to these networks.")] = False
    ca_file: Annotated[
        str,
        Field(description="A PEM file of private certificate authorities to trust beside the public ones."),
    ] = ""
    keep_answers: Annotated[
        bool,
        Field(description="Keep the first 2 kB of each receiver's answer in the delivery log."),
    ] = True


class SignOn(Section):
    """People who sign in through an OpenID provider; the guide says how (/docs/sign-on)."""

    allow_networks: Annotated[
        Networks, Field(description="Private networks that providers may be in, as CIDR.")
    ] = []
    allow_ports: Annotated[
        list[Annotated[int | str, SkipValidation]],  # as for webhooks
        AfterValidator(_ports),
        Field(
            description='Ports that providers in these networks may have: 8443, or a range such as "8000-8999".'
        ),
    ] = list(ports.WEB)
    allow_http: Annotated[bool, Field(description="Allow http: to these networks.")] = False
    ca_file: Annotated[
        str,
        Field(description="A PEM file of private certificate authorities to trust beside the public ones."),
    ] = ""
    providers: Annotated[
        list[Provider],
        AfterValidator(check_providers),
        Field(description="The providers: a table for each."),
    ] = []


class Backup(Section):
    """Backups, their schedule, and which are kept."""

    folder: Annotated[
        str, Field(min_length=1, description="The folder for them: best on another disk than the data.")
    ] = "backups"
    every: Annotated[
        Literal["never", "hour", "day"], Field(description="How often the server makes one: never, hour or day.")
    ] = "day"
    at: Annotated[
        str,
        AfterValidator(_time_of_day),
        Field(description="When the day's backup is made, and the newest one proven: HH:MM, by the box's clock."),
    ] = "02:30"
    keep_hourly: Annotated[Kept, Field(description="Of how many hours the last backup is kept."), ReadEachTime] = (
        24
    )
    keep_daily: Annotated[Kept, Field(description="Of how many days."), ReadEachTime] = 7
    keep_weekly: Annotated[Kept, Field(description="Of how many weeks."), ReadEachTime] = 4
    passphrase_file: Annotated[
        str,
        Field(description="A file with a passphrase for the keys in them; empty: the keys are left out."),
        ReadEachTime,
    ] = ""
    after: Annotated[
        str,
        Field(description="A command to run after each, such as a copy to elsewhere; $ARCHIVE is its path."),
        ReadEachTime,
    ] = ""

    @property
    def time(self) -> time:
        """`at`."""
        return time.fromisoformat(self.at)

    @property
    def keep(self) -> Keep:
        return Keep(self.keep_hourly, self.keep_daily, self.keep_weekly)


class Replica(Section):
    """Continuous replication, by a Litestream that runs beside the server."""

    enabled: Annotated[
        bool,
        Field(description="Whether it runs: the server's files are then open to other programs of this machine."),
    ] = False


class Returns(Section):
    """Returns."""

    require_write_ability: Annotated[
        bool,
        Field(description="Creating and changing returns needs returns:write; if false, returns:read is enough."),
    ] = False


class Metrics(Section):
    """Figures of the running server for Prometheus, at /metrics; the guide lists them (/docs/monitoring)."""

    listen: Annotated[
        str,
        AfterValidator(_own_listen),
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
    ] = ""


class Log(Section):
    """What the service logs, on standard error or in a file."""

    format: Annotated[Literal["human", "json"], Field(description="human, or json: one object in each line.")] = (
        "human"
    )
    level: Annotated[
        Literal["debug", "info", "warning", "error"], Field(description="debug, info, warning or error.")
    ] = "info"
    requests: Annotated[
        bool, Field(description="A line for every request; in a flood, for only some of the refused requests.")
    ] = True
    file: Annotated[str, Field(description="The file to write the log to; empty: standard error.")] = ""
    file_megabytes: Annotated[
        int,
        Field(ge=1, le=100_000, description="When the file reaches this size, it is renamed and a new one begun."),
    ] = 10
    files: Annotated[
        int, Field(ge=2, le=1000, description="How many log files are kept, with the one being written.")
    ] = 5


class Settings(Section):
    server: Server = Server()
    limits: Limits = Limits()
    storage: Storage = Storage()
    tokens: Tokens = Tokens()
    sessions: Sessions = Sessions()
    sign_on: SignOn = SignOn()
    requests: Requests = Requests()
    imports: Imports = Imports()
    webhooks: Webhooks = Webhooks()
    backup: Backup = Backup()
    replica: Replica = Replica()
    returns: Returns = Returns()
    metrics: Metrics = Metrics()
    log: Log = Log()


Values = dict[str, dict[str, Any]]


class Layer(NamedTuple):
    """What one source sets. `text` is that of a file."""

    kind: Literal["file", "environment", "command line"]
    name: str
    values: Values
    text: str = ""


def load(
    file: Path | None = None,
    flags: Mapping[tuple[str, str], str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings from file, environment and flags. Raises SettingsError when one is not valid."""
    return settings_of(layers_of(file, flags, environment))


def layers_of(
    file: Path | None = None,
    flags: Mapping[tuple[str, str], str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[Layer]:
    """What file, environment and flags set: each layer overrides those before. Raises SettingsError."""
    environment = os.environ if environment is None else environment
    given: Values = {}
    for (section, key), value in (flags or {}).items():
        given.setdefault(section, {})[key] = value
    return [
        *([] if file is None else [_read(file)]),
        Layer("environment", "the environment", _from_environment(environment)),
        Layer("command line", "the command line", given),
    ]


def settings_of(layers: Iterable[Layer]) -> Settings:
    """Raises SettingsError when one is not valid."""
    merged: Values = {}
    for layer in layers:
        _check(layer.name, layer.values, has_types=layer.kind == "file")
        for section, keys in layer.values.items():
            merged.setdefault(section, {}).update(keys)
    settings = Settings.model_validate(merged)
    _check_together(settings)
    return settings


def _read(file: Path) -> Layer:
    try:
        text = file.read_text(encoding="utf-8-sig")
        return Layer("file", str(file), tomllib.loads(text), text)
    except FileNotFoundError:
        raise SettingsError(f"{file}: there is no such file.") from None
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{file}: this is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file}: {error}.") from None


def _from_environment(environment: Mapping[str, str]) -> Values:
    values: Values = {}
    known = {f"{ENVIRONMENT}{section}_{key}".upper(): (section, key) for section, key, _ in declared()}
    for name, text in environment.items():
        if not name.startswith(ENVIRONMENT) or name in NOT_SETTINGS:
            continue
        if name not in known:
            raise SettingsError(f"the environment: {name} is not a setting{_nearest(name, known)}")
        section, key = known[name]
        if _table_of(_section(section).model_fields[key]) is not None:
            raise SettingsError(f"the environment: {name} holds tables, which only the configuration file can.")
        is_list = get_origin(_section(section).model_fields[key].annotation) is list
        values.setdefault(section, {})[key] = (
            [part.strip() for part in text.split(",") if part.strip()] if is_list else text
        )
    return values


def _check(source: str, values: Values, has_types: bool) -> None:
    """Checks one source. `has_types`: it tells numbers from texts, which the environment and flags do not."""
    names = [f"{section}.{key}" for section, key, _ in declared()]
    for section, keys in values.items():
        if not isinstance(keys, dict):
            raise SettingsError(f"{source}: {section} stands in no section{_nearest(section, names)}")
        if section not in Settings.model_fields:
            nearest = _nearest(section, Settings.model_fields)
            raise SettingsError(f"{source}: [{section}] is not a section{nearest}")
        for key in keys:
            if f"{section}.{key}" not in names:
                nearest = _nearest(f"{section}.{key}", names)
                raise SettingsError(f"{source}: {section}.{key} is not a setting{nearest}")
    try:
        Settings.model_validate(values, strict=has_types)
    except ValidationError as error:
        sentences = [
            f"{source}: {path} {text.removeprefix('Value error, ')}."
            for path, texts in field_errors(error).items()
            for text in texts
        ]
        raise SettingsError("\n".join(sentences)) from None


def _check_together(settings: Settings) -> None:
    """Checks settings that depend on each other, and may come from different sources."""
    tokens = settings.tokens
    if tokens.lifetime_days > tokens.most_days:
        raise SettingsError(
            f"tokens.lifetime_days is {tokens.lifetime_days}, and tokens.most_days only {tokens.most_days}. "
            f"Set tokens.lifetime_days to {tokens.most_days} or less."
        )


def _nearest(name: str, known: Iterable[str]) -> str:
    """The end of the sentence that refuses `name`: a similar name, if there is one."""
    names = {one.lower(): one for one in known}
    found = difflib.get_close_matches(name.lower(), list(names), n=1, cutoff=0.4)
    return f"; did you mean {names[found[0]]}?" if found else "."


def declared() -> list[tuple[str, str, Any]]:
    """Every setting as section, key and default."""
    return [
        (section, key, field.default)
        for section in Settings.model_fields
        for key, field in _section(section).model_fields.items()
    ]


def sections() -> dict[str, type[Section]]:
    """The declaration of each section, by its name."""
    return {name: _section(name) for name in Settings.model_fields}


def _section(name: str) -> type[Section]:
    section: Section = Settings.model_fields[name].default
    return type(section)


def example() -> str:
    """The text of `config.example.toml`: every key with its comment and default."""
    lines = [
        "# Settings of wmsd. Every key is here with its default; remove the `#` of those that you change.",
        "# A flag overrides the environment (WMSD_SERVER_LISTEN=…), and the environment overrides this file.",
    ]
    for section in Settings.model_fields:
        model = _section(section)
        lines += ["", f"# {model.__doc__}", f"[{section}]"]
        for key, field in model.model_fields.items():
            lines += [f"# {field.description}", f"# {key} = {as_written(field.default)}"]
            if (table := _table_of(field)) is not None:
                lines += ["#", *_example_table(f"{section}.{key}", table)]
    return "\n".join(lines) + "\n"


def _table_of(field: FieldInfo) -> type[BaseModel] | None:
    """What its members are, if it is a list of tables."""
    members = get_args(field.annotation) if get_origin(field.annotation) is list else ()
    return members[0] if members and isinstance(members[0], type) and issubclass(members[0], BaseModel) else None


def _example_table(name: str, table: type[BaseModel]) -> list[str]:
    """A table with all that can stand in it. The `#   ` keeps it apart from settings with their defaults."""
    lines = [f"#   # {table.__doc__}", f"#   [[{name}]]"]
    inner: list[str] = []
    for key, field in table.model_fields.items():
        if (members := _table_of(field)) is not None:
            inner += ["#", *_example_table(f"{name}.{key}", members)]
            continue
        value = field.examples[0] if field.examples else field.default
        lines.append(f"#   {key} = {as_written(value)}  # {field.description}")
    return lines + inner


def toml(value: Any) -> str:
    """A value as the configuration file writes it; tables in a list in one line."""
    if isinstance(value, list) and value and _are_tables(value):
        return json.dumps(value, ensure_ascii=False)
    return as_written(value)


def as_written(value: Any) -> str:
    """A value as it stands in the configuration file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(as_written(member) for member in value)}]"
    return str(value) if isinstance(value, int) else json.dumps(value, ensure_ascii=False)


def as_toml(settings: Settings) -> str:
    """The settings in force, as a TOML file."""
    lines: list[str] = []
    for section, keys in settings.model_dump().items():
        lines += _as_table(section, keys)
    return "\n".join(lines)


def _as_table(name: str, keys: Mapping[str, Any], brackets: str = "[{}]") -> list[str]:
    """Its values, and then the tables in it."""
    tables = {
        key: value for key, value in keys.items() if value and isinstance(value, list) and _are_tables(value)
    }
    values = [f"{key} = {as_written(value)}" for key, value in keys.items() if key not in tables]
    lines = [brackets.format(name), *values, ""]
    for key, members in tables.items():
        for member in members:
            lines += _as_table(f"{name}.{key}", member, "[[{}]]")
    return lines


def _are_tables(values: list[Any]) -> bool:
    return all(isinstance(value, dict) for value in values)
