"""Users and tokens: what goes in and what comes out."""

from typing import Annotated

from pydantic import Field

from wmsd.accounts.strength import LONGEST
from wmsd.base.access import ABILITIES, EVERYTHING, Role
from wmsd.base.fields import Email, Id, Input, Model, Name, Sealed, Timestamp, choice
from wmsd.companies.schema import CompanyShown

Password = Annotated[str, Field(min_length=1, max_length=LONGEST), Sealed]
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
    """The secret of a session, for the browser's cookie."""

    secret: str


class Profile(Model):
    """Who is signed in."""

    name: str
    email: str
    role: Role


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
