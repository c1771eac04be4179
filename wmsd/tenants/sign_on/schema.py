"""Single sign-on: what goes in and what comes out."""

from typing import Annotated

from pydantic import Field

from wmsd.contract.access import Role
from wmsd.contract.fields import Code, Input, Model

Kept = Annotated[str, Field(max_length=4096)]
LONGEST_SAMPLE = 16 * 1024
"""As a form it becomes up to three times as long."""


class ProviderShown(Model):
    """A provider that people may sign in through."""

    name: str
    title: str


class Providers(Model):
    data: list[ProviderShown]


class Beginning(Input):
    """`next_path`: where the person wants to go, an address of this service."""

    next_path: Annotated[str, Field(max_length=500)] = ""
    stays: bool = False
    """Whether the browser is to keep the session when somebody closes it."""


class BegunSignOn(Model):
    """Where the browser goes, and what it keeps meanwhile."""

    go_to: str
    kept: str


class ComingBack(Input):
    """What the browser kept, and what the provider sent it back with (RFC 6749, section 4.1.2; RFC 9207)."""

    kept: Kept
    state: Annotated[str, Field(max_length=500)] = ""
    code: Annotated[str, Field(max_length=4096)] = ""
    iss: Annotated[str | None, Field(max_length=1000)] = None
    error: Annotated[str | None, Field(max_length=200)] = None


class SignedOn(Model):
    """The secret of the session, for the browser's cookie, and where to go on."""

    secret: str
    next_path: str
    stays: bool


class Sample(Input):
    """Claims to try, as JSON or in an ID token."""

    provider: Annotated[str, Field(max_length=32)]
    claims: Annotated[str, Field(min_length=1, max_length=LONGEST_SAMPLE)]


class RuleTried(Model):
    claim: str
    value: str
    role: Role
    companies: list[str]
    abilities: list[str]
    says: str
    """What it did."""


class Tried(Model):
    """Who would come in. Where `refusal` is null somebody would: the user, or a new one."""

    subject: str
    email: str | None
    name: str
    why: str
    refusal: str | None
    is_new: bool
    role: Role | None
    companies: list[Code] | None
    """Null: every company."""
    abilities: list[str]
    changes: bool
    """Whether the role, companies or abilities of the user would be changed."""
    missing_companies: list[str]
    """Codes in the rules that are no company here."""
    rules: list[RuleTried]
