"""Users and tokens: what goes in and what comes out."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field

from wmsd.contract.access import ABILITIES, EVERYTHING, ROLES, Role
from wmsd.contract.fields import (
    EmptyIsNull,
    Id,
    Input,
    Mailbox,
    Model,
    Name,
    Recorded,
    Sealed,
    Timestamp,
    TimeZone,
    choice_of,
)
from wmsd.contract.list_queries import Query, QueryDays, QueryFlag
from wmsd.tenants.accounts.password_strength import LONGEST
from wmsd.tenants.companies.schema import CompanyShown, Message

Password = Annotated[str, Field(min_length=1, max_length=LONGEST), Sealed]
Ability = Annotated[str, choice_of("Ability", [EVERYTHING, *ABILITIES])]
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


class RecoveryCodesLeft(Model):
    left: int
    of: int


LANGUAGES: Final[Mapping[str, str]] = {"en": "English", "ro": "Română"}
"""The languages of the pages, each by its own name."""


class LanguageChoice(Input):
    """null: what the browser asks for."""

    language: Literal["en", "ro"] | None


class TimeZoneChoice(Input):
    """null: that of the company, or else of the installation."""

    time_zone: Annotated[TimeZone | None, EmptyIsNull]


class Profile(Model):
    """Who is signed in, and where."""

    name: str
    email: str
    role: Role
    abilities: list[Ability]
    """Those of this session: a token of its person may have no others."""
    installation: str
    """What people call this installation."""
    has_password: bool
    """Or else the person comes in by single sign-on only."""
    second_factor: Literal["off", "on", "demanded"]
    language: str | None
    """What the person has chosen; null: what the browser asks for."""
    time_zone: str | None
    """What the person has chosen; null: that of the company, or else of the installation."""
    new_rights: Literal["sign-in", "link"] | None
    """What opens rights that this session does not have yet: signing in again, or else single sign-on or a link to
    a new password.
    """


class Access(Model):
    """A company, and what the person may do there."""

    company: CompanyShown
    sandbox: bool
    frozen_at: Timestamp | None
    """Since when it takes no changes, because it is being moved."""
    time_zone: str | None
    """Its own; null: that of the installation."""
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


RoleChoice = Annotated[Role, Field(description="; ".join(f"{name}: {what}" for name, what in ROLES.items()))]
CompanyCodes = Annotated[
    list[str], Field(max_length=10_000, description="The codes of its companies. A platform admin has all.")
]
Abilities = Annotated[
    list[Ability],
    Field(max_length=50, description="Members only. Leave empty for read-only access."),
]


class UserSettings(Input):
    """What can be changed of a user."""

    name: Name
    role: RoleChoice
    company_codes: CompanyCodes = []
    abilities: Abilities = []


class UserSettingsPatch(UserSettings, partial=True):
    pass


class UserEmail(Input):
    email: Mailbox


class NewUser(UserSettings, UserEmail):
    """The e-mail address comes first."""

    role: RoleChoice = "member"


class LetIn(Message):
    """`needs_link`: whether the user has to choose a password first, and has no link to do so."""

    needs_link: bool


class UserRecord(Recorded):
    """A user as admins see it."""

    email: str
    name: str
    role: Role
    company_codes: list[str]
    abilities: list[Ability]
    active: bool
    invited_until: Timestamp | None
    """Until when a link to a password of its own can be used."""
    waiting_since: Timestamp | None
    """Since when new rights wait, until the user signs in by single sign-on or chooses a password at a new link.
    The password opens the rest only. null: no right waits.
    """
    waiting_role: Role | None
    """The role that waits."""
    waiting_company_codes: list[str]
    """The companies that wait."""
    waiting_abilities: list[Ability]
    """The abilities that wait."""
    last_seen_at: Timestamp | None
    """When it was last at the pages."""


class UserFilters(Query):
    search: Annotated[str, Field(max_length=64)] | None = None
    role: Role | None = None
    active: QueryFlag | None = None


class Invitation(Model):
    """The code of a link to a password of one's own. It is shown only this once."""

    id: Id
    """Of the user."""
    email: str
    code: str
    expires_at: Timestamp


LinkCode = Annotated[str, Field(min_length=1, max_length=200)]


class LinkQuery(Query):
    code: LinkCode


class UsedLink(Input):
    code: LinkCode


class DemoEntry(UsedLink):
    email: Annotated[str | None, Field(max_length=254, description="Whose; null: of the person of the link.")] = (
        None
    )


class DemoPersonShown(Model):
    """A person of the demo. `work`: the name of a set of abilities; null for the admin."""

    email: str
    name: str
    work: str | None


class DemoPeople(Model):
    data: list[DemoPersonShown]


class FirstAdmin(UsedLink):
    name: Name
    email: Mailbox
    password: Password
    again: Password


class Invited(Model):
    """Whom a link is for."""

    name: str
    email: str


class Wanted(Model):
    wanted: bool


class ChosenPassword(UsedLink):
    password: Password
    again: Password


class PasswordChange(Input):
    current: Password
    password: Password
    again: Password


class PasswordChanged(Model):
    """How many others ended with the password of before."""

    sessions_ended: int
    tokens_ended: int


class AbilityOfUser(Model):
    ability: Ability
    opens: str
    allowed: bool
    because: str


class CompanyOfUser(CompanyShown):
    modules_off: list[str]
    """What its modules keep everybody from."""


class UserRights(Model):
    """What a user may do now, and why."""

    abilities: list[AbilityOfUser]
    companies: list[CompanyOfUser]
    companies_in_all: int


class TokenRecord(Model):
    """An API token as people see it. Its text is shown only once, when it is made."""

    id: Id
    name: str
    user: str
    abilities: list[Ability]
    company_codes: list[str] | None
    """null: all that its user may use."""
    active: bool
    created_at: Timestamp
    expires_at: Timestamp
    expires_in_days: int | None
    """The days that are left, rounded, where these are few; -1: it has ended. Else null."""
    last_used_at: Timestamp | None
    last_used_from: str | None
    signed_in: bool
    """Whether it was made by signing in with a password."""


class TokenFilters(Query):
    user: Annotated[str, Field(max_length=254)] | None = None
    active: QueryFlag | None = None
    expires_within: QueryDays | None = None
    """Days. Without those that are revoked, or whose programs have signed in again."""


class TokenToMake(Input):
    name: Annotated[Name, Field(description="What it is for.")]
    abilities: Annotated[AbilityNames, Field(description="What it may do: no more than its user.")]
    company_codes: Annotated[
        list[str], Field(max_length=1000, description="The codes of its companies; empty: all of its user.")
    ] = []
    days: Annotated[int | None, Field(ge=1, description="How long it lasts; empty: as the settings say.")] = None
    user: Annotated[
        Annotated[str, Field(max_length=254)] | None,
        EmptyIsNull,
        Field(description="The e-mail address of its user; empty: you."),
    ] = None


class MadeToken(Model):
    """A new token. It is shown only this once."""

    id: Id
    token: str
    abilities: list[Ability]
    company_id: Id | None
    """A company that it may use."""
    expires_at: Timestamp
