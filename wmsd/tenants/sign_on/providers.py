"""The settings of a provider: how to connect to it, and who may sign in."""

import re
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_serializer, model_validator

from wmsd.contract.access import ABILITIES, SETS, Role, with_sets
from wmsd.contract.secret_fields import OfPath, Secret, SecretFile

NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,31}", re.ASCII)
ISSUER: Final = re.compile(r"https?://[^\s?#@]{1,500}", re.ASCII)
SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+", re.ASCII)
NOT_SHOWN: Final = "(not shown)"
MOST_RULES: Final = 500


def _name(value: str) -> str:
    if not NAME.fullmatch(value):
        raise ValueError("must have 1 to 32 lower-case letters, digits and hyphens, such as company-account")
    return value


def _issuer(value: str) -> str:
    if not ISSUER.fullmatch(value):
        raise ValueError("must be a URL without ? and #, such as https://login.example.com/realms/main")
    return value


def _scopes(values: list[str]) -> list[str]:
    if "openid" not in values or not all(SCOPE.fullmatch(value) for value in values):
        raise ValueError('must hold "openid", and only names of scopes')
    return values


def _abilities(values: list[str]) -> list[str]:
    for value in values:
        if value not in ABILITIES and value not in SETS:
            raise ValueError(
                f"holds {value!r}; the abilities are {', '.join(ABILITIES)}, and the sets {', '.join(SETS)}"
            )
    return values


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)  # built with the settings


class Rule(Table):
    """The rights of people whose claim has a value. The first rule that fits decides."""

    claim: Annotated[
        str,
        Field(
            min_length=1,
            max_length=200,
            description="The claim; a dot leads into an object, as in realm_access.roles.",
            examples=["groups"],
        ),
    ]
    value: Annotated[
        str,
        Field(
            min_length=1,
            max_length=500,
            description="Its value, or one of its values.",
            examples=["wms-acme"],
        ),
    ]
    role: Annotated[Role, Field(description="platform-admin, company-admin or member.")] = "member"
    companies: Annotated[
        list[str],
        Field(max_length=1000, description="The codes of the companies that they may use.", examples=[["ACME"]]),
    ] = []
    abilities: Annotated[
        list[str],
        AfterValidator(_abilities),
        Field(
            description="What members may do there: abilities, and sets such as office; empty: read everything.",
            examples=[["office"]],
        ),
    ] = []

    @property
    def granted(self) -> list[str]:
        """The abilities of the rule, with each set replaced by its abilities."""
        return with_sets(self.abilities)

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.role != "member" and self.abilities:
            raise ValueError("names abilities, which only members have: the other roles may do everything")
        if self.role == "platform-admin" and self.companies:
            raise ValueError("names companies, and a platform-admin may use every company")
        return self


class Provider(Table):
    """A provider that people sign in through."""

    name: Annotated[
        str,
        AfterValidator(_name),
        Field(description="Its name in addresses: /sign-in/NAME/back.", examples=["company"]),
    ]
    title: Annotated[str, Field(max_length=60, description="Its name on the button; empty: the name.")] = ""
    issuer: Annotated[
        str,
        AfterValidator(_issuer),
        Field(
            description="Its issuer, exactly as its metadata names it.",
            examples=["https://login.example.com/realms/main"],
        ),
    ]
    client_id: Annotated[
        str,
        Field(min_length=1, max_length=500, description="As what wmsd is known there.", examples=["wmsd"]),
    ]
    client_secret: Annotated[
        str,
        Field(max_length=1000, description="The secret of the client; empty: it has none, or is in the file."),
        Secret,
    ] = ""
    client_secret_file: Annotated[
        str, Field(description="A file with the secret of the client."), SecretFile, OfPath
    ] = ""
    scopes: Annotated[
        list[str], AfterValidator(_scopes), Field(description="What it is asked for; openid among it.")
    ] = ["openid", "email", "profile"]
    email_claim: Annotated[str, Field(min_length=1, max_length=200, description="The e-mail address.")] = "email"
    name_claim: Annotated[str, Field(min_length=1, max_length=200, description="The person's name.")] = "name"
    trust_email: Annotated[bool, Field(description="Believe e-mail addresses that it does not call verified.")] = (
        False
    )
    create_users: Annotated[bool, Field(description="Make a user of whoever is new and whom a rule fits.")] = False
    follow_rules: Annotated[
        bool, Field(description="Set role, companies and abilities by the rules at every sign-on.")
    ] = False
    rules: Annotated[list[Rule], Field(max_length=MOST_RULES, description="What people get by their claims.")] = []

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if (self.create_users or self.follow_rules) and not self.rules:
            raise ValueError("has no rules, which create_users and follow_rules need")
        if self.rules and not (self.create_users or self.follow_rules):
            raise ValueError("has rules that nothing uses: set create_users or follow_rules")
        if self.client_secret and self.client_secret_file:
            raise ValueError("has both client_secret and client_secret_file: give one of them")
        return self

    @field_serializer("client_secret")
    def _hidden(self, value: str) -> str:
        return NOT_SHOWN if value else ""

    @property
    def called(self) -> str:
        """The display name of the provider."""
        return self.title or self.name


def check_providers(providers: list[Provider]) -> list[Provider]:
    """Return the providers. Raise ValueError if two have the same name."""
    names = [provider.name for provider in providers]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"holds two with the name {name}")
    return providers
