"""Operators and companies: their fields (decisions, section 2)."""

from typing import Annotated

from pydantic import Field

from wmsd.base.fields import Code, Id, Input, Model, Name


class CompanyShown(Model):
    """A company as `GET /api/companies` shows it."""

    id: Id
    name: Name
    code: Code


class CompanyList(Model):
    """The companies that a token may use."""

    data: list[CompanyShown]


class NewOperator(Input):
    code: Code
    name: Name
    sandbox: bool = False
    sandbox_webhooks: bool = False


class OperatorChanges(Input):
    """The changeable fields of an operator; None leaves a field as it is."""

    name: Name | None = None
    sandbox: bool | None = None
    sandbox_webhooks: bool | None = None


RequestsPerMinute = Annotated[int, Field(ge=0, le=1_000_000_000)]


class NewCompany(Input):
    code: Code
    name: Name
    operator_code: Code | None = None
    sandbox: bool = False
    modules: list[str] = []


class CompanyChanges(Input):
    """The changeable fields of a company; None leaves a field as it is."""

    name: Name | None = None
    sandbox: bool | None = None
    requests_per_minute: Annotated[
        RequestsPerMinute | None, Field(description="Its own limit; 0: the limit of the installation.")
    ] = None
    graphql_per_minute: Annotated[
        RequestsPerMinute | None, Field(description="Its own limit of GraphQL requests; 0 as above.")
    ] = None
    quota_megabytes: Annotated[
        int | None, Field(ge=0, le=1_000_000_000, description="Its own quota; 0: the quota of the installation.")
    ] = None
