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
        raise ValueError('must be a list that includes "openid" and has scope names without spaces')
    return values


def _abilities(values: list[str]) -> list[str]:
    for value in values:
        if value not in ABILITIES and value not in SETS:
            raise ValueError(
                f"contains {value!r}, which is not an ability. Use one of the abilities "
                f"{', '.join(ABILITIES)}, or one of the ability sets {', '.join(SETS)}"
            )
    return values


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)  # built with the settings


class Rule(Table):
    """Rights for people whose claim has this value. If several rules match, the first of them decides."""

    claim: Annotated[
        str,
        Field(
            min_length=1,
            max_length=200,
            description="The name of the claim. A dot leads into an object, as in realm_access.roles.",
            examples=["groups"],
        ),
    ]
    value: Annotated[
        str,
        Field(
            min_length=1,
            max_length=500,
            description="The value of the claim, or one of its values.",
            examples=["wms-acme"],
        ),
    ]
    role: Annotated[Role, Field(description="platform-admin, company-admin or member.")] = "member"
    companies: Annotated[
        list[str],
        Field(
            max_length=1000,
            description="The codes of the companies that these people may use.",
            examples=[["ACME"]],
        ),
    ] = []
    abilities: Annotated[
        list[str],
        AfterValidator(_abilities),
        Field(
            description="What members may do in these companies: abilities, and sets such as office. Empty: "
            "read-only access.",
            examples=[["office"]],
        ),
    ] = []

    @property
    def granted(self) -> list[str]:
        """The abilities of the rule. Names of ability sets are replaced by the abilities in the set."""
        return with_sets(self.abilities)

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.role != "member" and self.abilities:
            raise ValueError(
                "has abilities, but only the role member needs abilities: remove them, or set the role member"
            )
        if self.role == "platform-admin" and self.companies:
            raise ValueError(
                "lists companies, but a platform-admin may use every company: remove `companies` from this rule"
            )
        return self


class Provider(Table):
    """A provider that people sign in through."""

    name: Annotated[
        str,
        AfterValidator(_name),
        Field(description="The name of the provider in URLs: /sign-in/NAME/back.", examples=["company"]),
    ]
    title: Annotated[
        str, Field(max_length=60, description="The name on the sign-in button. Empty: the value of `name`.")
    ] = ""
    issuer: Annotated[
        str,
        AfterValidator(_issuer),
        Field(
            description="The issuer, exactly as in the metadata of the provider.",
            examples=["https://login.example.com/realms/main"],
        ),
    ]
    client_id: Annotated[
        str,
        Field(
            min_length=1, max_length=500, description="The client id of wmsd at the provider.", examples=["wmsd"]
        ),
    ]
    client_secret: Annotated[
        str,
        Field(
            max_length=1000,
            description="The client secret. Empty: there is no secret, or it is in `client_secret_file`.",
        ),
        Secret,
    ] = ""
    client_secret_file: Annotated[str, Field(description="A file with the client secret."), SecretFile, OfPath] = (
        ""
    )
    scopes: Annotated[
        list[str], AfterValidator(_scopes), Field(description="The scopes that wmsd requests, including openid.")
    ] = ["openid", "email", "profile"]
    email_claim: Annotated[
        str, Field(min_length=1, max_length=200, description="The claim with the e-mail address.")
    ] = "email"
    name_claim: Annotated[
        str, Field(min_length=1, max_length=200, description="The claim with the person's name.")
    ] = "name"
    trust_email: Annotated[
        bool, Field(description="Trust e-mail addresses that the provider does not mark as verified.")
    ] = False
    create_users: Annotated[bool, Field(description="Create a user for a new person if a rule fits.")] = False
    follow_rules: Annotated[
        bool, Field(description="Set role, companies and abilities by the rules at every sign-in.")
    ] = False
    rules: Annotated[
        list[Rule],
        Field(max_length=MOST_RULES, description="The rules that give rights to people by their claims."),
    ] = []

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if (self.create_users or self.follow_rules) and not self.rules:
            raise ValueError(
                "has no rules, but create_users and follow_rules need rules: add a rule, or switch off both "
                "settings"
            )
        if self.rules and not (self.create_users or self.follow_rules):
            raise ValueError("has rules that are not used: set create_users or follow_rules")
        if self.client_secret and self.client_secret_file:
            raise ValueError("has both client_secret and client_secret_file: keep only one of them")
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
            raise ValueError(f"contains two providers with the name {name}")
    return providers
