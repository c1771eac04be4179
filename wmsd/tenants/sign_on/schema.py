"""The fields of single sign-on in requests and responses."""

from typing import Annotated

from pydantic import Field

from wmsd.contract.access import Role
from wmsd.contract.fields import Code, Input, Model

Kept = Annotated[str, Field(max_length=4096)]
LONGEST_SAMPLE = 16 * 1024
"""The maximum number of characters of sample claims. In the body of a form, the encoded text can be three times as
long.
"""


class ProviderShown(Model):
    """A provider that people may sign in through."""

    name: str
    title: str


class Providers(Model):
    data: list[ProviderShown]


class Beginning(Input):
    """The start of a sign-on. `next_path` is the path of the page that the user wants to open after signing in."""

    next_path: Annotated[str, Field(max_length=500)] = ""
    stays: bool = False
    """Whether the browser should keep the session after it is closed."""


class BegunSignOn(Model):
    """The URL for the browser, and the text that the browser stores until it comes back."""

    go_to: str
    kept: str


class ComingBack(Input):
    """The text that the browser stored, and the parameters with which the provider sent the browser back. See RFC
    6749, section 4.1.2, and RFC 9207.
    """

    kept: Kept
    state: Annotated[str, Field(max_length=500)] = ""
    code: Annotated[str, Field(max_length=4096)] = ""
    iss: Annotated[str | None, Field(max_length=1000)] = None
    error: Annotated[str | None, Field(max_length=200)] = None


class SignedOn(Model):
    """The secret of the session, for the browser's cookie, and the next page."""

    secret: str
    next_path: str
    stays: bool


class Sample(Input):
    """Sample claims for a trial of the rules, as JSON or in an ID token."""

    provider: Annotated[str, Field(max_length=32)]
    claims: Annotated[str, Field(min_length=1, max_length=LONGEST_SAMPLE)]


class RuleTried(Model):
    claim: str
    value: str
    role: Role
    companies: list[str]
    abilities: list[str]
    says: str
    """The effect of the rule."""


class Tried(Model):
    """The result of a trial. If `refusal` is null, the person may sign in. `is_new` says whether wmsd would create
    a new user.
    """

    subject: str
    email: str | None
    name: str
    why: str
    refusal: str | None
    is_new: bool
    role: Role | None
    companies: list[Code] | None
    """The codes of the companies that the person may use. Null means every company, or no rights if `role` is null
    too.
    """
    abilities: list[str]
    changes: bool
    """Whether a sign-in would change the role, companies or abilities of the user."""
    missing_companies: list[str]
    """The codes in the rules that no company of this installation has."""
    rules: list[RuleTried]
