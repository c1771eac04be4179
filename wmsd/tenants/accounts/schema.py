"""The fields of users and tokens in requests and responses."""

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
TokenAbilities = Annotated[AbilityNames, Field(description="What the token may do: at most what its user may do.")]


class SignIn(Input):
    email: Annotated[str, Field(max_length=254)]
    password: Password
    abilities: TokenAbilities
    device_name: Name = "API"


class IssuedToken(Model):
    """A new token. The token is shown only once."""

    token: str
    abilities: list[Ability]


class SignInToPages(Input):
    email: Annotated[str, Field(min_length=1, max_length=254)]
    password: Password


class BegunSession(Model):
    """The secret of a new session, for the browser's cookie. Only `pending` is set if a second step is needed."""

    secret: str | None
    pending: str | None


OneTimeCode = Annotated[str, Field(min_length=1, max_length=40)]


class SecondStep(Input):
    pending: Annotated[str, Field(max_length=200)]
    code: Annotated[OneTimeCode, Field(description="A code of the authenticator app, or a recovery code.")]


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
"""The languages of the pages. Each name is in its own language."""


class LanguageChoice(Input):
    """The language of the pages; null: the language that the browser requests."""

    language: Literal["en", "ro"] | None


class TimeZoneChoice(Input):
    """The time zone of the pages; null: the time zone of the company, or else of the installation."""

    time_zone: Annotated[TimeZone | None, EmptyIsNull]


class Profile(Model):
    """The signed-in user, the session and the installation."""

    name: str
    email: str
    role: Role
    abilities: list[Ability]
    """The abilities of this session. A token of the user has at most these abilities."""
    installation: str
    """The display name of this installation."""
    has_password: bool
    """False if the user can sign in only through single sign-on."""
    second_factor: Literal["off", "on", "demanded"]
    language: str | None
    """The language that the user has chosen; null: the language that the browser requests."""
    time_zone: str | None
    """The time zone that the user has chosen; null: the time zone of the company, or else of the installation."""
    new_rights: Literal["sign-in", "link"] | None
    """What the user must do to get rights that this session does not have yet. "sign-in": sign in again. "link":
    use single sign-on, or choose a password at a new link. null: this session already has all rights of the user.
    """


class Access(Model):
    """A company, and the user's rights in it."""

    company: CompanyShown
    sandbox: bool
    frozen_at: Timestamp | None
    """The time since which the company takes no changes, because it is being moved."""
    time_zone: str | None
    """The company's time zone; null: the time zone of the installation."""
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
    list[str],
    Field(
        max_length=10_000,
        description="The codes of the companies that the user may use. A platform admin may use all: leave empty.",
    ),
]
Abilities = Annotated[
    list[Ability],
    Field(
        max_length=50,
        description="Only members need abilities. If you select none, the member may read everything.",
    ),
]


class UserSettings(Input):
    """The settings of a user that can be changed."""

    name: Name
    role: RoleChoice
    company_codes: CompanyCodes = []
    abilities: Abilities = []


class UserSettingsPatch(UserSettings, partial=True):
    pass


class UserEmail(Input):
    email: Mailbox


class NewUser(UserSettings, UserEmail):
    """A new user."""

    role: RoleChoice = "member"


class LetIn(Message):
    """The result of enabling a user. `needs_link`: the user has no password yet, and no link to choose one."""

    needs_link: bool


class UserRecord(Recorded):
    """A user, with the fields that admins see."""

    email: str
    name: str
    role: Role
    company_codes: list[str]
    abilities: list[Ability]
    active: bool
    invited_until: Timestamp | None
    """The expiry of the user's link to choose a password."""
    waiting_since: Timestamp | None
    """The time since which new rights wait for single sign-on or a new password; null: no rights wait."""
    waiting_role: Role | None
    waiting_company_codes: list[str]
    waiting_abilities: list[Ability]
    last_seen_at: Timestamp | None
    """The last time when the user used the pages."""


class UserFilters(Query):
    search: Annotated[str, Field(max_length=64)] | None = None
    role: Role | None = None
    active: QueryFlag | None = None


class Invitation(Model):
    """The code of a link at which a user chooses a password. The code is shown only once."""

    id: Id
    """The id of the user."""
    email: str
    code: str
    expires_at: Timestamp


LinkCode = Annotated[str, Field(min_length=1, max_length=200)]


class LinkQuery(Query):
    code: LinkCode


class UsedLink(Input):
    code: LinkCode


class DemoEntry(UsedLink):
    email: Annotated[
        str | None,
        Field(
            max_length=254,
            description="The e-mail address of the demo person to "
            "sign in as; null: the person to whom the "
            "link belongs.",
        ),
    ] = None


class DemoPersonShown(Model):
    """A person of the demo. `work` is the name of a set of abilities, or null for the admin."""

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
    """The user of a one-time link."""

    name: str
    email: str


class SetupNeeded(Model):
    wanted: bool


class ChosenPassword(UsedLink):
    password: Password
    again: Password


class PasswordChange(Input):
    current: Password
    password: Password
    again: Password


class PasswordChanged(Model):
    """How many sessions and tokens ended because the user changed the password."""

    sessions_ended: int
    tokens_ended: int


class AbilityOfUser(Model):
    ability: Ability
    opens: str
    allowed: bool
    because: str


class CompanyOfUser(CompanyShown):
    modules_off: list[str]
    """The modules that are off in this company, for every user."""


class UserRights(Model):
    """What a user may do now, and why. `companies` may be cut; `companies_in_all` counts all companies."""

    abilities: list[AbilityOfUser]
    companies: list[CompanyOfUser]
    companies_in_all: int


class TokenRecord(Model):
    """An API token in a list. Its text is shown only once, when it is created."""

    id: Id
    name: str
    user: str
    abilities: list[Ability]
    company_codes: list[str] | None
    """The codes of the companies that the token may use; null: all companies that its user may use."""
    active: bool
    created_at: Timestamp
    expires_at: Timestamp
    expires_in_days: int | None
    """The rounded number of days until the token expires, if it expires soon. -1: the token has expired. null: the
    token does not expire soon, is revoked or replaced, or its user is disabled.
    """
    last_used_at: Timestamp | None
    last_used_from: str | None
    signed_in: bool
    """Whether the token was created by signing in with a password."""


class TokenFilters(Query):
    user: Annotated[str, Field(max_length=254)] | None = None
    active: QueryFlag | None = None
    expires_within: QueryDays | None = None
    """Lists the tokens that expire within this number of days. Leaves out revoked tokens, and tokens whose
    programs have signed in again.
    """


class TokenToMake(Input):
    name: Annotated[Name, Field(description="What the token is for.")]
    abilities: TokenAbilities
    company_codes: Annotated[
        list[str],
        Field(
            max_length=1000,
            description="The codes of the companies that the token may use. If empty, all companies of its user.",
        ),
    ] = []
    days: Annotated[
        int | None,
        Field(ge=1, description="Days until the token expires. If empty, tokens.lifetime_days applies."),
    ] = None
    user: Annotated[
        Annotated[str, Field(max_length=254)] | None,
        EmptyIsNull,
        Field(description="The e-mail address of the user for whom the token acts. If empty, the token is yours."),
    ] = None


class MadeToken(Model):
    """A new token. The token is shown only once."""

    id: Id
    token: str
    abilities: list[Ability]
    company_id: Id | None
    """The id of one of the companies that the token may use; null: there is no such company."""
    expires_at: Timestamp
