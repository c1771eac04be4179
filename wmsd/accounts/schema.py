"""Users and tokens: what goes in and what comes out."""

from typing import Annotated, Literal

from pydantic import Field

from wmsd.accounts.strength import LONGEST
from wmsd.base.access import ABILITIES, EVERYTHING, Role
from wmsd.base.fields import Email, Id, Input, Model, Name, Timestamp, choice
from wmsd.companies.schema import CompanyShown

Password = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Ability = Annotated[str, choice("Ability", [EVERYTHING, *ABILITIES])]
AbilityNames = Annotated[list[Ability], Field(min_length=1, max_length=50)]


class SignIn(Input):
    email: Annotated[str, Field(max_length=254)]
    password: Password
    abilities: Annotated[AbilityNames, Field(description="What the token may do: no more than its user.")]
    device_name: Name = "API"


class IssuedToken(Model):
    """A new token. It is shown only this once."""

    token: str
    abilities: list[Ability]


class SignInToPages(Input):
    email: Annotated[str, Field(min_length=1, max_length=254)]
    password: Password


class BegunSession(Model):
    """The secret of a session, for the browser's cookie; or, before the second step, what is sent with it."""

    secret: str | None
    pending: str | None


OneTimeCode = Annotated[str, Field(min_length=1, max_length=40)]


class SecondStep(Input):
    pending: Annotated[str, Field(max_length=200)]
    code: Annotated[OneTimeCode, Field(description="Of the app, or a recovery code.")]


class OneCode(Input):
    code: OneTimeCode


class Enrolment(Model):
    """The secret for an authenticator app, in base32 and as a link."""

    secret: str
    uri: str


class RecoveryCodes(Model):
    recovery_codes: list[str]


class Profile(Model):
    """Who is signed in."""

    name: str
    email: str
    role: Role
    second_factor: Literal["off", "on", "demanded"]


class Access(Model):
    """A company, and what the person may do there."""

    company: CompanyShown
    modules: list[str]
    abilities: list[Ability]


class SessionShown(Model):
    id: Id
    made_at: Timestamp
    seen_at: Timestamp
    address: str
    agent: str
    is_this: bool


class Sessions(Model):
    data: list[SessionShown]


class Message(Model):
    message: str


class CurrentToken(Model):
    name: str
    abilities: list[Ability]
    expires_at: Timestamp


class CurrentUser(Model):
    """The token and its user."""

    id: Id
    name: str
    email: str
    role: Role
    token: CurrentToken


class NewUser(Input):
    email: Email
    name: Name
    role: Role
    company_codes: list[str] = []
    abilities: list[str] = []
