"""The rules in force for a company: its limits and its policies, each with its source."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from wmsd.base.problems import not_found
from wmsd.contract.context import Caller, Company
from wmsd.contract.fields import Id, Model
from wmsd.dispatch.limits import company_limits
from wmsd.platform import company_policies
from wmsd.platform.admin_view.service import OversightService
from wmsd.platform.admin_view.settings import origin_of
from wmsd.platform.company_policies import POLICIES
from wmsd.tenants.companies.record_lists import for_company_admins

Origin = Literal["built in", "configuration", "operator", "this company"]


class CompanyRule(Model):
    """A rule in force for a company. `setting` names the setting that applies to companies without their own
    value.
    """

    name: str
    value: bool | int | float | None
    """None if the company has no limit of this kind."""
    origin: Origin
    setting: str | None = None


class CompanyRules(Model):
    data: list[CompanyRule]
    operator_id: Id | None


@for_company_admins(answer="object", returns=CompanyRules, codes=("SERVICE_UNAVAILABLE",))
async def list_company_rules(service: OversightService, caller: Caller, id: int) -> dict[str, Any]:
    """List a company's limits and policies.

    The answer has the rules in force, each with its source.
    """
    installation = service.installation
    company = await installation.access.company(id)
    if company is None or not caller.may_use(id):
        raise not_found("company")
    own = await (await installation.files.get(id)).read(company_policies.own)
    rules = [*_rules(service, company), *_policies(own)]
    operator = company.operator
    return {"data": [each.model_dump() for each in rules], "operator_id": operator and operator.id}


def _rules(service: OversightService, company: Company) -> Iterator[CompanyRule]:
    """Yield the rules from `platform.db` and from the settings. Leave out the rules that the company's file
    contains.
    """
    settings, operator = service.installation.settings, company.operator
    limits = {
        "requests_per_minute": company_limits.requests_per_minute(company, settings.limits),
        "graphql_per_minute": company_limits.graphql_per_minute(company, settings.limits),
        "quota_megabytes": company_limits.quota_megabytes(company, settings.storage.quota_megabytes),
    }
    for name, limit in limits.items():
        origin: Origin = "this company" if limit.is_own else _origin(service, limit.setting)
        value = limit.value if limit.is_own else limit.value or None
        yield CompanyRule(name=name, value=value, origin=origin, setting=limit.setting)
    for name, value, setting in (
        ("upload_megabytes", settings.imports.megabytes, "imports.megabytes"),
        ("returns_need_write", settings.returns.require_write_ability, "returns.require_write_ability"),
    ):
        yield CompanyRule(name=name, value=value, origin=_origin(service, setting), setting=setting)
    # a company of a sandbox operator is a sandbox, whatever its own value is
    is_operators = operator is not None and operator.sandbox
    origin = "operator" if is_operators else "this company" if company.sandbox else "built in"
    yield CompanyRule(name="sandbox", value=company.sandbox, origin=origin)
    if company.sandbox:
        may_send = operator is not None and operator.sandbox_webhooks
        origin = "built in" if operator is None else "operator"
        yield CompanyRule(name="sandbox_webhooks", value=may_send, origin=origin)


def _origin(service: OversightService, setting: str) -> Origin:
    section, _, key = setting.partition(".")
    is_built_in = origin_of(service.started.layers, section, key).source == "default"
    return "built in" if is_built_in else "configuration"


def _policies(own: Mapping[str, int | None]) -> Iterator[CompanyRule]:
    for name, value in own.items():
        shown = company_policies.as_number(POLICIES[name].in_force(value))
        yield CompanyRule(name=name, value=shown, origin="built in" if value is None else "this company")
