"""Operators and companies: their fields (decisions, section 2)."""

from pydantic import BaseModel

from wmsd.base.fields import Code, Id, Input, Name


class CompanyShown(BaseModel):
    """A company as `GET /api/companies` shows it."""

    id: Id
    name: Name
    code: Code


class CompanyList(BaseModel):
    """The companies that a token may use."""

    data: list[CompanyShown]


class NewOperator(Input):
    code: Code
    name: Name
    sandbox: bool = False


class NewCompany(Input):
    code: Code
    name: Name
    operator_code: Code | None = None
    sandbox: bool = False
    modules: list[str] = []
