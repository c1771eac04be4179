"""The fields of operators and companies (decisions, section 2)."""

from typing import Annotated, Any

from pydantic import Field

from wmsd.contract.access import MODULES
from wmsd.contract.fields import (
    Code,
    EmptyIsNull,
    Id,
    Input,
    Model,
    Name,
    Recorded,
    Timestamp,
    TimeZone,
    choice_of,
)
from wmsd.contract.list_queries import Query, QueryTimestamp

Sandbox = Annotated[
    bool,
    Field(
        description=(
            "For tests only: the limits are lower. Webhooks are sent only if the "
            "company's operator allows sandbox webhooks, and each webhook delivery is "
            "marked as a test."
        )
    ),
]
SandboxWebhooks = Annotated[bool, Field(description="The operator's sandbox companies may send webhooks.")]
Module = Annotated[str, choice_of("Module", MODULES)]


class CompanyShown(Model):
    """A company as `GET /api/companies` returns it."""

    id: Id
    name: Name
    code: Code


class Message(Model):
    """A sentence that says what was done."""

    message: str


class CompanyList(Model):
    """The companies that a token may use."""

    data: list[CompanyShown]


class OperatorShown(Recorded):
    """A third-party-logistics operator, which runs the warehouses of companies."""

    code: Code
    name: Name
    sandbox: Sandbox
    sandbox_webhooks: SandboxWebhooks


class NewOperator(Input):
    code: Code
    name: Name
    sandbox: Sandbox = False
    sandbox_webhooks: SandboxWebhooks = False


class OperatorChanges(Input):
    """The changeable fields of an operator. None leaves a field unchanged."""

    name: Name | None = None
    sandbox: Sandbox | None = None
    sandbox_webhooks: SandboxWebhooks | None = None


OperatorCode = Annotated[
    Code | None,
    EmptyIsNull,
    Field(
        description=(
            "The code of the operator: the logistics company (3PL) that runs the company's warehouse. If empty, "
            "the company has no operator."
        )
    ),
]
Modules = Annotated[
    list[Module],
    Field(description="The modules that the company may use. Without `api`, programs have no access."),
]
OwnLimit = Annotated[int, Field(ge=1, le=1_000_000_000)] | None
Search = Annotated[str, Field(max_length=64)]


RequestsPerMinute = Annotated[int, Field(ge=0, le=1_000_000_000)]


class NewCompany(Input):
    code: Code
    name: Name
    operator_code: OperatorCode = None
    sandbox: Sandbox = False
    modules: Modules = []


class InstallationName(Input):
    name: Annotated[Name, Field(description="The name of this installation, shown on every page.")]


class CompanyToMake(NewCompany):
    """A new company. If no modules are named, all modules are on."""

    modules: Modules = [*MODULES]


CompanyTimeZone = Annotated[
    TimeZone | None,
    EmptyIsNull,
    Field(
        description=(
            "The time zone for pages, printed documents and due dates. Example: Europe/Bucharest. If empty, "
            "the time zone of the installation applies."
        )
    ),
]


class CompanySettings(Input):
    """The settings of a company that can be changed. If a limit is null, the limit of the installation applies."""

    name: Name
    operator_code: OperatorCode = None
    sandbox: Sandbox = False
    modules: Modules = []
    requests_per_minute: Annotated[
        OwnLimit,
        Field(
            description=(
                "How many API requests the company may send per minute, not counting GraphQL. If empty, the "
                "limit of the installation applies."
            )
        ),
    ] = None
    graphql_per_minute: Annotated[
        OwnLimit,
        Field(
            description=(
                "How many GraphQL requests the company may send per minute. If empty, the limit of the "
                "installation applies."
            )
        ),
    ] = None
    quota_megabytes: Annotated[
        OwnLimit,
        Field(
            description=(
                "The maximum size of the company's data, in MB. If empty, the quota of the installation applies."
            )
        ),
    ] = None
    time_zone: CompanyTimeZone = None


class CompanySettingsPatch(CompanySettings, partial=True):
    pass


class CompanyCode(Input):
    code: Annotated[Code, Field(description="The new code of the company.")]


class CompanyRecord(Recorded):
    """A company in the view of admins."""

    code: Code
    name: Name
    operator_code: Code | None
    sandbox: Sandbox
    modules: list[Module]
    requests_per_minute: int | None
    graphql_per_minute: int | None
    quota_megabytes: int | None
    time_zone: str | None


class CompanyTimeZoneChoice(Input):
    """The time zone of a company; null: the time zone of the installation."""

    time_zone: CompanyTimeZone = None


class CompanyFilters(Query):
    code: str | None = None
    operator_code: str | None = None
    search: Search | None = None


class OperatorFilters(Query):
    code: str | None = None


class Change(Model):
    """The value of a changed field before and after the change."""

    before: Any
    after: Any


class AuditEntry(Model):
    """A change of the installation: who made it, from which address, and the values before and after."""

    id: Id
    at: Timestamp
    actor: str
    action: str
    subject: str
    address: str | None
    details: dict[str, Change] | None
    record: str | None
    """The company's record that was changed, such as 1/article/17: the company's id, the kind of record and the
    record's id.
    """


class AuditFilters(Query):
    actor: str | None = None
    action: Annotated[str | None, Field(max_length=64)] = None
    subject: str | None = None
    record: Annotated[str | None, Field(max_length=64)] = None
    since: QueryTimestamp | None = None


class CompanyChanges(Input):
    """The changeable fields of a company. None leaves a field unchanged."""

    name: Name | None = None
    sandbox: bool | None = None
    requests_per_minute: Annotated[
        RequestsPerMinute | None,
        Field(description="The company's limit of data requests per minute; 0: the limit of the installation."),
    ] = None
    graphql_per_minute: Annotated[
        RequestsPerMinute | None,
        Field(description="The company's limit of GraphQL requests per minute; 0: the limit of the installation."),
    ] = None
    quota_megabytes: Annotated[
        int | None,
        Field(ge=0, le=1_000_000_000, description="The company's quota in MB; 0: the quota of the installation."),
    ] = None
    time_zone: Annotated[
        str | None, Field(description="The company's time zone. Empty: the time zone of the installation.")
    ] = None
